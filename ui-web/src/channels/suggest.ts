// What `@` and `/` offer while one types. Pure: a text, where the cursor is, and who is there come
// in; what could be put in its place goes out.
import type { SlashCommand } from "../bus/schema.gen";

export interface Someone {
  readonly name: string;
  readonly title: string;
  readonly member: boolean;
}

export interface Offered {
  readonly key: string;
  /** The agent it is about, for its face and its group. */
  readonly agent: string;
  readonly label: string;
  readonly detail: string;
  /** What an argument of it looks like. */
  readonly hint: string;
  readonly joins: boolean;
  /** What is written in place of `text[from:to]`. */
  readonly inserts: string;
}

export interface Suggestions {
  readonly kind: "mention" | "command";
  readonly from: number;
  readonly to: number;
  readonly options: readonly Offered[];
}

export interface Around {
  readonly direct: string;
  readonly agents: readonly Someone[];
  readonly commands: Readonly<Record<string, readonly SlashCommand[]>>;
}

const MOST = 50;
const MENTION = /(^|[^\p{Script=Latin}\p{N}.%+\-/\\@])@([\p{L}\p{N}\p{M}._-]*)$/u;
const COMMAND = /^((?:\s*@[\p{L}\p{N}\p{M}._-]+[\s,;:]+)*)\/(\S*)$/u;
const MENTIONED = /@([\p{L}\p{N}\p{M}._-]+)/gu;

/** What to offer with the cursor at `caret`; `null` where there is nothing, or nothing more, to say. */
export function suggestions(text: string, caret: number, around: Around): Suggestions | null {
  const before = text.slice(0, caret);
  const rest = /^[\p{L}\p{N}\p{M}._:-]*/u.exec(text.slice(caret))?.[0].length ?? 0;
  return commands(before, caret + rest, around) ?? mentions(before, caret + rest, around);
}

/** Whether commands are being asked for, also where none is known yet. */
export function wantsCommands(text: string, caret: number): boolean {
  return COMMAND.test(text.slice(0, caret));
}

function mentions(before: string, to: number, { direct, agents }: Around): Suggestions | null {
  if (direct !== "" || inCode(before)) return null;
  const found = MENTION.exec(before);
  if (found === null) return null;
  const wanted = found[2] ?? "";
  const members = [...agents].sort((one, other) => Number(other.member) - Number(one.member));
  const options = ranked(members, wanted, ({ name, title }) => [name, title]).map(
    ({ name, title, member }): Offered => ({
      key: name,
      agent: name,
      label: `@${name}`,
      detail: title === name ? "" : title,
      hint: "",
      joins: !member,
      inserts: `@${name} `,
    }),
  );
  const from = before.length - wanted.length - 1;
  return offered("mention", from, to, options, `@${wanted} `);
}

function commands(before: string, to: number, around: Around): Suggestions | null {
  const found = COMMAND.exec(before);
  if (found === null) return null;
  const wanted = found[2] ?? "";
  const options = ranked(all(found[1] ?? "", around), wanted, ({ label, agent }) => [
    label.slice(1),
    label.slice(1).replace(`${agent}:`, ""),
  ]);
  return offered("command", before.length - wanted.length - 1, to, options, `/${wanted} `);
}

/** In a direct conversation and after mentions, an agent's commands need not name it. */
function all(mentioned: string, { direct, agents, commands: known }: Around): Offered[] {
  const named = [...mentioned.matchAll(MENTIONED)].map(([, name = ""]) => folded(name));
  const plain = direct !== "" ? [folded(direct)] : named;
  const asked = plain.length > 0 ? agents.filter(({ name }) => plain.includes(folded(name))) : agents;
  const sorted = [...asked].sort((one, other) => Number(other.member) - Number(one.member));
  return sorted.flatMap(({ name: agent, member }) =>
    (known[agent] ?? []).map(({ name, description, hint }): Offered => {
      const label = plain.length > 0 ? `/${name}` : `/${agent}:${name}`;
      const joins = !member && direct === "";
      return { key: `${agent} ${name}`, agent, label, detail: description, hint, joins, inserts: `${label} ` };
    }),
  );
}

/** Nothing is offered that stands there already, whole and alone: Enter is to send it. */
function offered(
  kind: Suggestions["kind"],
  from: number,
  to: number,
  options: readonly Offered[],
  typed: string,
): Suggestions | null {
  const [first] = options;
  if (first === undefined) return null;
  if (options.length === 1 && folded(first.inserts) === folded(typed)) return null;
  return { kind, from, to, options: options.slice(0, MOST) };
}

/** Those whose words begin with what is wanted, then those that hold it. */
function ranked<T>(all: readonly T[], wanted: string, words: (one: T) => readonly string[]): T[] {
  const sought = folded(wanted);
  const begins = (one: T): boolean => words(one).some((word) => folded(word).startsWith(sought));
  const holds = (one: T): boolean => words(one).some((word) => folded(word).includes(sought));
  return [...all.filter(begins), ...all.filter((one) => !begins(one) && holds(one))];
}

export function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** In a code span or an open code block nobody is mentioned. */
function inCode(before: string): boolean {
  const fences = before.match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0;
  if (fences % 2 === 1) return true;
  const line = before.slice(before.lastIndexOf("\n") + 1);
  return (line.match(/`/g)?.length ?? 0) % 2 === 1;
}

/** The text with an option in it, and where the cursor then stands. */
export function accepted(
  text: string,
  { from, to }: Suggestions,
  { inserts }: Offered,
): { text: string; caret: number } {
  const rest = text.slice(to).replace(/^ /, "");
  return { text: text.slice(0, from) + inserts + rest, caret: from + inserts.length };
}
