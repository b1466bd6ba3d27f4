// What was typed and not sent, per channel, over reloads. Another tab's draft isn't overwritten
// while one types here: each tab writes what it shows.
import { signal, type Signal } from "@preact/signals";

const KEY = "sk.draft.";
const drafts = new Map<string, Signal<string>>();

export function draftOf(channel: string): Signal<string> {
  const there = drafts.get(channel);
  if (there !== undefined) return there;
  const made = signal(localStorage.getItem(KEY + channel) ?? "");
  drafts.set(channel, made);
  return made;
}

export function keepDraft(channel: string, text: string): void {
  draftOf(channel).value = text;
  if (text === "") localStorage.removeItem(KEY + channel);
  else localStorage.setItem(KEY + channel, text);
}

/** Put a text back in front of whoever writes: after what is there already. */
export function putBack(channel: string, text: string): void {
  const before = draftOf(channel).value;
  keepDraft(channel, before.trim() === "" ? text : `${before}\n${text}`);
}
