// The bus monitor without a bus: what is kept and joined, what a filter lets pass, what is said.
import { describe, expect, it } from "vitest";
import { added, between, KEPT, Rates, saidBy, type AnyEvent } from "../src/monitor/events";
import { command, holds, parse, toggled, type Filter } from "../src/monitor/filter";
import { noticedAway } from "../src/monitor/component";
import { place, summary } from "../src/monitor/summary";

const at = (seq: number, type: string, data: Record<string, unknown> = {}, ts = 1_000): AnyEvent => ({ epoch: 1, seq, ts, type, data });
const delta = (seq: number, ts = 1_000, more: Record<string, unknown> = {}): AnyEvent =>
  at(seq, "message:delta", { channel: "c1", messageId: "m1", index: 0, kind: "text", text: "ab", ...more }, ts);

describe("what is kept", () => {
  it("joins neighbouring deltas of one part", () => {
    const rows = added([], [delta(1), delta(2), delta(3, 1_000, { index: 1 }), at(4, "turn:changed"), delta(5)]);
    expect(rows.map(({ run }) => run.map(({ seq }) => seq))).toEqual([[1, 2], [3], [4], [5]]);
  });

  it("goes on with a run that is there already, for a second", () => {
    const rows = added(added([], [delta(1, 1_000)]), [delta(2, 1_900), delta(3, 2_000)]);
    expect(rows.map(({ run }) => run.length)).toEqual([2, 1]);
  });

  it("lets the oldest rows go, and no run grows without an end", () => {
    const many = Array.from({ length: KEPT + 5 }, (_, seq) => at(seq, "agent:log"));
    const rows = added([], many);
    expect([rows.length, rows[0]?.event.seq]).toEqual([KEPT, 5]);
    expect(added([], Array.from({ length: 1_200 }, (_, seq) => delta(seq))).map(({ run }) => run.length)).toEqual([500, 500, 200]);
  });

  it("joins nothing where each delta is asked for", () => {
    expect(added([], [delta(1), delta(2)], false)).toHaveLength(2);
  });

  it("joins nothing over a hole", () => {
    const rows = added([...added([], [delta(1)]), between(1, 7, 1_000, "lost")], [delta(8)]);
    expect(rows.map(({ gap, run }) => gap ?? run.length)).toEqual([1, "lost", 1]);
  });
});

it("counts types over the last whole seconds", () => {
  const rates = new Rates();
  for (let second = 0; second < 5; second++) rates.count([at(1, "a"), at(2, "a"), at(3, "b")], second * 1_000);
  expect(rates.at(5_000)).toEqual(new Map([["a", 2], ["b", 1]]));
  expect(rates.at(60_000)).toEqual(new Map());
});

it.each([
  ["config:changed", "config"],
  ["component:state", "config"],
  ["fact:frame", "agents"],
  ["agent:log", "agents"],
  ["agent:state", "router"],
  ["message:delta", "router"],
  ["do:send", "router"],
  ["cmd:Send", "gateway"],
  ["cmd:result", "router"],
  ["history:restored", "history"],
])("%s is said by %s", (type, component) => expect(saidBy(type)).toBe(component));

describe("a filter", () => {
  const made = (line: string): Filter => {
    const { filter } = parse(line);
    if (filter === null) throw new Error(`${line} should make sense`);
    return filter;
  };
  const named = (name: string): string => (name === "#review" ? "c1" : name);
  const passes = (line: string, event: AnyEvent): boolean => holds(made(line), event, named);

  it.each([
    ["", at(1, "turn:changed"), true],
    ["", at(1, "fact:frame"), false],
    ["--all", at(1, "fact:frame"), true],
    ["-t fact:*", at(1, "fact:frame"), true],
    ["-t 'message:*'", delta(1), true],
    ["-t message:*", at(1, "turn:changed"), false],
    ["-t turn:changed -t agent:*", at(1, "agent:state"), true],
    ["-t [at]*:*", at(1, "turn:changed"), true],
    ["-x message:delta", delta(1), false],
    ["--deltas none", delta(1), false],
    ["--deltas all", delta(1), true],
    ["-a Alice", at(1, "agent:state", { agent: "alice" }), true],
    ["-a @alice", at(1, "message:updated", { message: { agent: "alice" } }), true],
    ["-a alice", at(1, "turn:changed", { answering: "alice" }), true],
    ["-a alice", at(1, "agent:state", { agent: "bob" }), false],
    ["-c '#review'", delta(1), true],
    ["-c c2", delta(1), false],
    ["--grep '\"kind\":\"te.t\"'", delta(1), true],
    ["--grep nothing", delta(1), false],
    ["M1 text", delta(1), true],
    ["m1 nowhere", delta(1), false],
  ] as const)("%j asked of %o: %s", (line, event, passed) => expect(passes(line, event)).toBe(passed));

  it.each([["-z", "-z"], ["-t", "-t"], ["--grep (", "("], ["--since 5m", "--since"], ["--deltas few", "few"]])("%j makes no sense", (line, wrong) => {
    expect(parse(line)).toEqual({ filter: null, wrong });
  });

  it.each([
    ["-t 'message:*' -a alice --all", "sk-cli events -t 'message:*' -a alice --all"],
    ["-c \"#two words\" --grep a.b", "sk-cli events -c '#two words' --grep 'a.b'".replace("'a.b'", "a.b")],
    ["it's", "sk-cli events --grep '(?i)(?=.*it'\\''s)'"],
    ["", "sk-cli events"],
  ])("%j is %j in a terminal", (line, words) => expect(command(made(line))).toBe(words));

  it("takes a type in and out again", () => {
    expect(toggled("-a alice", "turn:changed")).toBe("-a alice -t turn:changed");
    expect(toggled("-t turn:changed -a alice", "turn:changed")).toBe("-a alice");
  });
});

describe("a line", () => {
  const row = (event: AnyEvent) => ({ event, run: [event], gap: null });

  it("says where it happened", () => {
    expect(place(delta(1), () => "#review")).toBe("#review");
    expect(place(at(1, "component:state", { component: "bus" }), String)).toBe("bus");
    expect(place(at(1, "message:updated", { channel: "c1", message: { agent: "bob" } }), () => "@bob")).toBe("@bob");
    expect(place(at(1, "agent:state", { channel: "c1", agent: "bob" }), () => "@alice")).toBe("@alice bob");
  });

  it.each([
    [at(1, "turn:changed", { busy: true, answering: "alice", queued: 2, then: ["bob"] }), "alice, then bob, 2 queued"],
    [at(1, "turn:changed", { busy: false, queued: 0 }), "idle"],
    [at(1, "message:updated", { message: { role: "user", parts: [{ type: "text", text: "hi\n  there" }] } }), "You: hi there"],
    [at(1, "message:updated", { message: { role: "agent", agent: "bob", stopReason: "end_turn", parts: [{ type: "text", text: { head: "long" } }] } }), "bob: long (end_turn)"],
    [at(1, "permission:requested", { toolCall: { kind: "execute", title: "rm" }, options: [{ kind: "allow_once" }] }), "execute “rm”: allow_once"],
    [at(1, "usage:changed", { usage: { used: 5, size: 0 } }), "5"],
    [at(1, "fact:exited", { agent: "bob", inc: 4, code: null, signal: 9 }), "inc=4 signal=9"],
    [at(1, "agent:log", { line: "x".repeat(500) }), `${"x".repeat(199)}…`],
  ] as const)("of %o is %j", (event, words) => expect(summary(row(event))).toBe(words));

  it("sums a run up", () => {
    const [run] = added([], [delta(1, 1_000), delta(2, 1_500)]);
    expect(run === undefined ? "" : summary(run)).toBe("text +4 (0.5 s)");
  });
});

it("notices who is away for a second, and forgets who is back", () => {
  const first = noticedAway(["history"], new Map(), 1_000);
  expect(first.noticed).toEqual([]);
  const second = noticedAway(["history", "router"], first.since, 2_000);
  expect(second.noticed).toEqual(["history"]);
  expect(noticedAway(["history"], noticedAway([], second.since, 2_500).since, 3_000).noticed).toEqual([]);
});
