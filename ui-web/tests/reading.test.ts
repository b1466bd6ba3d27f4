// What is read and unread, by ids alone.
import { describe, expect, it } from "vitest";
import type { Message } from "../src/bus/schema.gen";
import { counts, finished, firstUnread, idAt, joined, markOf } from "../src/channels/reading";

const message = (seq: number, more: Partial<Message> = {}): Message => ({
  id: idAt(seq),
  channel: "c0000000000000005.0",
  createdAt: seq,
  role: "agent",
  agent: "bob",
  parts: [],
  done: true,
  queued: false,
  rev: 0,
  ...more,
});

describe("the mark of a channel", () => {
  const marks = { baseline: idAt(100), read: { "c0000000000000007.0": idAt(300) } } as const;

  it.each([
    ["that was read", "c0000000000000007.0", idAt(300)],
    ["from before this page ever came here", "c0000000000000005.0", idAt(100)],
    ["made later, by whomever", "c0000000000000200.1", "m0000000000000200.1"],
  ])("of one %s", (_, channel, mark) => expect(markOf(marks, channel)).toBe(mark));

  it("is the later one of two tabs", () => {
    const other = { baseline: idAt(90), read: { "c0000000000000007.0": idAt(200), c9: idAt(1) } };
    expect(joined(marks, other)).toEqual({
      baseline: idAt(90),
      read: { "c0000000000000007.0": idAt(300), c9: idAt(1) },
    });
  });
});

it.each([
  ["a finished answer", message(1), true],
  ["one that is being written", message(1, { done: false }), false],
  ["one's own message", message(1, { role: "user", agent: "" }), false],
  ["the reason why there is no answer", message(1, { role: "system", code: "agent-unavailable", error: { id: "x", message: "x", params: {}, warning: false } }), true],
  ["somebody joining", message(1, { role: "system", code: "agent-joined" }), false],
])("counts %s: %o", (_, one, expected) => expect(counts(one)).toBe(expected));

it("takes nothing as read that comes after an answer which is still being written", () => {
  const open = message(3, { done: false });
  const queued = message(4, { role: "user", agent: "", queued: true });
  expect(finished([message(1), message(2), open, queued])).toBe(idAt(2));
  expect(finished([message(1), message(2), queued])).toBe(idAt(4));
  expect(finished([open])).toBeNull();
});

it("finds the first that is new, in the order of reading", () => {
  const all = [message(1), message(2, { role: "user" }), message(5), message(4)];
  expect(firstUnread(all, idAt(1))).toBe(idAt(5));
  expect(firstUnread(all, idAt(5))).toBeNull();
});
