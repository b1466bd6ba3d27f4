// The page and its gateway: what is lost comes again, once, and nothing is asked for in vain.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Outbox } from "../src/bus/outbox";
import type { ClientFrame, PageEvent, ServerFrame } from "../src/bus/protocol";
import { backOff } from "../src/bus/socket";
import { Store } from "../src/bus/store";
import type { Message } from "../src/bus/schema.gen";

const CHANNEL = "c1.0";
const ANSWER = "m0000000000000005.0";

/** One socket as the gateway sees it. */
class FakeSocket {
  static readonly OPEN = 1;
  readyState = 0;
  readonly said: ClientFrame[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((close: { code: number }) => void) | null = null;

  send(data: string): void {
    this.said.push(JSON.parse(data) as ClientFrame);
  }

  close(): void {
    this.readyState = 3;
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  lose(code = 1006): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }

  frame(frame: ServerFrame): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  welcome(seq: number, resumed = false, epoch = 1): void {
    this.frame({ t: "welcome", v: 1, epoch, seq, resumed, version: "0", instance: "default", config: "/x" });
  }

  events(...e: PageEvent[]): void {
    this.frame({ t: "ev", epoch: 1, e });
  }

  calls(name: string): (ClientFrame & { t: "call" })[] {
    return this.said.filter((frame): frame is ClientFrame & { t: "call" } => frame.t === "call" && frame.name === name);
  }

  answer(name: string, value: unknown, seq: number): void {
    const call = this.calls(name).at(-1);
    if (call === undefined) throw new Error(`nobody asked for ${name}`);
    this.frame({ t: "result", id: call.id, ok: true, value, asOf: { epoch: 1, seq } });
  }

  refuse(name: string, id: string): void {
    const call = this.calls(name).at(-1);
    if (call === undefined) throw new Error(`nobody asked for ${name}`);
    this.frame({ t: "result", id: call.id, ok: false, problem: { id, message: id, params: {}, warning: false } });
  }
}

let sockets: FakeSocket[] = [];
let store: Store;

function socket(): FakeSocket {
  const last = sockets.at(-1);
  if (last === undefined) throw new Error("no socket was opened");
  return last;
}

function connected(seq = 100): FakeSocket {
  store.connect();
  socket().open();
  socket().welcome(seq);
  return socket();
}

function growing(rev: number, text: string, done = false): Message {
  return {
    id: ANSWER, channel: CHANNEL, createdAt: 1, role: "agent", agent: "demo",
    parts: [{ type: "text", text }], done, queued: false, rev,
  };
}

function conversation(messages: readonly Message[]): unknown {
  const channel = { id: CHANNEL, name: "", description: "", direct: "demo", members: ["demo"] };
  return { channel, messages, more: false, busy: true, queued: 0, usage: {}, permissions: [] };
}

function delta(seq: number, rev: number, text: string): PageEvent {
  const data = { channel: CHANNEL, messageId: ANSWER, index: 0, kind: "text", rev, text };
  return { seq, ts: seq, type: "message:delta", data };
}

/** Promises settle, then the screen is told. */
async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(60);
}

function shown(): unknown {
  return store.world.value.conversations[CHANNEL]?.value.messages[0]?.parts[0];
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeSocket);
  localStorage.clear();
  sockets = [];
  store = new Store("ws://x/ws", "secret", () => {
    const made = new FakeSocket();
    sockets.push(made);
    return made as unknown as WebSocket;
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the connection", () => {
  it("says hello with its token, and asks for every slice as of the welcome", () => {
    const first = connected(100);
    expect(first.said[0]).toMatchObject({ t: "hello", v: 1, token: "secret", resume: null });
    for (const name of ["ListAgents", "ListChannels", "Current", "Components", "Permissions"]) {
      expect(first.calls(name)).toMatchObject([{ after: 100 }]);
    }
  });

  it("resumes where it was, and asks for nothing again", async () => {
    const first = connected(100);
    for (const [name, value] of [["ListAgents", []], ["ListChannels", []], ["Current", { problems: [], warnings: [] }], ["Components", []], ["Permissions", []]] as const) {
      first.answer(name, value, 100);
    }
    first.events(delta(105, 1, "x"));
    await settled();
    first.lose();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sockets).toHaveLength(2);
    socket().open();
    expect(socket().said[0]).toMatchObject({ t: "hello", resume: { epoch: 1, seq: 105 } });
    socket().welcome(110, true);
    await settled();
    expect(socket().said.filter(({ t }) => t === "call")).toEqual([]);
  });

  it("resumes from where skipped events had moved it", async () => {
    connected(100).frame({ t: "at", seq: 140 });
    socket().lose();
    await vi.advanceTimersByTimeAsync(1_000);
    socket().open();
    expect(socket().said[0]).toMatchObject({ resume: { epoch: 1, seq: 140 } });
  });

  it("is opened again when a ping stays without any answer", async () => {
    connected();
    await vi.advanceTimersByTimeAsync(4_000);
    expect(socket().said.at(-1)).toMatchObject({ t: "ping" });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(sockets).toHaveLength(2);
  });

  it("stays while something is heard", async () => {
    connected();
    for (let beat = 0; beat < 10; beat++) {
      await vi.advanceTimersByTimeAsync(3_000);
      socket().frame({ t: "pong", id: 0, seq: 100 });
    }
    expect(sockets).toHaveLength(1);
  });

  it("gives up a socket that never says welcome", async () => {
    store.connect();
    socket().open();
    await vi.advanceTimersByTimeAsync(9_000);
    expect(sockets.length).toBeGreaterThan(1);
  });

  it("isn't tried again with a token that was refused", async () => {
    store.connect();
    socket().open();
    socket().lose(4401);
    expect(store.link.value).toEqual({ state: "refused" });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sockets).toHaveLength(1);
  });

  it("is tried at once when the network is back", async () => {
    connected();
    socket().lose();
    store.connect();
    expect(sockets).toHaveLength(2);
  });

  it("waits longer each time, 8 s at most", () => {
    expect([0, 1, 2].map((failures) => Math.round(backOff(failures, 0.5)))).toEqual([300, 510, 867]);
    expect(backOff(0, 0)).toBeCloseTo(210);
    expect(backOff(50, 0.99)).toBe(8_000);
  });
});

describe("a conversation", () => {
  it("is the snapshot and what came after it, also while it was on its way", async () => {
    const first = connected(100);
    store.openConversation(CHANNEL);
    first.events(delta(101, 2, "b"), delta(102, 3, "c"));
    first.answer("Conversation", conversation([growing(2, "ab")]), 101);
    await settled();
    expect(shown()).toEqual({ type: "text", text: "abc" });
    first.events(delta(103, 4, "d"));
    await settled();
    expect(shown()).toEqual({ type: "text", text: "abcd" });
  });

  it("is asked for again when a delta is missing, and then whole", async () => {
    const first = connected(100);
    store.openConversation(CHANNEL);
    first.answer("Conversation", conversation([growing(1, "a")]), 100);
    await settled();
    first.events(delta(103, 3, "c"));
    expect(first.calls("Conversation")).toHaveLength(2);
    expect(first.calls("Conversation")[1]).toMatchObject({ after: 103 });
    first.events(delta(104, 4, "d"));
    first.answer("Conversation", conversation([growing(3, "abc")]), 103);
    await settled();
    expect(shown()).toEqual({ type: "text", text: "abcd" });
  });

  it("is asked for again after a cut, and shown until then", async () => {
    const first = connected(100);
    store.openConversation(CHANNEL);
    first.answer("Conversation", conversation([growing(1, "a")]), 100);
    await settled();
    first.frame({ t: "resync", epoch: 1, seq: 900 });
    await settled();
    expect(shown()).toEqual({ type: "text", text: "a" });
    first.answer("Conversation", conversation([growing(7, "a…z", true)]), 900);
    await settled();
    expect(shown()).toEqual({ type: "text", text: "a…z" });
  });

  it("begins anew with an epoch that isn't the one it knows", async () => {
    const first = connected(100);
    store.openConversation(CHANNEL);
    first.answer("Conversation", conversation([growing(1, "a")]), 100);
    await settled();
    first.lose();
    await vi.advanceTimersByTimeAsync(1_000);
    socket().open();
    socket().welcome(5_000, false, 2);
    expect(socket().calls("Conversation")).toMatchObject([{ after: 5_000 }]);
  });

  it("is asked for again when its owner could not answer", async () => {
    const first = connected(100);
    store.openConversation(CHANNEL);
    first.refuse("Conversation", "not-answering");
    await settled();
    expect(store.problems.value[`conversation ${CHANNEL}`]?.id).toBe("not-answering");
    await vi.advanceTimersByTimeAsync(2_000);
    first.answer("Conversation", conversation([growing(1, "a")]), 100);
    await settled();
    expect(store.problems.value).toEqual({});
    expect(shown()).toEqual({ type: "text", text: "a" });
  });

  it("isn't asked for again once it is gone", async () => {
    const first = connected(100);
    store.openConversation(CHANNEL);
    first.refuse("Conversation", "no-such-channel");
    await vi.advanceTimersByTimeAsync(10_000);
    first.frame({ t: "pong", id: 0, seq: 100 });
    expect(first.calls("Conversation")).toHaveLength(1);
  });

  it("reads what one has just written", async () => {
    const first = connected(100);
    const made = store.command("Direct", { agent: "demo" });
    const call = first.calls("Direct")[0];
    first.frame({ t: "result", id: call?.id ?? 0, ok: true, value: CHANNEL, seq: 130 });
    await made;
    store.openConversation(CHANNEL);
    expect(first.calls("Conversation")).toMatchObject([{ after: 130 }]);
  });
});

describe("a text that is sent", () => {
  it("is sent again with the same id when the connection was lost before the answer", async () => {
    const first = connected();
    const outbox = new Outbox(store, localStorage);
    outbox.send(CHANNEL, "hello");
    const [sent] = first.calls("Send");
    first.lose();
    await vi.advanceTimersByTimeAsync(1_000);
    socket().open();
    socket().welcome(100, true);
    const [again] = socket().calls("Send");
    expect(again?.command).toBe(sent?.command);
    socket().answer("Send", ANSWER, 101);
    await settled();
    expect(outbox.entries.value).toMatchObject([{ message: ANSWER, problem: null }]);
    outbox.arrived(new Set([ANSWER]));
    expect(outbox.entries.value).toEqual([]);
  });

  it("is known as accepted by the event, before the answer to the call comes", () => {
    const first = connected();
    const outbox = new Outbox(store, localStorage);
    outbox.send(CHANNEL, "hello");
    const id = first.calls("Send")[0]?.command ?? "";
    first.events({ seq: 101, ts: 0, type: "cmd:result", data: { id, ok: true, value: ANSWER } });
    expect(outbox.entries.value).toMatchObject([{ message: ANSWER }]);
  });

  it("outlives a reload of the page, with its id", () => {
    const first = connected();
    new Outbox(store, localStorage).send(CHANNEL, "hello");
    const reloaded = new Outbox(store, localStorage);
    reloaded.restore(Date.now());
    const ids = first.calls("Send").map(({ command }) => command);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it("isn't forgotten when another tab sends one of its own", () => {
    connected();
    new Outbox(store, localStorage).send(CHANNEL, "mine");
    new Outbox(store, localStorage).send(CHANNEL, "other");
    const reloaded = new Outbox(store, localStorage);
    reloaded.restore(Date.now());
    expect(reloaded.entries.value.map(({ text }) => text).sort()).toEqual(["mine", "other"]);
  });

  it("leaves nothing behind once it has arrived", async () => {
    const first = connected();
    new Outbox(store, localStorage).send(CHANNEL, "hello");
    first.answer("Send", ANSWER, 101);
    await settled();
    expect(localStorage.length).toBe(0);
  });

  it("isn't sent unasked when it is too old to know what became of it", () => {
    const first = connected();
    new Outbox(store, localStorage).send(CHANNEL, "hello");
    const reloaded = new Outbox(store, localStorage);
    reloaded.restore(Date.now() + 2 * 3_600_000);
    expect(first.calls("Send")).toHaveLength(1);
    expect(reloaded.entries.value).toMatchObject([{ text: "hello", problem: { id: "not-confirmed" } }]);
  });

  it("stays in place with the reason when it is refused, and is retried by another id", async () => {
    const first = connected();
    const outbox = new Outbox(store, localStorage);
    outbox.send(CHANNEL, "hello");
    first.refuse("Send", "no-such-channel");
    await settled();
    expect(outbox.entries.value).toMatchObject([{ text: "hello", problem: { id: "no-such-channel" } }]);
    outbox.retry(outbox.entries.value[0]?.id ?? "");
    const ids = first.calls("Send").map(({ command }) => command);
    expect(new Set(ids).size).toBe(2);
  });
});

describe("the screen", () => {
  it("is told at most every 50 ms, however many events come", async () => {
    const first = connected(100);
    store.openConversation(CHANNEL);
    first.answer("Conversation", conversation([growing(0, "")]), 100);
    await settled();
    let flushes = 0;
    const stop = store.world.subscribe(() => flushes++);
    flushes = 0;
    for (let rev = 1; rev <= 1_000; rev++) {
      first.events(delta(100 + rev, rev, "x"));
      if (rev % 100 === 0) await vi.advanceTimersByTimeAsync(10);
    }
    await settled();
    expect(flushes).toBeLessThanOrEqual(4);
    expect(shown()).toEqual({ type: "text", text: "x".repeat(1_000) });
    stop();
  });
});

it("refuses a call that no frame can hold, whatever it asks, and stays connected", async () => {
  const gateway = connected();
  const asked = store.query("Validate", { text: "é".repeat(500_000) });
  await expect(asked).rejects.toMatchObject({ problem: { id: "too-long" } });
  expect(gateway.calls("Validate")).toEqual([]);
  void store.query("Validate", { text: "short" });
  expect(gateway.calls("Validate")).toHaveLength(1);
});
