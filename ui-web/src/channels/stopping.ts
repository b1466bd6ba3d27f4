// Stop: asked for once, by a button, by Ctrl+. or by Esc pressed twice.
import { signal } from "@preact/signals";
import { give, pending, turnOf } from "../shell/app";

const ARMED_FOR = 3_000;

/** The channel in which the next Esc stops. */
export const armed = signal<string | null>(null);
let disarm: ReturnType<typeof setTimeout> | undefined;

function keyOf(channel: string): string {
  return `stop ${channel}`;
}

export function isStopping(channel: string): boolean {
  return pending.value.has(keyOf(channel));
}

export function stop(channel: string): void {
  armed.value = null;
  if (turnOf(channel).busy) void give(keyOf(channel), "Cancel", { channel });
}

/** Esc, where it closes nothing else: the first arms, the second stops. */
export function escaped(channel: string): void {
  if (!turnOf(channel).busy) return;
  if (armed.value === channel) return stop(channel);
  armed.value = channel;
  clearTimeout(disarm);
  disarm = setTimeout(() => (armed.value = null), ARMED_FOR);
}
