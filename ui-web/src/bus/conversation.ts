// One conversation as the page holds it: its messages in the order of reading, folded from a
// snapshot, older pages and deltas. Pure; says `null` where a hole shows, and never asks for it.
import { isBlob, keepFolded } from "./text";
import type {
  ConversationView,
  Message,
  MessageDelta,
  Part,
  ToolCall,
  Usage,
} from "./schema.gen";

/** When each part of a message began and ended (ms), as far as this page saw it happen. */
export interface PartTimes {
  readonly began: readonly (number | undefined)[];
  readonly ended: readonly (number | undefined)[];
}

export interface ConversationState {
  readonly messages: readonly Message[];
  readonly more: boolean;
  readonly usage: Readonly<Record<string, Usage>>;
  readonly times: Readonly<Record<string, PartTimes>>;
}

/**
 * The order of reading: a question, then what answers it or came up meanwhile; else by creation.
 * Who joined by a question in a log of older code has only its number in common with it.
 */
export function reading(one: Message, other: Message): number {
  return (
    compareIds(question(one), question(other)) ||
    Number(follows(one)) - Number(follows(other)) ||
    compareIds(one.id, other.id)
  );
}

function question({ id, answers, during }: Message): string {
  return (answers ?? during ?? id).split(".")[0] ?? id;
}

function follows({ answers, during }: Message): boolean {
  return answers !== undefined || during !== undefined;
}

/** Ids sort by creation: sixteen digits of seq, then a dot and a count. */
export function compareIds(one: string, other: string): number {
  const [seq = "", count = "0"] = one.split(".");
  const [otherSeq = "", otherCount = "0"] = other.split(".");
  if (seq !== otherSeq) return seq < otherSeq ? -1 : 1;
  return Number(count) - Number(otherCount);
}

export function opened(view: ConversationView): ConversationState {
  const messages = [...view.messages].sort(reading);
  return { messages, more: view.more, usage: view.usage, times: {} };
}

/**
 * A conversation that was asked for again. Older pages stay where they still touch the new
 * answer; where more than a page was missed they go, rather than leave a hole.
 */
export function merged(before: ConversationState, view: ConversationView): ConversationState {
  const now = opened(view);
  const known = new Map(before.messages.map((message) => [message.id, message]));
  const messages = now.messages.map((message) => keepFolded(known.get(message.id), message));
  const first = oldest(now);
  const touches = first !== null && known.has(first);
  const older = touches
    ? before.messages.filter((message) => compareIds(message.id, first) < 0)
    : [];
  return {
    ...now,
    messages: [...older, ...messages].sort(reading),
    more: touches ? before.more : view.more,
    times: before.times,
  };
}

/** The id to ask older messages before. */
export function oldest(state: ConversationState): string | null {
  let first: string | null = null;
  for (const message of state.messages) {
    if (first === null || compareIds(message.id, first) < 0) first = message.id;
  }
  return first;
}

/** With a message added or replaced. What a reference stands for is kept where it was folded. */
export function updated(state: ConversationState, message: Message, at: number): ConversationState {
  const index = find(state, message.id);
  if (index === null) {
    const place = state.messages.findLastIndex((other) => reading(other, message) < 0) + 1;
    return { ...state, messages: state.messages.toSpliced(place, 0, message) };
  }
  const before = state.messages[index];
  const messages = state.messages.with(index, keepFolded(before, message));
  const times = message.done ? closed(state.times, message, at) : state.times;
  return { ...state, messages, times };
}

/** With one delta applied; `null` when something before it is missing. */
export function grown(
  state: ConversationState,
  delta: Omit<MessageDelta, "type">,
  at: number,
): ConversationState | null {
  const index = find(state, delta.messageId);
  if (index === null) {
    // Of a message before the ones we hold nothing is shown, so nothing is missed.
    const first = oldest(state);
    return first !== null && compareIds(delta.messageId, first) < 0 ? state : null;
  }
  const message = state.messages[index] as Message;
  if (delta.rev <= message.rev) return state;
  if (delta.rev !== message.rev + 1 || delta.index > message.parts.length) return null;
  const old = message.parts[delta.index];
  const part = delta.part ?? appended(old, delta.kind, delta.text ?? "");
  if (part === null) return null;
  const parts =
    old === undefined ? [...message.parts, part] : message.parts.with(delta.index, part);
  return {
    ...state,
    messages: state.messages.with(index, { ...message, parts, rev: delta.rev }),
    times: timed(state.times, message.id, delta.index, old, part, at),
  };
}

function find(state: ConversationState, id: string): number | null {
  const index = state.messages.findLastIndex((message) => message.id === id);
  return index < 0 ? null : index;
}

function appended(part: Part | undefined, kind: string, text: string): Part | null {
  if (part === undefined) {
    if (kind === "text" || kind === "thought") return { type: kind, text };
    return null;
  }
  if (part.type !== "text" && part.type !== "thought") return null;
  // A snapshot may hold the beginning of a long text by reference: then its end completes it.
  const before = isBlob(part.text) ? part.text.head : part.text;
  return { ...part, text: before + text };
}

function timed(
  times: ConversationState["times"],
  id: string,
  index: number,
  old: Part | undefined,
  part: Part,
  at: number,
): ConversationState["times"] {
  const ends = part.type === "tool" && isOver(part.tool) && !(old?.type === "tool" && isOver(old.tool));
  if (old !== undefined && !ends) return times;
  const { began, ended } = times[id] ?? { began: [], ended: [] };
  const beginnings = [...began];
  const ends_ = [...ended];
  if (old === undefined) {
    beginnings[index] = at;
    if (index > 0) ends_[index - 1] ??= at;
  }
  if (ends) ends_[index] = at;
  return { ...times, [id]: { began: beginnings, ended: ends_ } };
}

function closed(
  times: ConversationState["times"],
  message: Message,
  at: number,
): ConversationState["times"] {
  const known = times[message.id];
  const last = message.parts.length - 1;
  if (known === undefined || last < 0 || known.ended[last] !== undefined) return times;
  const ended = [...known.ended];
  ended[last] = at;
  return { ...times, [message.id]: { ...known, ended } };
}

export function isOver(tool: ToolCall): boolean {
  return tool.status === "completed" || tool.status === "failed" || tool.ended !== undefined;
}
