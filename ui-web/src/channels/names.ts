// An agent that signs its answer: the name in front is hidden when shown, never in what is stored.

/**
 * `text` without one of `names` and a colon at its beginning. While a text that grows may still
 * become that, nothing is shown, so that the name doesn't flash up and vanish.
 */
export function withoutName(text: string, names: readonly string[], done: boolean): string {
  for (const name of names) {
    const sign = `${name}:`;
    if (text.startsWith(sign)) return text.slice(sign.length).trimStart();
    if (!done && text !== "" && sign.startsWith(text)) return "";
  }
  return text;
}
