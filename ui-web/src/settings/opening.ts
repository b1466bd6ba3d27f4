// Going on with another configuration file: what that ends, the asking, and the waiting for it.
import { computed, effect, signal } from "@preact/signals";
import { agents, config, forget, give, refusals, store } from "../shell/app";

/** The file that a person is asked about. */
export const wanted = signal<string | null>(null);
/** What was asked for though it is in use: there is nothing to decide, and nothing to do. */
export const already = signal<string | null>(null);
/** Under way: the file, and the life of the log that it ends. */
const under = signal<{ path: string; epoch: number } | null>(null);

export const opening = computed(() => under.value?.path ?? null);
export const refusal = computed(() => refusals.value["open"] ?? null);

const running = computed(() => agents.value.filter(({ state }) => state !== "stopped" && state !== "error"));

/** What would be stopped. An agent answers in one conversation at a time. */
export const stops = computed(() => ({
  agents: running.value.length,
  answers: running.value.filter(({ state }) => state === "busy").length,
}));

export function ask(path: string): void {
  const same = path === config.peek()?.path;
  forget("open");
  already.value = same ? path : null;
  wanted.value = same ? null : path;
}

export async function open(): Promise<void> {
  const path = wanted.peek();
  if (path === null) return;
  const { epoch } = store.world.peek();
  wanted.value = null;
  under.value = { path, epoch };
  const accepted = (await give("open", "Open", { path })) as { already: boolean } | undefined;
  // Another name of the file that is in use: only the server can tell.
  if (accepted?.already === true) already.value = path;
  // Refused, or open already: no other life of the log will begin.
  if (accepted === undefined || accepted.already) under.value = null;
}

/** With the other file begins another life of the log; then its configuration is known. */
effect(() => {
  const now = under.value;
  const { epoch, config: slice } = store.world.value;
  if (now !== null && epoch !== now.epoch && slice?.stale === false) under.value = null;
});

export const currentPath = computed(() => config.value?.path ?? "");
