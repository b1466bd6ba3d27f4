// The events that the bus monitor holds: rows in the order of the log, runs of deltas as one row,
// the oldest let go. Pure.

/** Any event of the log, internal ones too. */
export interface AnyEvent {
  readonly epoch: number;
  readonly seq: number;
  readonly ts: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Row {
  /** The first event; a row is known by its seq. */
  readonly event: AnyEvent;
  /** All events of a run, in order; one where it is none. */
  readonly run: readonly AnyEvent[];
  /** Something to be said between events: what is missing, or that a new log began. */
  readonly gap: string | null;
}

export const KEPT = 2_000;
/** A run that goes on is shown as another row after this long, and holds no more than so many. */
const RUN_LASTS = 1_000;
const RUN_HOLDS = 500;

/** The rows with some more events at their end; `folds` joins runs of deltas. */
export function added(rows: readonly Row[], events: readonly AnyEvent[], folds = true): readonly Row[] {
  const next = [...rows];
  for (const event of events) {
    const last = next.at(-1);
    if (folds && last !== undefined && goesOn(last, event)) next[next.length - 1] = { ...last, run: [...last.run, event] };
    else next.push({ event, run: [event], gap: null });
  }
  return next.length > KEPT ? next.slice(-KEPT) : next;
}

function goesOn({ event: first, run, gap }: Row, event: AnyEvent): boolean {
  return (
    gap === null &&
    event.type === "message:delta" &&
    first.type === "message:delta" &&
    event.epoch === first.epoch &&
    run.length < RUN_HOLDS &&
    event.ts - first.ts < RUN_LASTS &&
    ["messageId", "index", "kind"].every((key) => event.data[key] === first.data[key])
  );
}

/** A line of its own between events. */
export function between(epoch: number, seq: number, ts: number, gap: string): Row {
  return { event: { epoch, seq, ts, type: "", data: {} }, run: [], gap };
}

/** How often each type came, per second, over the last seconds. */
export class Rates {
  private readonly seconds = new Map<number, Map<string, number>>();

  count(events: readonly AnyEvent[], now: number): void {
    const second = Math.floor(now / 1_000);
    const counts = this.seconds.get(second) ?? new Map<string, number>();
    this.seconds.set(second, counts);
    for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1);
    for (const old of this.seconds.keys()) if (old < second - OVER) this.seconds.delete(old);
  }

  /** Of the whole seconds before `now`: the one that runs isn't over. */
  at(now: number): ReadonlyMap<string, number> {
    const second = Math.floor(now / 1_000);
    const sums = new Map<string, number>();
    for (const [at, counts] of this.seconds) {
      if (at >= second || at < second - OVER) continue;
      for (const [type, count] of counts) sums.set(type, (sums.get(type) ?? 0) + count);
    }
    return new Map([...sums].map(([type, sum]) => [type, sum / OVER]));
  }
}

const OVER = 5;

/** Written by one component for another; shown to people who ask for it. */
export function isInternal(type: string): boolean {
  return /^(?:cmd|do|fact|timer|history|state):/.test(type);
}

/** Who says it; commands come from whoever asks for something. */
export function saidBy(type: string): string {
  if (/^config:/.test(type) || type === "component:state") return "config";
  if (/^(?:fact:|agent:log$)/.test(type)) return "agents";
  if (/^history:/.test(type)) return "history";
  if (type.startsWith("cmd:") && type !== "cmd:result") return "gateway";
  return "router";
}

/** One event as a line of JSON, as `GET /events` has it. */
export function lineOf({ epoch, seq, ts, type, data }: AnyEvent): string {
  return JSON.stringify({ epoch, seq, ts, type, data });
}
