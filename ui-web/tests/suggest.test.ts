// What is offered while one types, and what is written when it is taken.
import { describe, expect, it } from "vitest";
import { accepted, suggestions, wantsCommands, type Around } from "../src/channels/suggest";

const someone = (name: string, member: boolean, title = name) => ({ name, title, member });
const command = (name: string) => ({ name, description: `does ${name}`, hint: "" });

const CHANNEL: Around = {
  direct: "",
  agents: [someone("alice", false), someone("bob", true, "Robert"), someone("böse", true)],
  commands: { alice: [command("plan")], bob: [command("plan"), command("review")] },
};
const DIRECT: Around = { ...CHANNEL, direct: "bob" };

const labels = (text: string, around = CHANNEL): readonly string[] | null =>
  suggestions(text, text.length, around)?.options.map(({ label }) => label) ?? null;

describe("@", () => {
  it.each([
    ["@", ["@bob", "@böse", "@alice"]],
    ["hello @", ["@bob", "@böse", "@alice"]],
    ["(@al", ["@alice"]],
    ["@B", ["@bob", "@böse"]],
    ["@rob", ["@bob"]],
    ["@lice", ["@alice"]],
    ["你好@al", ["@alice"]],
    ["_@al", ["@alice"]],
    ["@nobody", null],
    ["@bob", null],
    ["@bo", ["@bob"]],
    ["@bob and then", null],
    ["me@bo", null],
    ["a/@bo", null],
    ["`@bo", null],
    ["`x` @bo", ["@bob"]],
    ["```\n@bo", null],
    ["```\nx\n```\n@bo", ["@bob"]],
  ])("%j offers %j", (text, expected) => expect(labels(text)).toEqual(expected));

  it("offers nothing in a direct conversation", () => expect(labels("@", DIRECT)).toBeNull());

  it("says who would join", () => {
    const options = suggestions("@", 1, CHANNEL)?.options ?? [];
    expect(options.filter(({ joins }) => joins).map(({ agent }) => agent)).toEqual(["alice"]);
  });
});

describe("/", () => {
  it.each([
    ["/", ["/bob:plan", "/bob:review", "/alice:plan"]],
    ["/pl", ["/bob:plan", "/alice:plan"]],
    ["/bob:r", ["/bob:review"]],
    ["/alice", ["/alice:plan"]],
    ["@bob /", ["/plan", "/review"]],
    ["@BOB, /re", ["/review"]],
    ["see /", null],
    ["/bob:plan now", null],
    ["/bob:review", null],
    ["/zzz", null],
  ])("%j offers %j in a channel", (text, expected) => expect(labels(text)).toEqual(expected));

  it("offers the agent's own in a direct conversation", () => {
    expect(labels("/", DIRECT)).toEqual(["/plan", "/review"]);
  });

  it("asks for commands also where none is known", () => {
    expect(wantsCommands("/", 1)).toBe(true);
    expect(wantsCommands("a /", 3)).toBe(false);
  });
});

it.each([
  ["@al", 3, "@alice ", 7],
  ["hey @al, look", 7, "hey @alice , look", 11],
  ["hey @al look", 7, "hey @alice look", 11],
  ["@alxx look", 3, "@alice look", 7],
])("takes an offer in %j", (text, caret, expected, after) => {
  const found = suggestions(text, caret, CHANNEL);
  const [option] = found?.options ?? [];
  if (found === null || option === undefined) throw new Error("nothing was offered");
  expect(accepted(text, found, option)).toEqual({ text: expected, caret: after });
});
