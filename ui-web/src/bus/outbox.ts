// Texts on their way to a channel. Each keeps its command id until the server said that it has it,
// over a lost connection and over a reload, so that nothing typed is lost or sent twice.
import { signal } from "@preact/signals";
import { RefusedError } from "./socket";
import { utf8Length } from "./text";
import { newId, type Store } from "./store";
import type { Problem } from "./schema.gen";

/** One key for each text, so that tabs don't overwrite what others have under way. */
const KEY = "sk.outbox.";
/** Bytes of a text that fit into a frame with what goes along: the gateway closes over a bigger one. */
const LONGEST = 990_000;
/** Outcomes of commands are kept a week at least; a text older than this is not sent unasked. */
const SENT_UNASKED = 3_600_000;

export interface Outgoing {
  readonly id: string;
  readonly channel: string;
  readonly text: string;
  readonly at: number;
  readonly problem: Problem | null;
  /** The message's id, once accepted: shown until the message itself is there. */
  readonly message: string | null;
}

export class Outbox {
  readonly entries = signal<readonly Outgoing[]>([]);

  constructor(
    private readonly store: Store,
    private readonly storage: Storage,
  ) {
    // The result stands behind the message itself: heard here, both are seen at once, and the text
    // never stands there twice while the answer to the call is on its way.
    store.onEvent((event) => {
      if (event.type !== "cmd:result" || !event.data.ok) return;
      const entry = this.entries.peek().find(({ id }) => id === event.data.id);
      if (entry?.message === null) this.amend(entry.id, { message: String(event.data.value) });
    });
  }

  /** Take up what an earlier life of this page left. */
  restore(now: number): void {
    const keys = Array.from({ length: this.storage.length }, (_, at) => this.storage.key(at) ?? "");
    const kept = keys
      .filter((key) => key.startsWith(KEY))
      .map((key) => JSON.parse(this.storage.getItem(key) ?? "null") as Outgoing)
      .sort((one, other) => one.at - other.at);
    this.entries.value = kept.map((entry) =>
      entry.problem === null && now - entry.at > SENT_UNASKED
        ? { ...entry, problem: UNCERTAIN }
        : entry,
    );
    for (const entry of this.entries.value) if (entry.problem === null) void this.deliver(entry);
  }

  send(channel: string, text: string): void {
    const problem = utf8Length(JSON.stringify(text)) > LONGEST ? TOO_LONG : null;
    const entry = { id: newId(), channel, text, at: Date.now(), problem, message: null };
    this.set([...this.entries.value, entry]);
    if (problem === null) void this.deliver(entry);
  }

  /** The same text once more: by a new id, as the old one has its outcome. */
  retry(id: string): void {
    const entry = this.entries.value.find((one) => one.id === id);
    if (entry === undefined) return;
    this.drop(id);
    this.send(entry.channel, entry.text);
  }

  drop(id: string): void {
    this.set(this.entries.value.filter((entry) => entry.id !== id));
  }

  /** Messages that have arrived need no stand-in. */
  arrived(messages: ReadonlySet<string>): void {
    const left = this.entries.value.filter(
      ({ message }) => message === null || !messages.has(message),
    );
    if (left.length !== this.entries.value.length) this.set(left);
  }

  private async deliver({ id, channel, text }: Outgoing): Promise<void> {
    try {
      const { value } = await this.store.command("Send", { channel, text }, id);
      this.amend(id, { message: String(value) });
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.amend(id, { problem: error.problem });
    }
  }

  private amend(id: string, change: Partial<Outgoing>): void {
    this.set(
      this.entries.value.map((entry) => (entry.id === id ? { ...entry, ...change } : entry)),
    );
  }

  private set(entries: readonly Outgoing[]): void {
    const kept = new Map(entries.map((entry) => [entry.id, entry]));
    for (const { id } of this.entries.value) {
      if (kept.get(id)?.message !== null) this.storage.removeItem(KEY + id);
    }
    for (const entry of entries) {
      if (entry.message === null) this.storage.setItem(KEY + entry.id, JSON.stringify(entry));
    }
    this.entries.value = entries;
  }
}

const UNCERTAIN: Problem = {
  id: "not-confirmed",
  message: "This page was closed before it was known whether the message had been sent.",
  params: {},
  warning: false,
};

const TOO_LONG: Problem = {
  id: "too-long",
  message: "The text is longer than 1 MB. Shorten it, or put it into a file and name that.",
  params: {},
  warning: false,
};
