// The plan of the answer that is being written, in short. Pure.
import type { Message, PlanStep } from "../bus/schema.gen";

export interface Underway {
  readonly message: string;
  readonly done: number;
  readonly count: number;
  readonly current: string;
}

/** How far the last unfinished answer has come by its own plan; `null` where it made none. */
export function planOf(messages: readonly Message[]): Underway | null {
  const message = messages.findLast(({ role, done }) => role === "agent" && !done);
  const part = message?.parts.findLast((one) => one.type === "plan");
  if (message === undefined || part === undefined || part.steps.length === 0) return null;
  const over = part.steps.filter(({ status }) => status === "completed").length;
  const step = part.steps.find(isAt) ?? part.steps.find(({ status }) => status !== "completed");
  return { message: message.id, done: over, count: part.steps.length, current: step?.content ?? "" };
}

function isAt({ status }: PlanStep): boolean {
  return status === "in_progress";
}
