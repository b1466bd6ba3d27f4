// What the Tab key comes by among the messages: the list, and what can be pressed in one of them: the
// one that has the focus, else the last. J, K and the arrows go to the others. What scrolls sideways
// keeps a stop of its own, and a request for permission is never out of reach.

const PRESSED = "button, a[href], summary";
const ALWAYS = ".ask";

/** Watch `list` until the returned function is called. */
export function messageStops(list: HTMLElement): () => void {
  let chosen: Element | null = null;
  let current: Element | null = null;

  const turn = (): void => {
    if (chosen?.isConnected !== true) chosen = null;
    const next = chosen ?? lastOf(list);
    if (next === current) return;
    if (current !== null) mute(current);
    if (next !== null) unmute(next);
    current = next;
  };
  const drawn = (records: readonly MutationRecord[]): void => {
    let rows = false;
    for (const { addedNodes, removedNodes, target } of records) {
      rows ||= target === list.firstElementChild || target === list;
      for (const node of addedNodes) {
        if (node instanceof Element && current?.contains(node) !== true) mute(node);
      }
      rows ||= removedNodes.length > 0 && current?.isConnected !== true;
    }
    if (rows) turn();
  };
  const came = ({ target }: FocusEvent): void => {
    chosen = target instanceof Element ? target.closest("[data-message]") : null;
    turn();
  };
  const left = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget instanceof Node && list.contains(relatedTarget)) return;
    chosen = null;
    turn();
  };
  mute(list);
  turn();
  const observer = new MutationObserver(drawn);
  observer.observe(list, { childList: true, subtree: true });
  list.addEventListener("focusin", came);
  list.addEventListener("focusout", left);
  return () => {
    observer.disconnect();
    list.removeEventListener("focusin", came);
    list.removeEventListener("focusout", left);
  };
}

/** The rows stand in the one element that the list scrolls. */
function lastOf(list: HTMLElement): Element | null {
  let row = list.firstElementChild?.lastElementChild ?? null;
  while (row !== null && !row.hasAttribute("data-message")) row = row.previousElementSibling;
  return row;
}

function mute(element: Element): void {
  for (const one of pressed(element)) {
    if (one.closest(ALWAYS) === null) one.setAttribute("tabindex", "-1");
  }
}

function unmute(element: Element): void {
  for (const one of pressed(element)) one.removeAttribute("tabindex");
}

function pressed(element: Element): Element[] {
  const inside = [...element.querySelectorAll(PRESSED)];
  return element.matches(PRESSED) ? [element, ...inside] : inside;
}
