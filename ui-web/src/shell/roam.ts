// Moving through a list by arrows. Knows buttons in an element, not what they stand for.

function buttons(list: HTMLElement): readonly HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>("button:not(:disabled)")];
}

/** Up, down, Home and End move the focus among the buttons of `list`. */
export function roam(event: KeyboardEvent, list: HTMLElement | null): void {
  if (list === null || event.altKey || event.ctrlKey || event.metaKey) return;
  const rows = buttons(list);
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const target = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: rows.length - 1,
  }[event.key];
  const row = target === undefined ? undefined : rows[target];
  if (row === undefined) return;
  event.preventDefault();
  row.focus();
}

/**
 * Make `list` one stop of the Tab key: the button that has the focus, else that of where one is, else
 * the first. Rows come and go by themselves, so what is drawn is watched.
 */
export function oneStop(list: HTMLElement): () => void {
  const set = (): void => {
    const rows = buttons(list);
    const focused = rows.find((row) => row === document.activeElement);
    const stop = focused ?? rows.find((row) => row.ariaCurrent === "page") ?? rows[0];
    for (const row of rows) {
      const index = row === stop ? 0 : -1;
      if (row.getAttribute("tabindex") !== `${index}`) row.tabIndex = index;
    }
  };
  const left = (event: FocusEvent): void => {
    if (!(event.relatedTarget instanceof Node && list.contains(event.relatedTarget))) set();
  };
  const observer = new MutationObserver(set);
  observer.observe(list, { childList: true, subtree: true, attributeFilter: ["aria-current", "disabled"] });
  list.addEventListener("focusin", set);
  list.addEventListener("focusout", left);
  set();
  return () => {
    observer.disconnect();
    list.removeEventListener("focusin", set);
    list.removeEventListener("focusout", left);
  };
}
