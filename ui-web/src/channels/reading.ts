// What counts as read and as unread. Pure; ids sort by creation, so one id per channel says it all.
import { compareIds } from "../bus/conversation";
import type { Message } from "../bus/schema.gen";

export interface Marks {
  /** Of a channel that has no mark: what was said before this page first came here is read. */
  readonly baseline: string;
  /** The newest message that was read, by channel. */
  readonly read: Readonly<Record<string, string>>;
}

/** A message id that sorts as one made at this place in the log. */
export function idAt(seq: number): string {
  return `m${String(seq).padStart(16, "0")}.0`;
}

export function markOf(marks: Marks, channel: string): string {
  const own = marks.read[channel];
  if (own !== undefined) return own;
  return later(marks.baseline, `m${channel.slice(1)}`);
}

/** Both tabs' marks: what was read in one was read. */
export function joined(one: Marks, other: Marks): Marks {
  const read: Record<string, string> = { ...one.read };
  for (const [channel, id] of Object.entries(other.read)) {
    read[channel] = later(read[channel] ?? id, id);
  }
  return { baseline: earlier(one.baseline, other.baseline), read };
}

/** Whether a message is one to be read: an answer that is finished, or the reason why there is none. */
export function counts({ role, done, error, code }: Message): boolean {
  return done && (role === "agent" || (role === "system" && (error !== undefined || code === "no-recipient")));
}

/** The newest message before which nothing is still being written; `null` where there is none. */
export function finished(messages: readonly Message[]): string | null {
  const open = messages.filter(({ done }) => !done).map(({ id }) => id);
  const first = open.length === 0 ? null : open.reduce(earlier);
  const over = messages
    .map(({ id }) => id)
    .filter((id) => first === null || compareIds(id, first) < 0);
  return over.length === 0 ? null : over.reduce(later);
}

/** The first one to be read after `mark`, in the order of reading. */
export function firstUnread(messages: readonly Message[], mark: string): string | null {
  return messages.find((one) => counts(one) && compareIds(one.id, mark) > 0)?.id ?? null;
}

export function later(one: string, other: string): string {
  return compareIds(one, other) < 0 ? other : one;
}

function earlier(one: string, other: string): string {
  return compareIds(one, other) < 0 ? one : other;
}
