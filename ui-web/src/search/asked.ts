// A search as it stands in the form, and as the history is asked. Pure.

export interface Form {
  readonly text: string;
  readonly agent: string;
  readonly channel: string;
  readonly tool: string;
  readonly path: string;
  /** Days as a date field has them: `2026-11-30`, or empty. */
  readonly since: string;
  readonly until: string;
}

export const EMPTY: Form = { text: "", agent: "", channel: "", tool: "", path: "", since: "", until: "" };

export function isEmpty(form: Form): boolean {
  return Object.values(form).every((value: string) => value.trim() === "");
}

/** The arguments of `Search`; days are those of this place on earth, whole. */
export function argsOf(form: Form): Record<string, string | number> {
  const args: Record<string, string | number> = {};
  for (const key of ["text", "agent", "channel", "tool", "path"] as const) {
    const value = form[key].trim();
    if (value !== "") args[key] = value;
  }
  const since = dayStart(form.since);
  const until = dayStart(form.until, 1);
  if (since !== null) args["since"] = since;
  if (until !== null) args["until"] = until - 1;
  return args;
}

function dayStart(day: string, later = 0): number | null {
  const [year, month, date] = day.split("-").map(Number);
  if (year === undefined || month === undefined || date === undefined || Number.isNaN(date)) return null;
  return new Date(year, month - 1, date + later).getTime();
}

export interface Piece {
  readonly text: string;
  readonly found: boolean;
}

/** An excerpt cut at its matches. The server counts characters, not UTF-16 units. */
export function piecesOf(excerpt: string, spans: readonly { start: number; length: number }[]): readonly Piece[] {
  const characters = [...excerpt];
  const pieces: Piece[] = [];
  let at = 0;
  const put = (to: number, found: boolean): void => {
    if (to > at) pieces.push({ text: characters.slice(at, to).join(""), found });
    at = Math.max(at, to);
  };
  for (const { start, length } of spans) {
    put(start, false);
    put(start + length, true);
  }
  put(characters.length, false);
  return pieces;
}

/** What a tool call says, without what only machines need: fences, escapes, the quotes of JSON's keys. */
export function plainly(pieces: readonly Piece[], kind: string): readonly Piece[] {
  if (kind !== "tool") return pieces;
  return pieces.map(({ text, found }) => ({ text: found ? text : bare(text), found }));
}

function bare(text: string): string {
  return text
    .replace(/`{3,}\w*/g, " ")
    .replace(/\\[nrt]/g, " ")
    .replace(/\\"/g, '"')
    .replace(/(?:\{\s*)?"(\w+)":\s*/g, "$1: ")
    .replace(/"\s*\}/g, '"')
    .replace(/\s+/g, " ");
}
