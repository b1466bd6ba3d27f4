// The words that were looked for, marked where they were found: by ranges, so that nothing of the
// message's own elements is touched. A browser without such marks shows the message all the same.

const NAME = "found";
const MOST = 200;

let words: readonly string[] = [];

/** What the next message that is opened was found by. */
export function lookedFor(text: string): void {
  words = wordsOf(text);
}

/** The words of a search, without its quotes. */
export function wordsOf(text: string): readonly string[] {
  return text
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

/** Where words that begin with one of `wanted` stand in `text`, in UTF-16 units. */
export function places(text: string, wanted: readonly string[]): readonly (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  for (const match of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const word = match[0].toLowerCase();
    const fits = wanted.filter((one) => word.startsWith(one)).sort((one, other) => other.length - one.length)[0];
    if (fits !== undefined) found.push([match.index, match.index + fits.length]);
  }
  return found;
}

export function markFound(row: HTMLElement): void {
  if (!("highlights" in CSS) || words.length === 0) return;
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < MOST; node = walker.nextNode()) {
    for (const [from, to] of places(node.nodeValue ?? "", words)) {
      const range = new Range();
      range.setStart(node, from);
      range.setEnd(node, to);
      ranges.push(range);
    }
  }
  CSS.highlights.set(NAME, new Highlight(...ranges));
}

export function unmarkFound(): void {
  if ("highlights" in CSS) CSS.highlights.delete(NAME);
}
