// The bus monitor's own connection: every event, internal ones too, from a little in the past on.
// It lives while somebody looks, so that nobody else pays for it.
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { Connection, type Link } from "../bus/socket";
import type { Cursor } from "../bus/schema.gen";
import type { Wanted } from "../bus/protocol";
import { t } from "../i18n/translate";
import { channels, store, token } from "../shell/app";
import { added, between, Rates, type AnyEvent, type Row } from "./events";
import { holds, NOTHING, parse, type Filter } from "./filter";

const KEY = "sk.monitor";
const FLUSH_EVERY = 100;
/** So many events of the past stand there at once. */
const BACK = 1_000;
/** So many are kept, shown or not, so that another filter finds them. */
const MOST = 20_000;
const EVERYTHING: readonly Wanted[] = ["public", "delta", "log", "result", "internal"];

export const line = signal(sessionStorage.getItem(KEY) ?? "");
export const parsed = computed(() => parse(line.value));
/** What the filter lets pass. */
export const rows = signal<readonly Row[]>([]);
export const paused = signal(false);
/** Events that the filter would let pass and that came while it was paused. */
export const waiting = signal(0);
export const rates = signal<ReadonlyMap<string, number>>(new Map());
export const link = signal<Link>({ state: "connecting", since: Date.now() });

export function ask(next: string): void {
  line.value = next;
  sessionStorage.setItem(KEY, next);
}

export function pause(): void {
  paused.value = true;
}

/** What is kept, in the order of the log; in it, what has to be said between events. */
let kept: (AnyEvent | Row)[] = [];
/** Of what is kept, so much was there when it was paused. */
let seen = 0;
let filter: Filter = NOTHING;

export function clear(): void {
  kept = [];
  seen = 0;
  batch(() => {
    rows.value = [];
    waiting.value = 0;
  });
}

export function resume(): void {
  batch(() => {
    show(kept.slice(seen));
    waiting.value = 0;
    paused.value = false;
  });
}

/** Put what has come behind what is shown. */
function show(some: readonly (AnyEvent | Row)[]): void {
  let next = rows.peek();
  let run: AnyEvent[] = [];
  for (const one of some) {
    if ("run" in one) {
      next = [...added(next, run, folds()), one];
      run = [];
    } else if (passes(one)) {
      run.push(one);
    }
  }
  rows.value = added(next, run, folds());
  seen = kept.length;
}

function folds(): boolean {
  return filter.deltas === "fold";
}

function passes(event: AnyEvent): boolean {
  return holds(filter, event, idOf);
}

/** A channel's id by `#name`, `name`, `@agent` or itself. */
function idOf(named: string): string {
  const found = channels
    .peek()
    .find(({ name, direct }) => (direct === "" ? [name, `#${name}`].includes(named) : named === `@${direct}`));
  return found?.id ?? named;
}

function keep(some: readonly (AnyEvent | Row)[]): void {
  kept.push(...some);
  const over = kept.length - MOST;
  if (over > 0) {
    kept = kept.slice(over);
    seen = Math.max(0, seen - over);
  }
}

/** Follow the log while somebody looks. Returns how to stop. */
export function follow(): () => void {
  const counted = new Rates();
  let cursor: Cursor | null = beginning();
  let came: (AnyEvent | Row)[] = [];
  const flush = (): void => {
    const some = came;
    came = [];
    batch(() => {
      rates.value = counted.at(Date.now());
      if (some.length === 0) return;
      keep(some);
      if (!paused.peek()) show(some.slice(-MOST));
      else waiting.value += some.filter((one) => "run" in one || passes(one)).length;
    });
  };
  const gap = (epoch: number, seq: number): void => {
    if (kept.length + came.length === 0) return;
    const words = t(cursor?.epoch === epoch ? "bus.lost" : "bus.epoch");
    came.push(between(epoch, seq, Date.now(), words));
  };
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const connection = new Connection(
    `${scheme}://${location.host}/ws`,
    token.peek() ?? "",
    {
      cursor: () => cursor,
      link: (next) => (link.value = next),
      welcome: ({ epoch, seq, resumed }) => {
        if (resumed) return;
        gap(epoch, seq);
        cursor = { epoch, seq };
      },
      events: (epoch, events) => {
        const fresh = events.filter(({ seq }) => cursor === null || cursor.epoch !== epoch || seq > cursor.seq);
        const made = fresh.map((event) => ({ ...event, epoch }) as unknown as AnyEvent);
        if (came.length < MOST) came.push(...made); // what is more can't be kept anyway
        counted.count(made, Date.now());
        const last = events.at(-1);
        if (last !== undefined) cursor = { epoch, seq: last.seq };
      },
      at: (seq) => {
        if (cursor !== null) cursor = { ...cursor, seq };
      },
      resync: (epoch, seq) => {
        gap(epoch, seq);
        cursor = { epoch, seq };
      },
    },
    undefined,
    EVERYTHING,
  );
  connection.connect();
  const timer = setInterval(flush, FLUSH_EVERY);
  const stop = effect(() => {
    const next = parsed.value.filter;
    if (next === null || next === filter) return;
    filter = next;
    untracked(() => {
      rows.value = [];
      show(kept.slice(0, paused.peek() ? seen : undefined));
    });
  });
  return () => {
    clearInterval(timer);
    stop();
    connection.close();
    clear();
    paused.value = false;
  };
}

/** A little before the page's own place in the log. */
function beginning(): Cursor | null {
  const { epoch, seq } = store.world.peek();
  return epoch === 0 ? null : { epoch, seq: Math.max(0, seq - BACK) };
}
