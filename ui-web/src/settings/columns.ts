// The server counts a line's characters, the editor UTF-16 units.

/** Where character `column` (from 1) of `line` begins, in UTF-16 units from 0. */
export function offsetOf(line: string, column: number): number {
  let units = 0;
  for (const character of line) {
    if (--column <= 0) break;
    units += character.length;
  }
  return Math.min(units, line.length);
}

/** The end of the word that begins at `from`; of the line, where there is none. */
export function wordEnd(line: string, from: number): number {
  const word = /^(?:"[^"]*"|'[^']*'|[^\s:,[\]{}#]+)/.exec(line.slice(from));
  if (word !== null) return from + word[0].length;
  return Math.max(from, line.trimEnd().length);
}
