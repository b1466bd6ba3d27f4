// Colours come late, and reach what was drawn before them.
import { expect, it } from "vitest";
import { loadColours } from "../src/markdown/highlight";
import { rendered } from "../src/markdown/render";

it("colours a block that was drawn before the colours were here", async () => {
  const box = document.createElement("div");
  box.append(rendered("```python\ndef f(): pass\n```\n"));
  const code = box.querySelector("code");
  expect(code?.querySelector(".hljs-keyword")).toBeNull();
  await loadColours();
  expect(code?.querySelector(".hljs-keyword")?.textContent).toBe("def");
  expect(code?.textContent).toBe("def f(): pass\n");
});
