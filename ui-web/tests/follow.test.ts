// Who lets go of the end, and who doesn't: the list's sizes are given, as no layout is made here.
import { beforeEach, expect, it, vi } from "vitest";
import { Follower } from "../src/channels/follow";

let resized: () => void;
let list: HTMLElement;
let follower: Follower;

vi.stubGlobal(
  "ResizeObserver",
  class {
    constructor(callback: () => void) {
      resized = callback;
    }
    observe(): void {}
    disconnect(): void {}
  },
);

/** What a browser does: nothing scrolls further than there is. */
function sized(scrollHeight: number): void {
  Object.defineProperty(list, "scrollHeight", { value: scrollHeight, configurable: true });
  list.scrollTop = Math.min(list.scrollTop, scrollHeight - 500);
}

beforeEach(() => {
  list = document.createElement("div");
  let top = 0;
  Object.defineProperty(list, "clientHeight", { value: 500 });
  Object.defineProperty(list, "scrollTop", {
    get: () => top,
    set: (to: number) => (top = Math.max(0, Math.min(to, list.scrollHeight - 500))),
  });
  sized(2_000);
  follower = new Follower(list, document.createElement("div"));
  follower.hold();
});

function scrollTo(top: number): void {
  list.scrollTop = top;
  follower.scrolled();
}

it("follows what grows", () => {
  sized(3_000);
  resized();
  expect(list.scrollTop).toBe(2_500);
});

it("lets go when the reader scrolls up, and stays where he is", () => {
  scrollTo(1_200);
  sized(3_000);
  resized();
  expect(follower.held.value).toBe(false);
  expect(list.scrollTop).toBe(1_200);
});

it("lets go while the text grows, when a wheel is behind it", () => {
  sized(2_100);
  list.dispatchEvent(new Event("wheel"));
  scrollTo(1_200);
  expect(follower.held.value).toBe(false);
});

it("holds on where a part went away and another came before anybody was told", () => {
  sized(1_700);
  sized(2_400);
  follower.scrolled();
  expect(follower.held.value).toBe(true);
  resized();
  expect(list.scrollTop).toBe(1_900);
});

it("takes hold again near the end", () => {
  scrollTo(1_000);
  scrollTo(1_470);
  expect(follower.held.value).toBe(true);
});
