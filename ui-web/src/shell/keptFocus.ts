// The focus of who works by keyboard, where the button that was pressed is disabled or replaced by
// another: as soon as there is one in its place again, it has the focus.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** Keep the focus in `box` at the place among its buttons where it was. Nobody's choice is overruled. */
export function useKeptFocus(box: RefObject<HTMLElement | null>): void {
  const held = useRef<{ button: HTMLButtonElement; place: number } | null>(null);
  const lost = useRef(false);
  useEffect(() => {
    const element = box.current;
    const came = ({ target }: FocusEvent): void => {
      if (!(target instanceof HTMLButtonElement)) return;
      held.current = { button: target, place: [...(element?.querySelectorAll("button") ?? [])].indexOf(target) };
      lost.current = false;
    };
    element?.addEventListener("focusin", came);
    return () => element?.removeEventListener("focusin", came);
  }, []);
  useLayoutEffect(() => {
    if (held.current === null) return;
    const { button, place } = held.current;
    const active = document.activeElement;
    if (active !== document.body && active !== button) {
      held.current = null;
      return;
    }
    if (!button.isConnected || button.disabled) lost.current = true;
    else if (active === document.body && !lost.current) held.current = null;
    const buttons = box.current?.querySelectorAll("button");
    const next = buttons?.[Math.min(place, buttons.length - 1)];
    if (lost.current && next !== undefined && !next.disabled) next.focus();
  });
}
