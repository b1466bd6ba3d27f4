// Mentions in a person's message, made visible. Whom they reach was decided by the router; this
// only marks what reads as one, and nothing depends on it.

/** Put each mention of one of `names` in a box of its own, but for those in code and in links. */
export function markMentions(fragment: ParentNode & Node, names: readonly string[]): void {
  if (names.length === 0) return;
  const mention = mentionOf(names);
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode() !== null) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    if (text.parentElement?.closest("code, pre, a") != null) continue;
    const pieces = cut(text.data, mention);
    if (pieces.length > 1) text.replaceWith(...pieces);
  }
}

function mentionOf(names: readonly string[]): RegExp {
  const sorted = [...names].sort((one, other) => other.length - one.length);
  const any = sorted.map((name) => name.replaceAll(".", "\\.")).join("|");
  const before = "(?<![\\p{Script=Latin}\\p{N}.%+\\-/\\\\@])";
  const after = "(?![\\p{Script=Latin}\\p{N}]|[_.\\-][\\p{L}\\p{N}])";
  return new RegExp(`${before}[@＠](?:${any})${after}`, "giu");
}

function cut(text: string, mention: RegExp): (string | HTMLElement)[] {
  const pieces: (string | HTMLElement)[] = [];
  let from = 0;
  for (const found of text.matchAll(mention)) {
    pieces.push(text.slice(from, found.index));
    const pill = document.createElement("span");
    pill.className = "mention";
    pill.textContent = found[0];
    pieces.push(pill);
    from = found.index + found[0].length;
  }
  if (from > 0) pieces.push(text.slice(from));
  return pieces;
}
