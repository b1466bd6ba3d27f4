// The connection to the gateway: one WebSocket, opened again whenever it is lost, resumed by
// (epoch, seq), with calls that outlive it. Knows frames; what they mean is the store's business.
import { CLOSED, LARGEST_FRAME, PROTOCOL } from "./protocol";
import { utf8Length } from "./text";
import type { ClientFrame, PageEvent, ServerFrame, Wanted, Welcome } from "./protocol";
import type { Cursor, Problem } from "./schema.gen";

const PING_EVERY = 4_000;
const WELCOME_WITHIN = 8_000;
const FIRST_WAIT = 300;
const LONGEST_WAIT = 8_000;
const WANTED: readonly Wanted[] = ["public", "delta", "log", "result"];

export type Link =
  | { state: "connecting"; since: number }
  | { state: "live" }
  | { state: "waiting"; since: number; until: number }
  | { state: "refused" }
  | { state: "outdated" };

/** What the socket tells its owner. Frames come in order; `cursor` is asked for at each hello. */
export interface Listener {
  cursor(): Cursor | null;
  link(link: Link): void;
  welcome(welcome: Welcome): void;
  events(epoch: number, events: readonly PageEvent[]): void;
  at(seq: number): void;
  resync(epoch: number, seq: number): void;
}

export interface Answer {
  readonly value: unknown;
  readonly asOf: Cursor | null;
  readonly seq: number | null;
}

/** The other side said no, and why. */
export class RefusedError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
    this.name = "RefusedError";
  }
}

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly command?: string;
  readonly after?: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: RefusedError) => void;
}

export type Opener = (url: string) => WebSocket;

export class Connection {
  private socket: WebSocket | null = null;
  private live = false;
  private lost: number | null = null;
  private failures = 0;
  private ids = 0;
  /** When anything was last heard, and when we last asked for it. */
  private heard = 0;
  private pinged = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly calls = new Map<number, Call>();

  constructor(
    private readonly url: string,
    private token: string,
    private readonly listener: Listener,
    private readonly open: Opener = (address) => new WebSocket(address),
    private readonly wanted: readonly Wanted[] = WANTED,
  ) {}

  /** Begin, or try at once instead of waiting longer (the network is back, the tab is seen). */
  connect(): void {
    if (this.socket !== null) {
      if (this.live) this.ping();
      return;
    }
    clearTimeout(this.timer);
    this.lost ??= Date.now();
    this.listener.link({ state: "connecting", since: this.lost });
    const socket = this.open(this.url);
    this.socket = socket;
    socket.onopen = () => this.hello(socket);
    socket.onmessage = ({ data }) => this.received(socket, String(data));
    socket.onclose = ({ code }) => this.closed(socket, code);
    this.timer = setTimeout(() => this.drop(socket), WELCOME_WITHIN);
  }

  /** End it for good. What was asked for gets no answer any more. */
  close(): void {
    clearTimeout(this.timer);
    const { socket } = this;
    this.socket = null;
    this.live = false;
    this.calls.clear();
    if (socket === null) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  /** Go on with another token, after the first was refused. */
  reopen(token: string): void {
    this.token = token;
    this.failures = 0;
    if (this.socket !== null) this.drop(this.socket);
    this.connect();
  }

  /**
   * Ask for something. The call waits for a connection, and is made again on the next one when the
   * answer got lost: a query changes nothing, and a command is known by its id.
   */
  call(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    extra: { command?: string; after?: number } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const id = ++this.ids;
      this.calls.set(id, { name, args, ...extra, resolve, reject });
      if (this.live) this.ask(id);
    });
  }

  private hello(socket: WebSocket): void {
    if (socket !== this.socket) return;
    const resume = this.listener.cursor();
    this.say({ t: "hello", v: PROTOCOL, token: this.token, resume, want: this.wanted });
  }

  private received(socket: WebSocket, data: string): void {
    if (socket !== this.socket) return;
    this.heard = Date.now();
    const frame = JSON.parse(data) as ServerFrame;
    switch (frame.t) {
      case "welcome":
        return this.welcomed(frame);
      case "ev":
        return this.listener.events(frame.epoch, frame.e);
      case "at":
        return this.listener.at(frame.seq);
      case "resync":
        return this.listener.resync(frame.epoch, frame.seq);
      case "result": {
        const call = this.calls.get(frame.id);
        this.calls.delete(frame.id);
        if (frame.ok) {
          call?.resolve({ value: frame.value, asOf: frame.asOf ?? null, seq: frame.seq ?? null });
        } else {
          call?.reject(new RefusedError(frame.problem));
        }
        return;
      }
      case "pong":
        return;
    }
  }

  private welcomed(frame: Welcome): void {
    this.live = true;
    this.lost = null;
    this.failures = 0;
    this.listener.link({ state: "live" });
    const waiting = [...this.calls.keys()];
    this.listener.welcome(frame);
    for (const id of waiting) this.ask(id);
    this.pinged = 0;
    this.listenFor(PING_EVERY);
  }

  /** Silence since the last ping means that the other side is gone, whatever the socket says. */
  private beat(): void {
    const socket = this.socket;
    if (socket === null) return;
    if (this.pinged > this.heard) return this.drop(socket);
    this.ping();
  }

  private ping(): void {
    this.pinged = Date.now();
    this.say({ t: "ping", id: ++this.ids });
    this.listenFor(PING_EVERY);
  }

  private listenFor(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.beat(), ms);
  }

  private ask(id: number): void {
    const call = this.calls.get(id);
    if (call === undefined) return;
    const { name, args, command, after } = call;
    const text = JSON.stringify({ t: "call", id, name, args, command, after } satisfies ClientFrame);
    if (utf8Length(text) > LARGEST_FRAME) {
      // The gateway would close over it, and be asked the same again, and so on.
      this.calls.delete(id);
      call.reject(new RefusedError(TOO_LONG));
    } else {
      this.put(text);
    }
  }

  private say(frame: ClientFrame): void {
    this.put(JSON.stringify(frame));
  }

  private put(text: string): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  /** A close would wait for the other side's; a lost one never answers. */
  private drop(socket: WebSocket): void {
    if (socket !== this.socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    this.closed(socket, 1006);
  }

  private closed(socket: WebSocket, code: number): void {
    if (socket !== this.socket) return;
    clearTimeout(this.timer);
    this.socket = null;
    this.live = false;
    this.lost ??= Date.now();
    if (code === CLOSED.badToken) return this.listener.link({ state: "refused" });
    if (code === CLOSED.version) return this.listener.link({ state: "outdated" });
    const wait = backOff(this.failures++, Math.random());
    this.listener.link({ state: "waiting", since: this.lost, until: Date.now() + wait });
    this.timer = setTimeout(() => this.connect(), wait);
  }
}

const TOO_LONG: Problem = {
  id: "too-long",
  message: "The text is longer than 1 MB. Shorten it, or put it into a file and name that.",
  params: {},
  warning: false,
};

/** How long to wait before try number `failures` (from 0), in ms; `chance` in [0, 1). */
export function backOff(failures: number, chance: number): number {
  const wait = FIRST_WAIT * 1.7 ** failures * (0.7 + 0.6 * chance);
  return Math.min(LONGEST_WAIT, wait);
}
