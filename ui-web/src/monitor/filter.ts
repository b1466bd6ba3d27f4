// The filter of the bus monitor, in the words of `sk-cli events`. Pure.
import type { AnyEvent } from "./events";
import { isInternal } from "./events";

export interface Filter {
  readonly types: readonly string[];
  readonly without: readonly string[];
  readonly agents: readonly string[];
  readonly channels: readonly string[];
  /** A regular expression on the event as JSON; plain words are looked for as they stand. */
  readonly grep: RegExp | null;
  readonly words: readonly string[];
  readonly all: boolean;
  /** Runs of deltas as one row, each delta, or none. */
  readonly deltas: Deltas;
}

export type Deltas = "fold" | "all" | "none";

export type Parsed = { filter: Filter; wrong: null } | { filter: null; wrong: string };

export const NOTHING: Filter = { types: [], without: [], agents: [], channels: [], grep: null, words: [], all: false, deltas: "fold" };

const LISTS: Readonly<Record<string, "types" | "without" | "agents" | "channels">> = {
  "-t": "types",
  "-x": "without",
  "-a": "agents",
  "-c": "channels",
};

/** What a line asks for; `wrong` is the word that makes no sense. */
export function parse(line: string): Parsed {
  const words = wordsOf(line);
  let filter = NOTHING;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--all") {
      filter = { ...filter, all: true };
      continue;
    }
    const list = LISTS[word];
    if (list === undefined && word !== "--grep" && word !== "--deltas") {
      if (/^-/.test(word)) return { filter: null, wrong: word };
      filter = { ...filter, words: [...filter.words, word] };
      continue;
    }
    const value = words[++at];
    if (value === undefined) return { filter: null, wrong: word };
    if (list !== undefined) {
      filter = { ...filter, [list]: [...filter[list], value] };
      continue;
    }
    if (word === "--deltas") {
      if (value !== "fold" && value !== "all" && value !== "none") return { filter: null, wrong: value };
      filter = { ...filter, deltas: value };
      continue;
    }
    try {
      filter = { ...filter, grep: new RegExp(value, "u") };
    } catch {
      return { filter: null, wrong: value };
    }
  }
  return { filter, wrong: null };
}

/** As a shell splits it: by spaces, but for what is in quotes. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"?|'([^']*)'?|(\S+)/g)].map(([, one, two, bare]) => one ?? two ?? bare ?? "");
}

/** Whether to show an event; `channelOf` turns `#name`, `@agent` and ids into an id. */
export function holds(filter: Filter, event: AnyEvent, channelOf: (named: string) => string): boolean {
  const { type, data } = event;
  if (filter.deltas === "none" && type === "message:delta") return false;
  if (filter.types.length > 0) {
    if (!filter.types.some((glob) => fits(glob, type))) return false;
  } else if (!filter.all && isInternal(type)) {
    return false;
  }
  if (filter.without.some((glob) => fits(glob, type))) return false;
  if (filter.agents.length > 0 && !filter.agents.some((name) => same(name.replace(/^@/, ""), agentOf(data)))) {
    return false;
  }
  if (filter.channels.length > 0 && !filter.channels.some((named) => channelOf(named) === data["channel"])) {
    return false;
  }
  if (filter.grep === null && filter.words.length === 0) return true;
  const text = JSON.stringify({ type, ...data });
  const folded = text.toLowerCase();
  return (
    (filter.grep === null || filter.grep.test(text)) &&
    filter.words.every((word) => folded.includes(word.toLowerCase()))
  );
}

/** Whom an event is about; empty for nobody. */
export function agentOf(data: AnyEvent["data"]): string {
  const message = data["message"] as { agent?: string } | undefined;
  return String(data["agent"] ?? message?.agent ?? data["answering"] ?? "");
}

function same(one: string, other: string): boolean {
  return one.normalize("NFKC").toLowerCase() === other.normalize("NFKC").toLowerCase();
}

const globs = new Map<string, RegExp>();

function fits(glob: string, text: string): boolean {
  let made = globs.get(glob);
  if (made === undefined) {
    const pattern = glob.replace(/[.+^${}()|\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
    try {
      made = new RegExp(`^${pattern.replaceAll("[!", "[^")}$`, "u");
    } catch {
      made = /$^/; // an open bracket: fits nothing, as on the command line
    }
    globs.set(glob, made);
  }
  return made.test(text);
}

/** The same question for a terminal. */
export function command(filter: Filter): string {
  const pairs = (flag: string, values: readonly string[]): string[] => values.map((value) => `${flag} ${quoted(value)}`);
  const greps = [
    ...(filter.grep === null ? [] : [filter.grep.source]),
    // One expression is all there is: words become one where they can.
    ...(filter.grep === null && filter.words.length > 0
      ? [`(?i)${filter.words.map(escaped).map((word) => `(?=.*${word})`).join("")}`]
      : []),
  ];
  return [
    "sk-cli events",
    ...pairs("-t", filter.types),
    ...pairs("-x", filter.without),
    ...pairs("-a", filter.agents),
    ...pairs("-c", filter.channels),
    ...pairs("--grep", greps),
    ...(filter.deltas === "fold" ? [] : [`--deltas ${filter.deltas}`]),
    ...(filter.all ? ["--all"] : []),
  ].join(" ");
}

function escaped(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The line with `-t type` in it, or without it where it was. */
export function toggled(line: string, type: string): string {
  const there = new RegExp(`(^|\\s)-t ${escaped(type)}(?=\\s|$)`);
  if (there.test(line)) return line.replace(there, "").trim();
  return `${line} -t ${type}`.trim();
}
