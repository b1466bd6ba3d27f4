// Which of the loaded messages are in the document: at most 200 in a row, moved by pages of 100.
// Pure: where the reader stands comes in, what is shown goes out.
import type { Message } from "../bus/schema.gen";

export const SHOWN = 200;
const PAGE = 100;

/** The id of the first message shown; `null` follows the end. */
export type First = string | null;

export function indexOf(messages: readonly Message[], first: First): number {
  const end = Math.max(0, messages.length - SHOWN);
  if (first === null) return end;
  const index = messages.findIndex(({ id }) => id === first);
  return index < 0 ? end : index;
}

export function shown(messages: readonly Message[], first: First): readonly Message[] {
  const index = indexOf(messages, first);
  return messages.slice(index, index + SHOWN);
}

/** A page earlier; the same where nothing earlier is loaded. */
export function earlier(messages: readonly Message[], first: First): First {
  return messages[Math.max(0, indexOf(messages, first) - PAGE)]?.id ?? first;
}

/** A page later, but not beyond the end. */
export function later(messages: readonly Message[], first: First): First {
  const end = Math.max(0, messages.length - SHOWN);
  return messages[Math.min(end, indexOf(messages, first) + PAGE)]?.id ?? first;
}

export function atEnd(messages: readonly Message[], first: First): boolean {
  return indexOf(messages, first) + SHOWN >= messages.length;
}
