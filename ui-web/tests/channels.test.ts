// Small rules of the conversation view, each on its own.
import { describe, expect, it } from "vitest";
import { plainLine, plainText } from "../src/agents/ansi";
import type { Message, Part, PermissionOption, ToolCall } from "../src/bus/schema.gen";
import { chosen, keyOf } from "../src/channels/answers";
import { changeOf, firstRows, pairs } from "../src/channels/change";
import { withoutName } from "../src/channels/names";
import { groups } from "../src/channels/parts";
import { commandOf, prettyInput } from "../src/channels/tool";
import { atEnd, earlier, later, shown } from "../src/channels/window";
import { parsed } from "../src/shell/route";
import { takeToken } from "../src/shell/token";

describe("the keys of a permission card", () => {
  const option = (optionId: string, kind: string): PermissionOption => ({ optionId, name: optionId, kind });
  const four = [option("once", "allow_once"), option("always", "allow_always"), option("no", "reject_once"), option("never", "reject_always")];
  const twice = [option("here", "allow_always"), option("everywhere", "allow_always"), option("no", "reject_once")];
  const press = (key: string, more: KeyboardEventInit = {}): KeyboardEvent =>
    new KeyboardEvent("keydown", { key, ...more });

  it.each([
    ["a", {}, "once"],
    ["A", { shiftKey: true }, "always"],
    ["r", {}, "no"],
    ["R", { shiftKey: true }, "never"],
    ["1", {}, "once"],
    ["4", {}, "never"],
  ] as const)("%s %o chooses %s", (key, more, optionId) => {
    expect(chosen(four, press(key, more))?.optionId).toBe(optionId);
  });

  it.each([["a", { ctrlKey: true }], ["5", {}], ["x", {}], ["Enter", {}], ["0", {}]] as const)(
    "%s %o chooses nothing",
    (key, more) => expect(chosen(four, press(key, more))).toBeNull(),
  );

  it("gives no letter to a kind that two options have, but digits", () => {
    expect(chosen(twice, press("A", { shiftKey: true }))).toBeNull();
    expect(chosen(twice, press("2"))?.optionId).toBe("everywhere");
    expect(twice.map((one) => keyOf(twice, one))).toEqual(["1", "2", "r"]);
  });
});

describe("an agent's own name in front of its answer", () => {
  it.each([
    ["Demo: hello", true, "hello"],
    ["demo: hello", true, "hello"],
    ["Demo", true, "Demo"],
    ["Dem", false, ""],
    ["Demo:", false, ""],
    ["Demonstration", false, "Demonstration"],
    ["DEMO: hello", true, "DEMO: hello"],
    ["see Demo: hello", true, "see Demo: hello"],
  ])("%j (done: %s) shows %j", (text, done, expected) => {
    expect(withoutName(text, ["demo", "Demo"], done)).toBe(expected);
  });
});

describe("the window on the messages", () => {
  const message = (at: number): Message => ({
    id: `m${String(at).padStart(16, "0")}.0`, channel: "c", createdAt: at, role: "user", agent: "",
    parts: [], done: true, queued: false, rev: 0,
  });
  const all = Array.from({ length: 550 }, (_, at) => message(at));

  it("holds 200 at most, the last where it follows", () => {
    expect(shown(all, null)).toHaveLength(200);
    expect(shown(all, null).at(-1)).toBe(all.at(-1));
  });

  it("goes up to the beginning and back to the end by pages", () => {
    let first = shown(all, null)[0]?.id ?? null;
    const up = [];
    for (let page = 0; page < 5; page++) {
      first = earlier(all, first);
      up.push(all.findIndex(({ id }) => id === first));
    }
    expect(up).toEqual([250, 150, 50, 0, 0]);
    for (let page = 0; page < 5; page++) first = later(all, first);
    expect(all.findIndex(({ id }) => id === first)).toBe(350);
    expect(atEnd(all, first)).toBe(true);
  });
});

const TOOL: ToolCall = { id: "t", title: "", kind: "read", status: "completed", input: "", output: "", locations: [], diffs: [] };

describe("tools", () => {
  const part = (kind: string, status = "completed"): Part => ({ type: "tool", tool: { ...TOOL, kind, status } });

  it("fold into one line where three reads and searches in a row are done", () => {
    const made = groups([part("read"), part("search"), part("read"), part("edit"), part("read"), part("read")]);
    expect(made.map((group) => ("run" in group ? group.run.length : 1))).toEqual([3, 1, 1, 1]);
  });

  it("stay apart while one runs or has failed", () => {
    expect(groups([part("read"), part("read", "failed"), part("read")])).toHaveLength(3);
  });

  it.each([
    ['{"command":"ls -l"}', "ls -l", ""],
    ['{"command":["git","log"],"cwd":"/x"}', "git log", '{\n  "command": [\n    "git",\n    "log"\n  ],\n  "cwd": "/x"\n}'],
    ["not json", null, "not json"],
    ["[1]", null, "[\n  1\n]"],
    ["", null, ""],
  ])("of input %j run %j", (input, command, pretty) => {
    expect(commandOf({ ...TOOL, input })).toBe(command);
    expect(prettyInput({ ...TOOL, input })).toBe(pretty);
  });
});

describe("a change", () => {
  it("counts and numbers its lines, with three around them", () => {
    const change = changeOf("a\nb\nc\nd\ne\n", "a\nb\nc\nD\nE\ne\n", 60_000);
    expect([change?.added, change?.removed]).toEqual([2, 1]);
    const said = change?.rows.map(({ sign, old, now, text }) => `${sign}${old}/${now} ${text}`);
    expect(said).toEqual([" 1/1 a", " 2/2 b", " 3/3 c", "-4/4 d", "+5/4 D", "+5/5 E", " 5/6 e"]);
  });

  it("stands side by side, the old beside the new", () => {
    const rows = changeOf("a\nb\nc\n", "a\nB\nC\nD\n", 60_000)?.rows ?? [];
    const sides = pairs(rows).map(([left, right]) => [left?.text, right?.text]);
    expect(sides).toEqual([["a", "a"], ["b", "B"], ["c", "C"], [undefined, "D"]]);
  });

  it("marks where lines were left out", () => {
    const many = Array.from({ length: 40 }, (_, at) => `${at}\n`);
    const after = many.with(0, "x\n").with(39, "y\n");
    const signs = changeOf(many.join(""), after.join(""), 60_000)?.rows.map(({ sign }) => sign).join("");
    expect(signs).toBe("-+   @   -+");
  });

  it("hands out as much as is asked for, and long lines cut", () => {
    const change = changeOf("", `${"x".repeat(100_000)}\n${"y\n".repeat(200_000)}`, 60_000);
    expect(change?.added).toBe(200_001);
    expect(change?.rows[0]).toMatchObject({ text: "x".repeat(2_000), cut: 98_000 });
    expect(change === null ? null : firstRows(change, 400).rows).toHaveLength(400);
  });

  it("is given up where two texts have nothing in common", () => {
    const lines = (name: string): string => Array.from({ length: 20_000 }, (_, at) => `${name}${at}\n`).join("");
    expect(changeOf(lines("a"), lines("b"), 300)).toBeNull();
  });
});

describe("terminal output", () => {
  it("loses its colours, titles and cursor moves", () => {
    expect(plainText("\u001b[1;31mred\u001b[0m \u001b]0;title\u0007and\u001b[2K plain\tx\ny")).toBe("red and plain\tx\ny");
  });

  it("shows a line that rewrote itself as it stood last", () => {
    expect(plainLine("10 %\r50 %\r100 %\r")).toBe("100 %");
  });
});

describe("the address", () => {
  it.each([
    ["#/c/c1.0", { at: "conversation", channel: "c1.0", message: null }],
    ["#/c/c1.0/m/m2.0", { at: "conversation", channel: "c1.0", message: "m2.0" }],
    ["#/settings", { at: "settings" }],
    ["#/c/", { at: "welcome" }],
    ["", { at: "welcome" }],
    ["#t=abc", { at: "welcome" }],
  ])("%s leads to %o", (hash, route) => expect(parsed(hash)).toEqual(route));

  it("gives its token once, and keeps nothing of it", () => {
    localStorage.clear();
    history.replaceState(null, "", "/#t=abc");
    expect(takeToken(location, history, localStorage)).toBe("abc");
    expect(location.href).not.toContain("abc");
    expect(takeToken(location, history, localStorage)).toBe("abc");
  });
});
