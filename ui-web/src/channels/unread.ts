// Which messages nobody at this browser has read yet. The server keeps no such mark: it lies in
// localStorage, one record per configuration file, and tabs follow each other's.
import { computed, effect, signal } from "@preact/signals";
import { compareIds } from "../bus/conversation";
import type { PageEvent } from "../bus/protocol";
import { RefusedError } from "../bus/socket";
import type { Message, Page } from "../bus/schema.gen";
import { channels, config, store } from "../shell/app";
import { counts, idAt, joined, markOf, type Marks } from "./reading";

const KEY = "sk.read.";
const ASK_AGAIN = 5_000;

const path = computed(() => config.value?.path ?? null);
const marks = signal<Marks | null>(null);
const unread = signal<Readonly<Record<string, ReadonlySet<string>>>>({});

/** Whether somebody looks at this tab now. */
export const attentive = signal(looks());

function looks(): boolean {
  return document.visibilityState === "visible" && document.hasFocus();
}

/** The conversation whose end is before somebody's eyes: what comes there is read as it comes. */
export const watched = signal<string | null>(null);

export function unreadIn(channel: string | null | undefined): number {
  if (channel == null || channel === watched.value) return 0;
  return unread.value[channel]?.size ?? 0;
}

export const unreadInAll = computed(() =>
  channels.value.reduce((sum, { id }) => sum + unreadIn(id), 0),
);

/** Up to where a channel was read; `null` before the configuration's file is known. */
export function readUpTo(channel: string): string | null {
  const known = marks.peek();
  return known === null ? null : markOf(known, channel);
}

/** Everything in a channel up to `id` has been before somebody's eyes. */
export function read(channel: string, id: string): void {
  const known = marks.peek();
  if (known === null || compareIds(id, markOf(known, channel)) <= 0) return;
  keep({ ...known, read: { ...known.read, [channel]: id } });
}

export function followReading(): void {
  for (const name of ["focus", "blur"]) addEventListener(name, () => (attentive.value = looks()));
  document.addEventListener("visibilitychange", () => (attentive.value = looks()));
  addEventListener("storage", ({ key, newValue }) => {
    const known = marks.peek();
    if (known === null || newValue === null || key !== KEY + path.peek()) return;
    take(joined(known, JSON.parse(newValue) as Marks));
  });
  effect(() => {
    if (path.value === null) return;
    const kept = localStorage.getItem(KEY + path.value);
    unread.value = {};
    if (kept !== null) take(JSON.parse(kept) as Marks);
    else keep({ baseline: idAt(store.world.peek().seq), read: {} });
  });
  store.onEvent(heard);
  effect(() => {
    const { value: life } = store.lives;
    if (store.isLive.value && marks.value !== null) void catchUp(life, channels.value.map(({ id }) => id));
  });
}

function heard(event: PageEvent): void {
  if (event.type === "message:updated") add(event.data.channel, [event.data.message]);
}

function add(channel: string, messages: readonly Message[]): void {
  const mark = readUpTo(channel);
  if (mark === null) return;
  const before = unread.peek()[channel] ?? new Set();
  const found = messages.filter((one) => counts(one) && compareIds(one.id, mark) > 0);
  const more = found.filter(({ id }) => !before.has(id));
  if (more.length === 0) return;
  unread.value = { ...unread.peek(), [channel]: new Set([...before, ...more.map(({ id }) => id)]) };
}

function keep(next: Marks): void {
  const kept = localStorage.getItem(KEY + path.peek());
  const all = kept === null ? next : joined(JSON.parse(kept) as Marks, next);
  localStorage.setItem(KEY + path.peek(), JSON.stringify(all));
  take(all);
}

function take(next: Marks): void {
  marks.value = next;
  const left = Object.entries(unread.peek()).map(([channel, ids]) => {
    const mark = markOf(next, channel);
    return [channel, new Set([...ids].filter((id) => compareIds(id, mark) > 0))] as const;
  });
  unread.value = Object.fromEntries(left);
}

/** In which life of the store each channel was asked for what was missed. */
const asked = new Map<string, number>();
let asking = false;

/** Ask, one channel after the other, for what was said while nobody listened. */
async function catchUp(life: number, ids: readonly string[]): Promise<void> {
  if (asking) return;
  asking = true;
  try {
    for (const channel of ids) {
      if (asked.get(channel) === life) continue;
      const { value } = await store.query("Newer", { channel, after: readUpTo(channel) });
      add(channel, (value as Page).messages);
      asked.set(channel, life);
    }
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    // A strip says what is wrong; a channel that has gone isn't in the next list.
    await new Promise((done) => setTimeout(done, ASK_AGAIN));
  } finally {
    asking = false;
  }
  if (life !== store.lives.peek() || missing(life)) {
    void catchUp(store.lives.peek(), channels.peek().map(({ id }) => id));
  }
}

function missing(life: number): boolean {
  return store.isLive.peek() && channels.peek().some(({ id }) => asked.get(id) !== life);
}

