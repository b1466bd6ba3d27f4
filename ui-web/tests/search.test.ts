// The search without a history: what is asked, how excerpts are cut, and the stretch around a hit.
import { describe, expect, it } from "vitest";
import type { Message } from "../src/bus/schema.gen";
import type { PageEvent } from "../src/bus/protocol";
import { heard, stretchOf, withNewer, withOlder } from "../src/channels/past";
import { SHOWN } from "../src/channels/window";
import { argsOf, EMPTY, isEmpty, piecesOf, plainly } from "../src/search/asked";
import { places, wordsOf } from "../src/search/marks";

describe("what is asked", () => {
  it("leaves out what is empty", () => {
    expect(argsOf({ ...EMPTY, text: " two words ", tool: "  " })).toEqual({ text: "two words" });
    expect([isEmpty({ ...EMPTY, path: " " }), isEmpty({ ...EMPTY, path: "a" })]).toEqual([true, false]);
  });

  it("means whole days of this place", () => {
    const { since, until } = argsOf({ ...EMPTY, since: "2026-11-30", until: "2026-11-30" }) as { since: number; until: number };
    expect(new Date(since)).toEqual(new Date(2026, 10, 30));
    expect(new Date(until)).toEqual(new Date(2026, 10, 30, 23, 59, 59, 999));
  });
});

describe("an excerpt", () => {
  it("is cut at its matches, which are counted in characters", () => {
    expect(piecesOf("🎈 the end", [{ start: 2, length: 3 }])).toEqual([
      { text: "🎈 ", found: false },
      { text: "the", found: true },
      { text: " end", found: false },
    ]);
  });

  it("bears matches that touch, overlap or reach too far", () => {
    const spans = [{ start: 0, length: 2 }, { start: 1, length: 2 }, { start: 3, length: 99 }];
    const pieces = piecesOf("abcd", spans);
    expect(pieces.map(({ text }) => text).join("")).toBe("abcd");
    expect(pieces.every(({ found }) => found)).toBe(true);
  });
});

it("marks the beginnings of words that were looked for", () => {
  const text = "Gateways and a gateway; no subgateway";
  expect(places(text, wordsOf('"Gateway" an')).map(([from, to]) => text.slice(from, to))).toEqual(["Gateway", "an", "gateway"]);
});

const message = (number: number, more: Partial<Message> = {}): Message => ({
  id: `m${String(number).padStart(16, "0")}.0`,
  channel: "c1",
  createdAt: number,
  role: "agent",
  agent: "a",
  parts: [{ type: "text", text: `t${number}` }],
  done: true,
  queued: false,
  rev: 1,
  ...more,
});
const some = (from: number, to: number): Message[] => Array.from({ length: to - from + 1 }, (_, at) => message(from + at));
const updated = (one: Message): PageEvent => ({ seq: 9, ts: 9, type: "message:updated", data: { channel: one.channel, message: one } });

describe("a stretch of a conversation", () => {
  const begun = stretchOf({ messages: some(200, 299), more: true, later: true });

  it("grows at its beginning, and lets go what is too much at its end", () => {
    const once = withOlder(begun, { messages: some(100, 199), more: true });
    expect([once.state.messages.length, once.later]).toEqual([SHOWN, true]);
    const twice = withOlder({ ...once, later: false }, { messages: some(1, 99), more: false });
    expect([twice.state.messages[0]?.createdAt, twice.state.messages.at(-1)?.createdAt]).toEqual([1, 200]);
    expect([twice.state.more, twice.later]).toEqual([false, true]);
  });

  it("grows at its end, and lets go what is too much at its beginning", () => {
    const once = withNewer(withNewer(begun, { messages: some(300, 399), more: true }), { messages: some(400, 420), more: false });
    expect([once.state.messages[0]?.createdAt, once.state.messages.at(-1)?.createdAt]).toEqual([221, 420]);
    expect([once.state.more, once.later]).toEqual([true, false]);
  });

  it("shows what happens to its messages, and learns that there are newer ones", () => {
    const amended = heard(begun, "c1", updated(message(250, { rev: 2, parts: [{ type: "text", text: "amended" }] })));
    expect(amended?.state.messages[50]?.parts).toEqual([{ type: "text", text: "amended" }]);
    const end = { ...begun, later: false };
    expect(heard(end, "c1", updated(message(300)))?.later).toBe(true);
    expect(heard(end, "c1", updated(message(5)))).toBe(end);
    expect(heard(end, "c1", updated(message(300, { channel: "c2" })))).toBe(end);
  });

  it("says when a delta is missing", () => {
    const delta = (rev: number): PageEvent => ({
      seq: 9,
      ts: 9,
      type: "message:delta",
      data: { channel: "c1", messageId: message(299).id, index: 0, kind: "text", text: "+", rev },
    });
    expect(heard(begun, "c1", delta(2))?.state.messages.at(-1)?.parts).toEqual([{ type: "text", text: "t299+" }]);
    expect(heard(begun, "c1", delta(3))).toBeNull();
  });
});

it("says of a tool call what it is about, without fences and JSON", () => {
  const excerpt = 'Run tests {"command": "make test", "cwd": "/home"} ```console a\\nb ```';
  const pieces = piecesOf(excerpt, [{ start: 4, length: 5 }]);
  const said = plainly(pieces, "tool");
  expect(said.map(({ text }) => text).join("")).toBe('Run tests command: "make test", cwd: "/home" a b ');
  expect(said.filter(({ found }) => found).map(({ text }) => text)).toEqual(["tests"]);
  expect(plainly(pieces, "text")).toBe(pieces);
});
