// Whether something has stood still long enough to be clicked on purpose.
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A click sooner than this after something appeared or moved was meant for what was there. */
const STILL = 400;
const LOOK_EVERY = 100;
const MOVED = 4;

/** Returns a question: has the element stood still for 400 ms? */
export function useSettled(element: RefObject<HTMLElement | null>): () => boolean {
  const since = useRef(performance.now());
  const top = useRef<number | null>(null);
  const look = (): void => {
    const now = element.current?.getBoundingClientRect().top ?? null;
    if (now !== null && top.current !== null && Math.abs(now - top.current) > MOVED) {
      since.current = performance.now();
    }
    top.current = now;
  };
  useEffect(() => {
    look();
    const timer = setInterval(look, LOOK_EVERY);
    return () => clearInterval(timer);
  }, []);
  return () => {
    look(); // it may have moved since the last time
    return performance.now() - since.current >= STILL;
  };
}
