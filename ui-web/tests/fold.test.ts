// What the page holds equals what happened, however snapshot and events met.
import { describe, expect, it } from "vitest";
import { merged, opened, reading } from "../src/bus/conversation";
import { fold } from "../src/bus/fold";
import type { PageEvent } from "../src/bus/protocol";
import { utf8Length, wordsOf } from "../src/bus/text";
import type { ConversationView, Message, Part, ToolCall } from "../src/bus/schema.gen";
import { cut, NOTHING, withOlder, withSnapshot, type World } from "../src/bus/world";

const CHANNEL = "c0000000000000001.0";

function id(seq: number, count = 0): string {
  return `m${String(seq).padStart(16, "0")}.${count}`;
}

function message(seq: number, more: Partial<Message> = {}): Message {
  return {
    id: id(seq),
    channel: CHANNEL,
    createdAt: seq,
    role: "agent",
    agent: "demo",
    parts: [],
    done: true,
    queued: false,
    rev: 0,
    ...more,
  };
}

function view(messages: readonly Message[], more = false): ConversationView {
  const channel = { id: CHANNEL, name: "", description: "", direct: "demo", members: ["demo"] };
  return { channel, messages, more, busy: false, queued: 0, then: [], usage: {}, permissions: [] };
}

function event<T extends PageEvent["type"]>(
  seq: number,
  type: T,
  data: Extract<PageEvent, { type: T }>["data"],
): PageEvent {
  return { seq, ts: seq * 1000, type, data } as PageEvent;
}

function delta(seq: number, rev: number, text: string, index = 0): PageEvent {
  const messageId = id(5);
  return event(seq, "message:delta", { channel: CHANNEL, messageId, index, kind: "text", rev, text });
}

function replaced(seq: number, rev: number, part: Part, index: number): PageEvent {
  const messageId = id(5);
  const data = { channel: CHANNEL, messageId, index, kind: part.type, rev, part };
  return event(seq, "message:delta", data);
}

function begun(seq: number): PageEvent {
  const growing = message(5, { done: false });
  return event(seq, "message:updated", { channel: CHANNEL, message: growing });
}

function opening(asOf = 0, messages: readonly Message[] = []): World {
  return withSnapshot(NOTHING, { of: "conversation", channel: CHANNEL, value: view(messages) }, asOf);
}

function words(world: World): string {
  const found = world.conversations[CHANNEL]?.value.messages.find((one) => one.id === id(5));
  return found === undefined ? "" : wordsOf(found);
}

const TOOL: ToolCall = {
  id: "t",
  title: "Read",
  kind: "read",
  status: "pending",
  input: "",
  output: "",
  locations: [],
  diffs: [],
};

const STREAM: readonly PageEvent[] = [
  begun(10),
  delta(11, 1, "Hello"),
  delta(12, 2, ", "),
  delta(13, 3, "wörld 👋"),
  replaced(14, 4, { type: "tool", tool: TOOL }, 1),
  replaced(15, 5, { type: "tool", tool: { ...TOOL, status: "completed" } }, 1),
  delta(16, 6, "and more", 2),
];

describe("a growing message", () => {
  it("is the sum of its deltas", () => {
    const world = STREAM.reduce(fold, opening());
    expect(words(world)).toBe("Hello, wörld 👋\n\nand more");
    expect(world.seq).toBe(16);
  });

  it.each(STREAM.map((_, at) => at))("is the same with a snapshot after event %i", (at) => {
    const history = STREAM.slice(0, at + 1).reduce(fold, opening());
    const asOf = history.seq;
    const messages = history.conversations[CHANNEL]?.value.messages ?? [];
    const joined = opening(asOf, messages);
    const world = STREAM.reduce(fold, joined);
    expect(world.conversations[CHANNEL]?.value.messages).toEqual(
      STREAM.reduce(fold, opening()).conversations[CHANNEL]?.value.messages,
    );
  });

  it("takes an event that comes again once", () => {
    const twice = STREAM.flatMap((one) => [one, one]);
    expect(words(twice.reduce(fold, opening()))).toBe("Hello, wörld 👋\n\nand more");
  });

  it("is asked for anew once an import put messages into it, and shows what it had meanwhile", () => {
    const before = opening(10, [message(5)]);
    const world = fold(before, event(11, "messages:imported", { channel: CHANNEL, count: 3 }));
    expect(world.conversations[CHANNEL]?.stale).toBe(true);
    expect(world.conversations[CHANNEL]?.value).toBe(before.conversations[CHANNEL]?.value);
    const old = fold(before, event(9, "messages:imported", { channel: CHANNEL, count: 3 }));
    expect(old.conversations[CHANNEL]?.stale).toBe(false);
  });

  it("is stale, and unchanged, once a delta is missing", () => {
    const world = [begun(10), delta(11, 1, "a"), delta(13, 3, "c"), delta(14, 4, "d")].reduce(
      fold,
      opening(),
    );
    expect(world.conversations[CHANNEL]?.stale).toBe(true);
    expect(words(world)).toBe("a");
  });

  it("says nothing of a message that is older than what is loaded", () => {
    const world = fold(opening(9, [message(7)]), delta(11, 9, "late"));
    expect(world.conversations[CHANNEL]?.stale).toBe(false);
  });

  it("says when its parts began and ended", () => {
    const done = { ...message(5, { parts: [{ type: "text", text: "x" }, { type: "tool", tool: TOOL }, { type: "text", text: "y" }] }) };
    const end = event(20, "message:updated", { channel: CHANNEL, message: done });
    const world = [...STREAM, end].reduce(fold, opening());
    expect(world.conversations[CHANNEL]?.value.times[id(5)]).toEqual({
      began: [11_000, 14_000, 16_000],
      ended: [14_000, 15_000, 20_000],
    });
  });
});

describe("a long text that is sent by reference when done", () => {
  const text = "wörld 👋".repeat(3_000);
  const reference = { sha256: "0".repeat(64), length: utf8Length(text), head: text.slice(0, 100) };
  const done = (length: number): PageEvent =>
    event(20, "message:updated", {
      channel: CHANNEL,
      message: message(5, { parts: [{ type: "text", text: { ...reference, length } }], rev: 1 }),
    });

  it("stays as it was folded when its length fits", () => {
    const world = [begun(10), delta(11, 1, text), done(reference.length)].reduce(fold, opening());
    expect(words(world)).toBe(text);
  });

  it("is the reference when it doesn't", () => {
    const world = [begun(10), delta(11, 1, text), done(7)].reduce(fold, opening());
    expect(words(world)).toBe(reference.head);
  });

  it.each(["", "abc", "é", "€uro", "👋🏽", "\ud800", "a\udc00b", "\ud800\ud800"])(
    "has the length that an encoder gives %j",
    (one) => expect(utf8Length(one)).toBe(new TextEncoder().encode(one).length),
  );
});

describe("the order of reading", () => {
  it("puts an answer after its question, and a queued question after both", () => {
    const first = message(1, { role: "user", agent: "" });
    const queued = message(3, { role: "user", agent: "" });
    const answer = message(4, { answers: id(1) });
    const second = message(9, { answers: id(3) });
    const order = [queued, second, answer, first].sort(reading).map((one) => one.id);
    expect(order).toEqual([id(1), id(4), id(3), id(9)]);
  });

  it("puts what came up meanwhile among the answers, in the order in which it came", () => {
    const asked = message(1, { role: "user", agent: "" });
    const queued = message(3, { role: "user", agent: "" });
    const joined = message(4, { role: "system", during: id(1) });
    const answer = message(5, { answers: id(1) });
    const ruled = message(6, { role: "system", during: id(1) });
    const order = [ruled, queued, answer, joined, asked].sort(reading).map((one) => one.id);
    expect(order).toEqual([id(1), id(4), id(5), id(6), id(3)]);
  });

  it("counts what one event made", () => {
    const ids = [message(1, { id: id(1, 10) }), message(1, { id: id(1, 9) })].sort(reading);
    expect(ids.map((one) => one.id)).toEqual([id(1, 9), id(1, 10)]);
  });
});

describe("a conversation that is asked for again", () => {
  const pages = (from: number, to: number): Message[] =>
    Array.from({ length: to - from + 1 }, (_, at) => message(from + at));

  it("keeps older pages that touch the new answer", () => {
    const before = { ...opened(view(pages(1, 30))), more: false };
    const now = merged(before, view(pages(20, 40), true));
    expect(now.messages.map((one) => one.id)).toEqual(pages(1, 40).map((one) => one.id));
    expect(now.more).toBe(false);
  });

  it("lets them go where a page is missing between", () => {
    const now = merged(opened(view(pages(1, 10))), view(pages(20, 40), true));
    expect(now.messages[0]?.id).toBe(id(20));
    expect(now.more).toBe(true);
  });

  it("takes an older page in front", () => {
    const page = { messages: pages(1, 4), more: false };
    const world = withOlder(opening(0, pages(5, 6)), CHANNEL, page);
    expect(world.conversations[CHANNEL]?.value.messages.map((one) => one.id)).toEqual(
      pages(1, 6).map((one) => one.id),
    );
  });
});

describe("agents", () => {
  const known = withSnapshot(
    NOTHING,
    {
      of: "agents",
      value: [
        { name: "bob", title: "Bob", icon: "", description: "", state: "ready", outdated: false, stopping: false },
      ],
    },
    10,
  );
  const state = (seq: number, agent: string): PageEvent =>
    event(seq, "agent:state", { agent, state: "busy", outdated: false, stopping: false });

  it("change once the snapshot is older than the event", () => {
    expect(fold(known, state(10, "bob")).agents?.value[0]?.state).toBe("ready");
    expect(fold(known, state(11, "bob")).agents?.value[0]?.state).toBe("busy");
  });

  it("are those of the configuration, in its order", () => {
    const agent = { digest: "", cwd: "/", icon: "", description: "", startTimeout: 1, permissions: [], mcpServers: 0, mcpTransports: [] };
    const config = {
      theme: "dark" as const,
      language: "fr" as const,
      limits: { maxRunningAgents: 2, stopIdleAgentsAfter: 0 },
      agents: [
        { ...agent, name: "alice", title: "Alice" },
        { ...agent, name: "bob", title: "Bobby" },
      ],
      keepUnfinished: false,
    };
    const changed = event(12, "config:changed", { path: "/x", valid: true, problems: [], config });
    const agents = fold(known, changed).agents?.value;
    expect(agents?.map(({ name, title, state }) => [name, title, state])).toEqual([
      ["alice", "Alice", "stopped"],
      ["bob", "Bobby", "ready"],
    ]);
  });
});

describe("permissions", () => {
  const request = {
    id: "p1",
    channel: CHANNEL,
    agent: "demo",
    messageId: id(5),
    toolCall: TOOL,
    options: [{ optionId: "y", name: "Yes", kind: "allow_once" }],
    rejections: 0,
  };
  const none = withSnapshot(NOTHING, { of: "permissions", value: [] }, 1);

  it("wait until they are resolved, and leave a line", () => {
    const asked = fold(none, event(2, "permission:requested", request));
    expect(asked.permissions?.value).toEqual([request]);
    const resolved = event(3, "permission:resolved", { id: "p1", channel: CHANNEL, by: "cli", optionId: "y", delivered: true });
    const after = fold(asked, resolved);
    expect(after.permissions?.value).toEqual([]);
    expect(after.resolved).toMatchObject([{ by: "cli", optionId: "y", at: 3_000 }]);
    expect(fold(after, resolved).resolved).toHaveLength(1);
  });
});

describe("a cut", () => {
  it("leaves everything to look at, and nothing to fold into", () => {
    const world = cut(STREAM.reduce(fold, opening()), 7, 100);
    expect(words(world)).toBe("Hello, wörld 👋\n\nand more");
    expect(words(fold(world, delta(101, 7, "!", 2)))).toBe("Hello, wörld 👋\n\nand more");
    expect([world.epoch, world.seq]).toEqual([7, 100]);
  });
});

it("leaves the world as it is at an event that it doesn't know", () => {
  const strange = { seq: 5, ts: 0, type: "new:thing", data: {} } as unknown as PageEvent;
  expect(fold(NOTHING, strange)).toEqual({ ...NOTHING, seq: 5 });
});

it("reads who joined by a message after it, and before the answers", () => {
  const question = message(10, { role: "user", agent: "" });
  const joined = message(10, { id: id(10, 1), role: "system", code: "agent-joined" });
  const answer = message(20, { answers: question.id });
  const next = message(15, { role: "user", agent: "" });
  expect([next, answer, joined, question].sort(reading)).toEqual([question, joined, answer, next]);
});
