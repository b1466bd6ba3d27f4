// A stretch of a conversation that doesn't reach to its end: where a found message stands. It grows
// at either side by pages, and what happens to its messages meanwhile happens here too.
import { signal } from "@preact/signals";
import { compareIds, grown, oldest, reading, updated, type ConversationState } from "../bus/conversation";
import type { PageEvent } from "../bus/protocol";
import type { AroundView, Message, Page, Problem } from "../bus/schema.gen";
import { RefusedError } from "../bus/socket";
import { store } from "../shell/app";
import { SHOWN } from "./window";

export interface Stretch {
  readonly state: ConversationState;
  /** Whether there are newer ones than these. */
  readonly later: boolean;
}

export function stretchOf({ messages, more, later }: AroundView): Stretch {
  return { state: { messages: [...messages].sort(reading), more, usage: {}, times: {} }, later };
}

/** With a page of older messages; what is then too much goes at the other end. */
export function withOlder({ state, later }: Stretch, page: Page): Stretch {
  const messages = [...page.messages, ...state.messages].sort(reading);
  const cut = messages.length > SHOWN;
  return { state: { ...state, messages: messages.slice(0, SHOWN), more: page.more }, later: later || cut };
}

export function withNewer({ state }: Stretch, page: Page): Stretch {
  const messages = [...state.messages, ...page.messages].sort(reading);
  const cut = messages.length > SHOWN;
  return { state: { ...state, messages: messages.slice(-SHOWN), more: state.more || cut }, later: page.more };
}

/** With what an event tells of its messages; `null` where something before it is missing. */
export function heard(stretch: Stretch, channel: string, event: PageEvent): Stretch | null {
  const { state } = stretch;
  if (event.type === "message:updated" && event.data.channel === channel) {
    const { message } = event.data;
    if (has(state, message.id)) return { ...stretch, state: updated(state, message, event.ts) };
    // One that isn't here was said after all of these, or far before.
    const last = newest(state.messages);
    return last !== null && compareIds(message.id, last) > 0 ? { ...stretch, later: true } : stretch;
  }
  if (event.type === "message:delta" && event.data.channel === channel && has(state, event.data.messageId)) {
    const next = grown(state, event.data, event.ts);
    return next === null ? null : { ...stretch, state: next };
  }
  return stretch;
}

function has(state: ConversationState, id: string): boolean {
  return state.messages.some((message) => message.id === id);
}

export function newest(messages: readonly Message[]): string | null {
  let last: string | null = null;
  for (const { id } of messages) if (last === null || compareIds(id, last) > 0) last = id;
  return last;
}

/** One stretch while somebody looks at it. */
export class Past {
  readonly stretch = signal<Stretch | null>(null);
  readonly problem = signal<Problem | null>(null);
  readonly loading = signal(false);
  private events: PageEvent[] = [];
  private readonly stop: () => void;

  constructor(
    private readonly channel: string,
    private readonly message: string,
  ) {
    this.stop = store.onEvent((event) => this.hear(event));
    void this.begin();
  }

  close(): void {
    this.stop();
  }

  older(): Promise<void> {
    const now = this.stretch.peek();
    const before = now === null || !now.state.more ? null : oldest(now.state);
    if (before === null) return Promise.resolve();
    return this.page("Older", { before }, withOlder);
  }

  newer(): Promise<void> {
    const now = this.stretch.peek();
    const after = now === null || !now.later ? null : newest(now.state.messages);
    if (after === null) return Promise.resolve();
    return this.page("Newer", { after }, withNewer);
  }

  async begin(): Promise<void> {
    const { channel, message: messageId } = this;
    this.events = [];
    await this.asking(async () => {
      const { value, asOf } = await store.query("Around", { channel, messageId });
      let made = stretchOf(value as AroundView);
      for (const event of this.events) {
        if (event.seq > (asOf?.seq ?? 0)) made = heard(made, channel, event) ?? made;
      }
      this.stretch.value = made;
    });
  }

  private hear(event: PageEvent): void {
    const now = this.stretch.peek();
    if (now === null) return void this.events.push(event);
    const next = heard(now, this.channel, event);
    if (next !== null) this.stretch.value = next;
    else void this.begin();
  }

  private async page(
    query: "Older" | "Newer",
    from: Readonly<Record<string, string>>,
    join: (stretch: Stretch, page: Page) => Stretch,
  ): Promise<void> {
    if (this.loading.peek()) return;
    await this.asking(async () => {
      const { value } = await store.query(query, { channel: this.channel, ...from });
      const now = this.stretch.peek();
      if (now !== null) this.stretch.value = join(now, value as Page);
    });
  }

  private async asking(work: () => Promise<void>): Promise<void> {
    this.loading.value = true;
    try {
      await work();
      this.problem.value = null;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.problem.value = error.problem;
    } finally {
      this.loading.value = false;
    }
  }
}
