// The settings without an editor: where the cursor stands, what is offered there, whose text wins.
import { describe, expect, it } from "vitest";
import { offsetOf, wordEnd } from "../src/settings/columns";
import * as file from "../src/settings/file";
import { split } from "../src/settings/folders";
import { meaningOf, offersAt, type Schema } from "../src/settings/offers";
import { ITEM, keyAt, placeOf, type Place } from "../src/settings/place";

const TEXT = `# theme: system
limits:
  maxRunningAgents: 3   # most
agents:
  - name: demo
    env:
      KEY: value
    mcpServers:
    - name: files
      command: x

  - name: other
    description: |
      theme: no key of ours
      # nor a comment
    permissions:
      - {kind: read}
`.split("\n");

/** The place of the cursor `|` in a line put in place of line `number` of the text. */
function at(number: number, line: string): Place | null {
  return placeOf(TEXT.with(number, line.replace("|", "")), number, line.indexOf("|"));
}

describe("the place of the cursor", () => {
  it.each([
    [0, "th|", [], "key", "th"],
    [2, "  |", ["limits"], "key", ""],
    [2, "  maxRunningAgents: 1|", ["limits", "maxRunningAgents"], "value", "1"],
    [4, "  - |", ["agents", ITEM], "key", ""],
    [4, "  - name: d|", ["agents", ITEM, "name"], "value", "d"],
    [5, "    en|", ["agents", ITEM], "key", "en"],
    [6, "      K|", ["agents", ITEM, "env"], "key", "K"],
    [9, "      ty|", ["agents", ITEM, "mcpServers", ITEM], "key", "ty"],
    [10, "    |", ["agents", ITEM], "key", ""],
    [10, "  |", ["agents"], "key", ""],
    [10, "|", [], "key", ""],
    [15, "    permissions: |", ["agents", ITEM, "permissions"], "value", ""],
  ] as const)("line %i, %j is at %o", (number, line, path, of, word) => {
    expect(at(number, line)).toMatchObject({ path, of, word });
  });

  it.each([
    [0, "# the|"],
    [2, "  maxRunningAgents: 3 # mo|"],
    [13, "      the|"],
  ] as const)("line %i, %j is no place for a word of ours", (number, line) => {
    expect(at(number, line)).toBeNull();
  });

  it("knows the keys that its mapping has already, and not those of others", () => {
    expect(at(7, "    |")?.others).toEqual(new Set(["name", "env"]));
    expect(at(5, "    |")?.others).toEqual(new Set(["name", "mcpServers"]));
    expect(at(10, "|")?.others).toEqual(new Set(["limits", "agents"]));
    expect(at(11, "  - |")?.others).toEqual(new Set(["description", "permissions"]));
  });

  it("finds the key under the pointer", () => {
    expect(keyAt(TEXT, 2, 5)).toEqual({ path: ["limits", "maxRunningAgents"], from: 2, to: 18 });
    expect(keyAt(TEXT, 4, 5)).toMatchObject({ path: ["agents", ITEM, "name"] });
    expect(keyAt(TEXT, 4, 11)).toBeNull();
    expect(keyAt(TEXT, 0, 3)).toBeNull();
  });
});

const SCHEMA: Schema = {
  $defs: {
    Limits: {
      type: "object",
      description: "Bounds.",
      properties: { most: { type: "integer", minimum: 1, maximum: 9, default: 3, description: "The most." } },
    },
    Agent: {
      type: "object",
      description: "A program.",
      required: ["name"],
      properties: {
        name: { type: "string", description: "Its name." },
        env: { anyOf: [{ type: "object", additionalProperties: { type: "string" } }, { type: "array", items: { type: "object" } }] },
        keep: { type: "boolean", default: false },
        kind: { type: "string", examples: ["read", "edit"] },
        path: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
      },
    },
  },
  type: "object",
  properties: {
    theme: { enum: ["system", "dark"], default: "system", description: "Colours." },
    limits: { $ref: "#/$defs/Limits" },
    agents: { type: "array", items: { $ref: "#/$defs/Agent" }, description: "All of them." },
  },
};

describe("what the schema offers", () => {
  const place = (path: Place["path"], of: Place["of"], others: readonly string[] = []): Place => ({
    path,
    of,
    word: "",
    from: 0,
    others: new Set(others),
  });
  const texts = (one: Place): readonly string[] => offersAt(SCHEMA, one).map(({ text }) => text);

  it("are the keys that are missing, with what opens their values", () => {
    expect(texts(place([], "key", ["theme"]))).toEqual(["limits:\n  ", "agents:\n  - name: "]);
    expect(texts(place(["limits"], "key"))).toEqual(["most: "]);
    expect(texts(place(["agents", ITEM], "key", ["name", "path"]))).toEqual(["env:\n  ", "keep: ", "kind: "]);
  });

  it("is an item where a list is", () => {
    expect(texts(place(["agents"], "key"))).toEqual(["- name: "]);
  });

  it.each([
    [["theme"], ["system", "dark"]],
    [["limits", "most"], ["3"]],
    [["agents", ITEM, "keep"], ["true", "false"]],
    [["agents", ITEM, "kind"], ["read", "edit"]],
    [["agents", ITEM, "path"], []],
    [["agents", ITEM, "env", "ANY"], []],
    [["nonsense", "deeper"], []],
  ] as const)("are the values of %o", (path, values) => {
    expect(texts(place(path, "value"))).toEqual(values);
  });

  it("says what a key means, in the words that are nearest to it", () => {
    expect(meaningOf(SCHEMA, ["limits", "most"])).toEqual({
      key: "most",
      description: "The most.",
      detail: "integer 1–9",
      default: "3",
    });
    expect(meaningOf(SCHEMA, ["limits"])?.description).toBe("Bounds.");
    expect(meaningOf(SCHEMA, ["agents"])?.description).toBe("All of them.");
    expect(meaningOf(SCHEMA, ["nobody"])).toBeNull();
  });
});

describe("places that the server names", () => {
  it("are characters there and UTF-16 units here", () => {
    expect(offsetOf("title: 🎈 x", 10)).toBe(10);
    expect(offsetOf("abc", 2)).toBe(1);
    expect(offsetOf("abc", 99)).toBe(3);
  });

  it("reach to the end of the word", () => {
    expect(wordEnd("  theem: dark", 2)).toBe(7);
    expect(wordEnd('  "a b": 1', 2)).toBe(7);
    expect(wordEnd("abc  ", 3)).toBe(3);
  });
});

describe("a file that is edited here and written elsewhere", () => {
  const one = { text: "a: 1\n", digest: "d1" };
  const two = { text: "a: 2\n", digest: "d2" };
  const begun = file.opened("/f", one, null);
  const mine = file.typed(begun, "a: mine\n");

  it("is taken over where nothing was edited", () => {
    expect(file.read(begun, two)).toEqual({ path: "/f", base: two, disk: two, text: two.text });
  });

  it("is a conflict where something was, and nobody's text is lost", () => {
    const met = file.read(mine, two);
    expect(file.isOvertaken(met)).toBe(true);
    expect(met.text).toBe("a: mine\n");
    expect(file.reloaded(met).text).toBe(two.text);
    expect(file.isOvertaken(file.reloaded(met))).toBe(false);
    const kept = file.kept(met);
    expect([kept.text, kept.base.digest, file.isOvertaken(kept)]).toEqual(["a: mine\n", "d2", false]);
  });

  it("is none where both wrote the same", () => {
    const same = file.read(file.typed(begun, two.text), two);
    expect([file.isEdited(same), file.isOvertaken(same)]).toEqual([false, false]);
  });

  it("is found again after a reload, with the conflict that arose meanwhile", () => {
    const draft = file.draftOf(mine);
    expect(file.draftOf(begun)).toBeNull();
    expect(file.opened("/f", one, draft)).toEqual(mine);
    expect(file.isOvertaken(file.opened("/f", two, draft))).toBe(true);
  });
});

describe("a menu that edits the text", () => {
  it.each([
    ["theme: light  # mine\nagents: []\n", "theme: dark  # mine\nagents: []\n"],
    ["# Head\n\n# theme: system    # all three\nagents: []\n", "# Head\n\ntheme: dark    # all three\nagents: []\n"],
    ["# Head\nagents: []\n", "# Head\ntheme: dark\nagents: []\n"],
    ["%YAML 1.2\n---\nagents: []\n", "%YAML 1.2\n---\ntheme: dark\nagents: []\n"],
    ["theme:\nagents: []\n", "theme: dark\nagents: []\n"],
    ["agents:\n  - name: a\n    env:\n      theme: x\n", "theme: dark\nagents:\n  - name: a\n    env:\n      theme: x\n"],
    ["", "theme: dark\n"],
    ["# only this", "# only this\ntheme: dark"],
  ])("%j becomes %j", (before, after) => expect(file.withSetting(before, "theme", "dark")).toBe(after));
});

it("splits a path that is being typed at its last folder", () => {
  expect(split("~/a/b")).toEqual({ folder: "~/a/", name: "b" });
  expect(split("b")).toEqual({ folder: "", name: "b" });
});
