// Colours for code blocks. What makes them is fetched with the first block that wants some; a block
// that was drawn before then is coloured when they are here.
import type { highlighted } from "./languages";

type Highlighter = typeof highlighted;

let highlighter: Highlighter | null = null;
let fetching: Promise<void> | null = null;
const waiting = new Map<HTMLElement, (highlight: Highlighter) => void>();

/** Call `colour` with the highlighter: at once, or when it is here. */
export function withColours(code: HTMLElement, colour: (highlight: Highlighter) => void): void {
  if (highlighter !== null) return colour(highlighter);
  waiting.set(code, colour);
  void loadColours();
}

/** Fetch the highlighter; without it (the page was updated) code stays as it is. */
export function loadColours(): Promise<void> {
  fetching ??= import("./languages").then(
    (module) => {
      highlighter = module.highlighted;
      for (const colour of waiting.values()) colour(highlighter);
      waiting.clear();
    },
    (error: unknown) => {
      console.warn("code stays without colours", error);
      waiting.clear();
    },
  );
  return fetching;
}
