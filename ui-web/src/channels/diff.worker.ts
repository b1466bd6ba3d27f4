// Compares texts beside the page, which goes on being quick meanwhile.
import { changeOf, firstRows, type Change } from "./change";

export interface Asked {
  readonly id: number;
  readonly before: string;
  readonly after: string;
  /** No more rows than this are handed back. */
  readonly limit: number;
}

export interface Told {
  readonly id: number;
  /** `null` where the texts are too different. */
  readonly change: Change | null;
}

/** Two texts with nothing in common take for ever to compare. */
const PATIENCE = 2_000;

addEventListener("message", ({ data: { id, before, after, limit } }: MessageEvent<Asked>) => {
  const change = changeOf(before, after, PATIENCE);
  const told: Told = { id, change: change === null ? null : firstRows(change, limit) };
  postMessage(told);
});
