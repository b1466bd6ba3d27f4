// The page's one store: events and answers are folded into the world at once, the screen sees it
// every 50 ms. Asks for what is wanted and missing, and repeats what a cut made stale.
import { batch, computed, signal } from "@preact/signals";
import { oldest } from "./conversation";
import { fold } from "./fold";
import type { PageEvent, Welcome } from "./protocol";
import { Connection, RefusedError, type Answer, type Link, type Opener } from "./socket";
import type { Cursor, Page, Problem } from "./schema.gen";
import { cut, NOTHING, withOlder, withSnapshot, type Snapshot, type World } from "./world";

const FLUSH_EVERY = 50;
/** More than this between question and answer: asking again is cheaper than keeping it. */
const KEPT_EVENTS = 20_000;
const ASK_AGAIN = 2_000;
const GONE = "no-such-channel";
/** Components whose state may come with another `historyProblem`. */
const TELLING: ReadonlySet<string> = new Set(["history", "config"]);

interface Wish {
  readonly key: string;
  readonly query: string;
  readonly args: Readonly<Record<string, string>>;
  readonly missing: (world: World) => boolean;
  readonly snapshot: (value: unknown) => Snapshot;
}

export type Listener = (event: PageEvent, world: World) => void;

export class Store {
  /** What the screen shows: the world as of the last flush. */
  readonly world = signal<World>(NOTHING);
  readonly link = signal<Link>({ state: "connecting", since: Date.now() });
  readonly welcome = signal<Welcome | null>(null);
  /** After a loss so long that all had to be asked for again: how long it took, and when it ended. */
  readonly returned = signal<{ after: number; at: number } | null>(null);
  /** Slices that could not be had, by key; they are asked for again. */
  readonly problems = signal<Readonly<Record<string, Problem>>>({});
  /** Counts how often all had to be asked for: what was said in between may not have been heard. */
  readonly lives = signal(0);
  readonly isLive = computed(() => this.link.value.state === "live");

  private now: World = NOTHING;
  private flushing: ReturnType<typeof setTimeout> | undefined;
  private readonly wishes = new Map<string, Wish>();
  private readonly asking = new Map<string, number>();
  private readonly paging = new Map<string, Promise<void>>();
  private tickets = 0;
  private lostFor = 0;
  /** Every event since `keptFrom`, for the answers that are still on their way. */
  private kept: PageEvent[] = [];
  private keptFrom = 0;
  /** The place in the log of our own last command: who answers must have got there. */
  private written = 0;
  private readonly listeners = new Set<Listener>();
  private readonly connection: Connection;

  constructor(url: string, token: string, open?: Opener) {
    this.connection = new Connection(
      url,
      token,
      {
        cursor: () => this.cursor(),
        link: (link) => this.linked(link),
        welcome: (frame) => this.welcomed(frame),
        events: (epoch, events) => this.heard(epoch, events),
        at: (seq) => (this.now = { ...this.now, seq: Math.max(seq, this.now.seq) }),
        resync: (epoch, seq) => this.restart(epoch, seq),
      },
      open,
    );
    for (const wish of STANDING) this.wishes.set(wish.key, wish);
  }

  connect(): void {
    this.connection.connect();
  }

  reopen(token: string): void {
    this.connection.reopen(token);
  }

  /** Hear every event after it was folded. Returns how to stop. */
  onEvent(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Keep this conversation in the world from now on. */
  openConversation(channel: string): void {
    this.want({
      key: `conversation ${channel}`,
      query: "Conversation",
      args: { channel },
      missing: ({ conversations }) => conversations[channel]?.stale ?? true,
      snapshot: (value) => ({ of: "conversation", channel, value }) as Snapshot,
    });
  }

  /** Keep an agent's slash commands in the world from now on. */
  openCommands(agent: string): void {
    this.want({
      key: `commands ${agent}`,
      query: "Commands",
      args: { agent },
      missing: ({ commands }) => commands[agent]?.stale ?? true,
      snapshot: (value) => ({ of: "commands", agent, value }) as Snapshot,
    });
  }

  /** Keep an agent's log in the world until `closeLogs`. */
  openLogs(agent: string): void {
    this.want({
      key: `logs ${agent}`,
      query: "Logs",
      args: { agent },
      missing: ({ logs }) => logs[agent]?.stale ?? true,
      snapshot: (value) => ({ of: "logs", agent, value }) as Snapshot,
    });
  }

  closeLogs(agent: string): void {
    this.wishes.delete(`logs ${agent}`);
    this.asking.delete(`logs ${agent}`);
    const { [agent]: _, ...logs } = this.now.logs;
    this.become({ ...this.now, logs });
  }

  /** The page of messages before the ones that are there. */
  older(channel: string): Promise<void> {
    const running = this.paging.get(channel);
    if (running !== undefined) return running;
    const asked = this.askOlder(channel).finally(() => this.paging.delete(channel));
    this.paging.set(channel, asked);
    return asked;
  }

  private async askOlder(channel: string): Promise<void> {
    const state = this.now.conversations[channel]?.value;
    const before = state === undefined ? null : oldest(state);
    if (before === null || !state?.more) return;
    const { value } = await this.connection.call("Older", { channel, before });
    const now = this.now.conversations[channel]?.value;
    if (now === undefined || oldest(now) !== before) return; // asked anew meanwhile
    this.become(withOlder(this.now, channel, value as Page));
    this.flush();
  }

  /** Give a command; `id` makes it the same one when it is given again. */
  async command(
    name: string,
    args: Readonly<Record<string, unknown>>,
    id: string = newId(),
  ): Promise<Answer> {
    const answer = await this.connection.call(name, args, { command: id });
    this.written = Math.max(this.written, answer.seq ?? 0);
    return answer;
  }

  query(name: string, args: Readonly<Record<string, unknown>>): Promise<Answer> {
    return this.connection.call(name, args);
  }

  /** Ask again for a slice that no event tells about. */
  refresh(key: "config" | "agents"): void {
    const wish = this.wishes.get(key);
    if (wish !== undefined && !this.asking.has(key)) void this.ask(wish);
  }

  private want(wish: Wish): void {
    if (this.wishes.has(wish.key)) return;
    this.wishes.set(wish.key, wish);
    this.askMissing();
  }

  private cursor(): Cursor | null {
    return this.now.epoch === 0 ? null : { epoch: this.now.epoch, seq: this.now.seq };
  }

  private linked(link: Link): void {
    const before = this.link.peek();
    if (link.state !== "live") this.returned.value = null;
    else if ("since" in before) this.lostFor = Date.now() - before.since;
    this.link.value = link;
  }

  private welcomed(frame: Welcome): void {
    this.welcome.value = frame;
    if (frame.resumed) return this.askMissing();
    if (this.now.epoch !== 0) this.returned.value = { after: this.lostFor, at: Date.now() };
    this.restart(frame.epoch, frame.seq);
  }

  private restart(epoch: number, seq: number): void {
    this.asking.clear();
    this.kept = [];
    this.keptFrom = seq;
    if (epoch !== this.now.epoch) this.written = 0;
    this.become(cut(this.now, epoch, seq));
    this.lives.value++;
    this.askMissing();
  }

  private heard(epoch: number, events: readonly PageEvent[]): void {
    if (epoch !== this.now.epoch) {
      // A log with another history began: what is shown has to be asked for again.
      this.restart(epoch, (events[0]?.seq ?? 1) - 1);
    }
    for (const event of events) {
      if (event.seq <= this.now.seq) continue; // said again after a resume
      this.keep(event);
      this.become(fold(this.now, event));
      for (const listener of this.listeners) listener(event, this.now);
      if (event.type === "component:state" && TELLING.has(event.data.component)) {
        this.refresh("config"); // only the query says what is wrong with the history
      }
    }
    this.askMissing();
  }

  private keep(event: PageEvent): void {
    if (this.asking.size === 0) return;
    this.kept.push(event);
    if (this.kept.length <= KEPT_EVENTS) return;
    this.kept = [];
    this.keptFrom = event.seq;
  }

  private askMissing(): void {
    if (!this.isLive.peek()) return;
    for (const wish of this.wishes.values()) {
      if (wish.missing(this.now) && !this.asking.has(wish.key)) void this.ask(wish);
    }
  }

  private async ask(wish: Wish): Promise<void> {
    const ticket = ++this.tickets;
    if (this.asking.size === 0) {
      this.kept = [];
      this.keptFrom = this.now.seq;
    }
    this.asking.set(wish.key, ticket);
    const after = Math.max(this.now.seq, this.written);
    try {
      const answer = await this.connection.call(wish.query, wish.args, { after });
      if (this.asking.get(wish.key) !== ticket) return; // asked anew, or not wanted any more
      this.asking.delete(wish.key);
      this.complain(wish.key, null);
      this.answered(wish, answer, after);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (this.asking.get(wish.key) !== ticket) return;
      this.complain(wish.key, error.problem);
      if (error.problem.id === GONE) {
        this.wishes.delete(wish.key);
        this.asking.delete(wish.key);
        return;
      }
      // It stays among what is being asked, so that events don't hurry the next try.
      setTimeout(() => {
        if (this.asking.get(wish.key) !== ticket) return;
        this.asking.delete(wish.key);
        this.askMissing();
      }, ASK_AGAIN);
    }
  }

  private answered(wish: Wish, answer: Answer, after: number): void {
    const asOf = answer.asOf?.seq ?? after;
    if (asOf < this.keptFrom) return this.askMissing(); // events between were let go
    let next = withSnapshot(this.now, wish.snapshot(answer.value), asOf);
    for (const event of this.kept) if (event.seq > asOf) next = fold(next, event);
    this.become(next);
    this.flush();
    this.askMissing();
  }

  private complain(key: string, problem: Problem | null): void {
    const { [key]: before, ...others } = this.problems.peek();
    if (problem !== null) this.problems.value = { ...others, [key]: problem };
    else if (before !== undefined) this.problems.value = others;
  }

  private become(world: World): void {
    this.now = world;
    this.flushing ??= setTimeout(() => this.flush(), FLUSH_EVERY);
  }

  private flush(): void {
    clearTimeout(this.flushing);
    this.flushing = undefined;
    batch(() => (this.world.value = this.now));
  }
}

const STANDING: readonly Wish[] = [
  standing("agents", "ListAgents"),
  standing("channels", "ListChannels"),
  standing("config", "Current"),
  standing("components", "Components"),
  standing("permissions", "Permissions"),
];

function standing(
  of: "agents" | "channels" | "config" | "components" | "permissions",
  query: string,
): Wish {
  return {
    key: of,
    query,
    args: {},
    missing: (world) => world[of]?.stale ?? true,
    snapshot: (value) => ({ of, value }) as Snapshot,
  };
}

export function newId(): string {
  return crypto.randomUUID();
}
