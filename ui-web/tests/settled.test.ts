// A click counts once what it lands on has stood still for 400 ms.
import { h, render } from "preact";
import { useRef } from "preact/hooks";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useSettled } from "../src/channels/settled";

let settled: () => boolean;
let top = 100;

function Card(): unknown {
  const card = useRef<HTMLDivElement>(null);
  settled = useSettled(card);
  return h("div", { ref: card });
}

beforeEach(async () => {
  vi.useFakeTimers();
  vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockImplementation(() => new DOMRect(0, top, 9, 9));
  await act(() => render(h(Card as never, {}), document.body));
});

afterEach(() => {
  render(null, document.body);
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it("is not settled before 400 ms are over, and is then", () => {
  vi.advanceTimersByTime(399);
  expect(settled()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(settled()).toBe(true);
});

it("begins anew with each move, seen even by the click itself", () => {
  vi.advanceTimersByTime(1_000);
  top += 60;
  expect(settled()).toBe(false);
  vi.advanceTimersByTime(399);
  expect(settled()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(settled()).toBe(true);
});

it("takes no offence at a hair's breadth", () => {
  vi.advanceTimersByTime(1_000);
  top += 3;
  expect(settled()).toBe(true);
});
