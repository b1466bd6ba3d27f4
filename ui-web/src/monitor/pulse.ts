// How the components do, asked for again and again while somebody looks: no event tells it.
import { signal } from "@preact/signals";
import { RefusedError } from "../bus/socket";
import { store } from "../shell/app";

const ASK_EVERY = 2_000;

export interface Pulse {
  readonly component: string;
  /** How long ago (ms) it spoke last, when this was asked. */
  readonly heard?: number;
  readonly behind?: number;
  readonly memory?: number;
}

export const pulses = signal<ReadonlyMap<string, Pulse>>(new Map());

export function follow(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const ask = async (): Promise<void> => {
    try {
      const { value } = await store.query("Pulse", {});
      if (over) return;
      pulses.value = new Map((value as readonly Pulse[]).map((one) => [one.component, one]));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      pulses.value = new Map();
    }
    if (!over) timer = setTimeout(() => void ask(), ASK_EVERY);
  };
  void ask();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}
