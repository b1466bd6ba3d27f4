// Stop: asked for once, by a button, by Ctrl+. or by Esc pressed twice.
import { effect, signal } from "@preact/signals";
import type { Turn } from "../bus/world";
import { give, pending, refusals, turnOf } from "../shell/app";

/** After this Stop can be asked for again, whatever became of the first. */
const PATIENCE = 10_000;

/** The channel in which the next Esc stops. */
export const armed = signal<string | null>(null);

function keyOf(channel: string): string {
  return `stop ${channel}`;
}

/** What was being answered when Stop was accepted: the agent may take a while to end it. */
const accepted = signal<Readonly<Record<string, Turn>>>({});

export function isStopping(channel: string): boolean {
  const turn = turnOf(channel);
  const stopped = accepted.value[channel];
  return pending.value.has(keyOf(channel)) || (turn.busy && stopped?.answering === turn.answering);
}

export function stop(channel: string): void {
  armed.value = null;
  const turn = turnOf(channel);
  if (turn.busy && !isStopping(channel)) void cancel(channel, turn);
}

async function cancel(channel: string, turn: Turn): Promise<void> {
  await give(keyOf(channel), "Cancel", { channel });
  if (refusals.peek()[keyOf(channel)] !== undefined) return;
  accepted.value = { ...accepted.peek(), [channel]: turn };
  setTimeout(() => {
    const { [channel]: _, ...others } = accepted.peek();
    accepted.value = others;
  }, PATIENCE);
}

/** Esc, where it closes nothing else: the first arms, the second stops. */
export function escaped(channel: string): void {
  if (!turnOf(channel).busy) return;
  if (armed.value === channel) return stop(channel);
  arm(channel);
}

/** Until something else is done or the turn is over: that it is armed can be read for as long. */
function arm(channel: string): void {
  armed.value = channel;
  const over = new AbortController();
  const disarm = (): void => {
    over.abort();
    if (armed.peek() === channel) armed.value = null;
  };
  const options = { capture: true, signal: over.signal };
  addEventListener("pointerdown", disarm, options);
  addEventListener("keydown", ({ key }) => key !== "Escape" && disarm(), options);
  const ended = effect(() => {
    if (armed.value !== channel || !turnOf(channel).busy) disarm();
  });
  over.signal.addEventListener("abort", ended);
}
