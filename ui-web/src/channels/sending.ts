// Which key sends: Enter, or where somebody prefers it Ctrl+Enter, so that Enter makes a line.
import { signal } from "@preact/signals";

const KEY = "sk.send";

export const byCtrlEnter = signal(localStorage.getItem(KEY) === "ctrl");

export function sendByCtrlEnter(yes: boolean): void {
  byCtrlEnter.value = yes;
  localStorage.setItem(KEY, yes ? "ctrl" : "enter");
}

export function sends({ key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  if (key !== "Enter" || shiftKey || altKey) return false;
  return ctrlKey || metaKey || !byCtrlEnter.value;
}
