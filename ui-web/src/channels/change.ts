// What changed between two texts, as rows to be drawn. Pure, and bounded in what it hands out: a
// diff of two hundred thousand lines is compared whole, and shown by pages.
import { structuredPatch } from "diff";

/** More of one line than this says nothing to the eye. */
const LONGEST_LINE = 2_000;

export interface Row {
  /** `@` stands where lines were left out. */
  readonly sign: "+" | "-" | " " | "@";
  readonly text: string;
  readonly old: number;
  readonly now: number;
  /** Characters of the line that are not in `text`. */
  readonly cut: number;
}

export interface Change {
  readonly rows: readonly Row[];
  /** How many rows there are in all. */
  readonly count: number;
  readonly added: number;
  readonly removed: number;
}

/** `null` where the texts are too different to be compared in `timeout` ms. */
export function changeOf(before: string, after: string, timeout: number): Change | null {
  if (before === "") return made(after, "+");
  if (after === "") return made(before, "-");
  const patch = structuredPatch("", "", before, after, "", "", { context: 3, timeout });
  if (patch === undefined) return null;
  const rows: Row[] = [];
  let added = 0;
  let removed = 0;
  for (const { lines, oldStart, newStart } of patch.hunks) {
    let old = oldStart;
    let now = newStart;
    if (rows.length > 0) rows.push({ sign: "@", text: "", old, now, cut: 0 });
    for (const line of lines) {
      const sign = line[0];
      if (sign !== "+" && sign !== "-" && sign !== " ") continue; // "\ No newline at end of file"
      rows.push(rowOf(sign, line.slice(1), old, now));
      if (sign === "+") added++;
      else old++;
      if (sign === "-") removed++;
      else now++;
    }
  }
  return { rows, count: rows.length, added, removed };
}

function rowOf(sign: Row["sign"], line: string, old: number, now: number): Row {
  const text = line.slice(0, LONGEST_LINE);
  return { sign, text, old, now, cut: line.length - text.length };
}

/** A text that came or went whole: there is nothing to compare, however long it is. */
function made(text: string, sign: "+" | "-"): Change {
  if (text === "") return { rows: [], count: 0, added: 0, removed: 0 };
  const lines = text.replace(/\n$/, "").split("\n");
  const rows = lines.map((line, at) => rowOf(sign, line, at + 1, at + 1));
  const { length: count } = rows;
  return { rows, count, added: sign === "+" ? count : 0, removed: sign === "-" ? count : 0 };
}

export function firstRows(change: Change, limit: number): Change {
  return { ...change, rows: change.rows.slice(0, limit) };
}

/** Old and new side by side: what was removed stands beside what came in its place. */
export type Pair = readonly [Row | null, Row | null];

export function pairs(rows: readonly Row[]): readonly Pair[] {
  const made: Pair[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as Row;
    if (row.sign === " " || row.sign === "@") {
      made.push([row, row]);
      at++;
      continue;
    }
    const gone: Row[] = [];
    const came: Row[] = [];
    for (; at < rows.length; at++) {
      const next = rows[at] as Row;
      if (next.sign === "-" && came.length === 0) gone.push(next);
      else if (next.sign === "+") came.push(next);
      else break;
    }
    for (let k = 0; k < Math.max(gone.length, came.length); k++) {
      made.push([gone[k] ?? null, came[k] ?? null]);
    }
  }
  return made;
}
