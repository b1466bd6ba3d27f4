// Moving through a list by arrows. Knows buttons in an element, not what they stand for.

/** Up, down, Home and End move the focus among the buttons of `list`. */
export function roam(event: KeyboardEvent, list: HTMLElement | null): void {
  if (list === null || event.altKey || event.ctrlKey || event.metaKey) return;
  const rows = [...list.querySelectorAll<HTMLElement>("button:not(:disabled)")];
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
