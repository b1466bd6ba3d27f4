// Where in a YAML text the cursor stands, told by indentation alone, so that it can be told while
// the text is half written. Pure.

/** A step from the root: a key of a mapping, or any item of a list. */
export type Step = string | typeof ITEM;
export const ITEM = Symbol("item");

export interface Place {
  /** The way to the mapping (or list) in which the cursor stands; for a value, to the value. */
  readonly path: readonly Step[];
  readonly of: "key" | "value";
  /** What is typed of the word so far, and in which column (from 0) it begins. */
  readonly word: string;
  readonly from: number;
  /** The keys that the same mapping has already. */
  readonly others: ReadonlySet<string>;
}

interface Frame {
  readonly column: number;
  readonly step: Step;
}

const KEY = /^("[^"]*"|'[^']*'|[^\s"'#:[\]{},&*!|>%@`-][^:#]*?|-[^\s:#][^:#]*?)\s*:(?=\s|$)/;
const BLOCK = /:\s*[|>][+-]?\d?\s*(#.*)?$/;

/** The place of column `column` (from 0) in line `line` (from 0); `null` inside a comment or text. */
export function placeOf(lines: readonly string[], line: number, column: number): Place | null {
  const stack: Frame[] = [];
  let literal = -1;
  for (const text of lines.slice(0, line)) {
    const indent = indentOf(text);
    if (text.trim() === "" || text.trimStart().startsWith("#")) continue;
    if (literal >= 0 && indent > literal) continue;
    literal = BLOCK.test(text) ? indent : -1;
    walk(stack, text);
  }
  const text = lines[line] ?? "";
  const before = text.slice(0, column);
  if (literal >= 0 && (text.trim() === "" ? column : indentOf(text)) > literal) return null;
  if (/(^|\s)#/.test(before)) return null;
  const at = enterItems(stack, before);
  const rest = before.slice(at);
  const key = KEY.exec(rest);
  popForKey(stack, at);
  const path = stack.map(({ step }) => step);
  if (key === null) {
    return { path, of: "key", word: rest, from: at, others: othersIn(lines, line, at) };
  }
  const value = rest.slice(key[0].length);
  const word = value.trimStart();
  const from = at + rest.length - word.length;
  return { path: [...path, unquoted(key[1] ?? "")], of: "value", word, from, others: new Set() };
}

/** The key that stands under column `column` of a line, with the way to it. */
export function keyAt(
  lines: readonly string[],
  line: number,
  column: number,
): { path: readonly Step[]; from: number; to: number } | null {
  const text = lines[line] ?? "";
  const from = dashesOf(text);
  const key = KEY.exec(text.slice(from));
  if (key?.[1] === undefined || column < from || column > from + key[1].length) return null;
  const place = placeOf(lines, line, from);
  if (place === null) return null;
  return { path: [...place.path, unquoted(key[1])], from, to: from + key[1].length };
}

function walk(stack: Frame[], text: string): void {
  const at = enterItems(stack, text);
  const rest = text.slice(at);
  const key = KEY.exec(rest);
  if (key === null) return;
  popForKey(stack, at);
  stack.push({ column: at, step: unquoted(key[1] ?? "") });
}

/** Enter an item for each dash that a line begins with; the column behind them. */
function enterItems(stack: Frame[], text: string): number {
  let at = indentOf(text);
  for (let rest = text.slice(at); rest === "-" || rest.startsWith("- "); rest = text.slice(at)) {
    popForItem(stack, at);
    stack.push({ column: at, step: ITEM });
    at += 1 + indentOf(rest.slice(1));
  }
  return at;
}

/** A list may stand in the column of the key that it belongs to. */
function popForItem(stack: Frame[], column: number): void {
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    if (top.column < column || (top.column === column && top.step !== ITEM)) return;
    stack.pop();
  }
}

function popForKey(stack: Frame[], column: number): void {
  while ((stack.at(-1)?.column ?? -1) >= column) stack.pop();
}

/** The keys of the mapping whose keys begin in `column`, without that of `line` itself. */
function othersIn(lines: readonly string[], line: number, column: number): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (step: 1 | -1): void => {
    for (let at = line + step; at >= 0 && at < lines.length; at += step) {
      const text = lines[at] ?? "";
      if (text.trim() === "" || text.trimStart().startsWith("#")) continue;
      const begins = dashesOf(text);
      const first = begins !== indentOf(text);
      // Going down, a dash in front means another item; going up, it is where this one began.
      if (begins < column || (first && step === 1 && indentOf(text) < column)) return;
      if (begins === column) {
        const key = KEY.exec(text.slice(begins))?.[1];
        if (key !== undefined) found.add(unquoted(key));
        if (first) return;
      } else if (first && indentOf(text) < column) {
        return;
      }
    }
  };
  const own = lines[line] ?? "";
  if (dashesOf(own) === indentOf(own)) look(-1);
  look(1);
  return found;
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

/** The column in which the line's content begins, behind its dashes. */
function dashesOf(text: string): number {
  return /^\s*(?:-\s+)*/.exec(text)?.[0].length ?? 0;
}

function unquoted(key: string): string {
  return /^(["']).*\1$/.test(key) ? key.slice(1, -1) : key;
}
