// The streaming writer ends with what a one-shot rendering gives, however the text was cut.
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { loadColours } from "../src/markdown/highlight";
import { rendered } from "../src/markdown/render";
import { StreamWriter } from "../src/markdown/stream";

const DOCUMENTS: Record<string, string> = {
  prose: "# Title\n\nOne *two* `three`\nfour.\n\n> quoted\n> more\n\nEnd with [a link](https://a.example/) .\n",
  lists: "- a\n- b\n\n  para in b\n- c\n    1. one\n    2. two\n\nafter\n\n* loose\n\n* list\n\n- [x] done\n- [ ] open\n",
  fences: "before\n\n```python\ndef f():\n    return '```'\n\n\n# no heading\n```\nafter\n\n~~~~\n```\n~~~\nstill\n~~~~\n\n- item\n\n  ```js\n  let a = 1;\n  ```\n\nend",
  unclosed: "text\n\n```rust\nfn main() {\n\n    // ``` not the end\n  ``",
  tables: "| a | b |\n|---|:-:|\n| 1 | **2** |\n| `x` | y |\n\nnot | a table\n",
  setext: "Heading\n=======\n\nother\n---\n\ntext\n***\n",
  html: "a <b>bold</b> <img src=x onerror=alert(1)>\n\n<div>\nblock\n</div>\n\nafter\n",
  references: "See [one][1] and [two].\n\nMore text.\n\n[1]: https://one.example/\n[two]: https://two.example/\n",
  unicode: "Grüße 👩‍👩‍👧 — 日本語 **太字**\n\n1. é\n2. \u202fà\n",
  empty: "",
  blank: "\n\n\n",
};
beforeAll(loadColours);

const READMES = import.meta.glob<string>(
  "../node_modules/{marked,vite,preact,chai,highlight.js,esbuild}/README.md",
  { query: "?raw", import: "default", eager: true },
);
for (const [path, text] of Object.entries(READMES)) DOCUMENTS[path.split("/").at(-2) ?? path] = text;

/** Numbers in [0, 1) that are the same in each run. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function cuts(text: string, seed: number, longest: number): string[] {
  const chance = chances(seed);
  const made = [];
  for (let at = 0; at < text.length; ) {
    at += 1 + Math.floor(chance() * longest);
    made.push(text.slice(0, at));
  }
  return made;
}

function html(nodes: Node): string {
  const box = document.createElement("div");
  box.append(nodes);
  return box.innerHTML;
}

function root(): HTMLElement {
  const element = document.createElement("div");
  document.body.append(element);
  return element;
}

/** What is on the screen, without the box around the tail. */
function shown(element: HTMLElement): string {
  const copy = element.cloneNode(true) as HTMLElement;
  copy.querySelector(".md-tail")?.replaceWith(...(copy.querySelector(".md-tail")?.childNodes ?? []));
  return copy.innerHTML;
}

it("is tried on real documents too", () => {
  expect(Object.keys(READMES).length).toBeGreaterThan(3);
});

describe.each(Object.entries(DOCUMENTS))("%s", (_name, text) => {
  const longest = Math.max(12, Math.ceil(text.length / 40));

  it.each([1, 2])("ends as a one-shot rendering, chunks of seed %i", async (seed) => {
    const element = root();
    const writer = new StreamWriter(element);
    for (const part of cuts(text, seed, longest)) writer.write(part);
    await writer.finish(text);
    expect(element.innerHTML).toBe(html(rendered(text)));
  });
});

describe.each(["prose", "lists", "fences", "tables", "setext", "html", "unicode"])(
  "before the end, %s",
  (name) => {
    it("shows all but colours and late references as it will stay", () => {
      const text = `${DOCUMENTS[name] ?? ""}\n\nlast\n`;
      const element = root();
      const writer = new StreamWriter(element);
      for (const part of cuts(text, 7, 40)) writer.write(part);
      expect(shown(element)).toBe(html(rendered(text)));
    });
  },
);

describe("the tail", () => {
  it("keeps the nodes of blocks that are over, also at the end", () => {
    const element = root();
    const writer = new StreamWriter(element);
    writer.write("one\n\ntwo\n\n```js\nlet a = 1;\n```\n\nthree");
    const [first, second, code] = element.children;
    writer.write("one\n\ntwo\n\n```js\nlet a = 1;\n```\n\nthree and **more**\n\nfour");
    writer.finish("one\n\ntwo\n\n```js\nlet a = 1;\n```\n\nthree and **more**\n\nfour");
    expect([...element.children].slice(0, 3)).toEqual([first, second, code]);
    expect(element.children[0]).toBe(first);
    expect(element.children[2]).toBe(code);
  });

  it("goes on with what was written after all, when that comes before the end is drawn", async () => {
    const long = `${"A paragraph of some words. ".repeat(40)}\n\n`.repeat(20);
    const element = root();
    const writer = new StreamWriter(element);
    writer.write(long.slice(0, -40));
    const ends = writer.finish(long);
    writer.write(`${long}And *more*`);
    await Promise.all([ends, writer.finish(`${long}And *more*.`)]);
    expect(element.innerHTML).toBe(html(rendered(`${long}And *more*.`)));
    expect(element.ariaBusy).toBeNull();
  });

  it("appends to one text node while a fence is open, and holds back what may close it", () => {
    const element = root();
    const writer = new StreamWriter(element);
    writer.write("```js\nlet a");
    const node = element.querySelector("code")?.firstChild;
    writer.write("```js\nlet a = `x```\n``");
    expect(element.querySelector("code")?.firstChild).toBe(node);
    expect(element.querySelector("code")?.textContent).toBe("let a = `x```\n");
  });

  it("is left alone while the reader's selection touches it", () => {
    const element = root();
    const writer = new StreamWriter(element);
    writer.write("some words");
    const words = element.querySelector("p")?.firstChild as Text;
    document.getSelection()?.setBaseAndExtent(words, 0, words, 4);
    writer.write("some words more");
    expect(element.textContent).toContain("some words");
    expect(element.querySelector("p")?.firstChild).toBe(words);
    document.getSelection()?.removeAllRanges();
    writer.write("some words more and");
    expect(element.textContent?.trim()).toBe("some words more and");
  });

  it("begins again when the text isn't a continuation", () => {
    const element = root();
    const writer = new StreamWriter(element);
    writer.write("first\n\nsecond\n\nthird");
    writer.write("other");
    expect(element.textContent?.trim()).toBe("other");
  });
});

const ATTACKS = [
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<script>alert(1)</script>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](vbscript:msgbox)",
  "![x](https://evil.example/pixel.png)",
  "![x](javascript:alert(1))",
  "<a href='javascript:alert(1)'>x</a>",
  "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
  "<form action=https://evil.example><input name=a></form>",
  '```html" onmouseover="alert(1)\nx\n```',
  "<https://a.example/\"onmouseover=alert(1)>",
  "<style>*{display:none}</style>",
  "| <img src=x onerror=alert(1)> | b |\n|---|---|\n| [x](javascript:1) | <svg/onload=1> |\n",
];

describe.each(ATTACKS)("hostile text %s", (attack) => {
  it("makes nothing that loads, runs or leads elsewhere", () => {
    const element = root();
    const writer = new StreamWriter(element);
    for (const part of cuts(attack, 5, 4)) writer.write(part);
    writer.finish(attack);
    expect(element.querySelector("img,svg,script,iframe,style,form,input,math,object")).toBeNull();
    const attributes = [...element.querySelectorAll("*")].flatMap((node) => [...node.attributes]);
    expect(attributes.filter(({ name }) => name.startsWith("on"))).toEqual([]);
    for (const link of element.querySelectorAll("a")) {
      expect(link.getAttribute("href")).toMatch(/^(https?:|mailto:)/);
    }
  });
});

describe("text from right to left", () => {
  it("leaves each block its own direction, and code from left to right", () => {
    const box = document.createElement("div");
    box.append(rendered("`./run.sh` مرحبا\n\n- واحد\n\nplain\n\n```\ncode\n```\n"));
    const directions = [...box.querySelectorAll("p, ul, li, code, pre")].map(
      (element) => `${element.tagName} ${element.getAttribute("dir")}`,
    );
    expect(directions).toEqual([
      "P auto", "CODE ltr", "UL auto", "LI auto", "P auto", "PRE ltr", "CODE ltr",
    ]);
  });
});

describe("a code block", () => {
  afterEach(() => vi.unstubAllGlobals());

  it.each([
    [true, 1],
    [false, 0],
  ])("in a page with a clipboard: %s has %i buttons to copy it", (secure, buttons) => {
    vi.stubGlobal("isSecureContext", secure);
    const drawn = rendered("```\ncode\n```\n");
    expect(drawn.querySelectorAll(".code-copy")).toHaveLength(buttons);
  });
});
