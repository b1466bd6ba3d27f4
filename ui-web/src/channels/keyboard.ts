// The messages by keyboard: J and K, and the arrows, go from one to the next, Enter opens what is folded in it, C
// copies its words. Works on what is drawn, as that is what one sees.
import { conversations, current } from "../shell/app";
import { copy } from "./Message";

/** Whether the key meant something where the focus is. */
export function moves(event: KeyboardEvent): boolean {
  const list = document.querySelector<HTMLElement>(".list");
  if (list === null || list.offsetParent === null) return false;
  const active = document.activeElement;
  if (active !== document.body && active !== null && !list.contains(active)) return false;
  const key = event.key.toLowerCase();
  if (event.shiftKey) return false;
  if (key === "j") return step(list, active, 1);
  if (key === "k") return step(list, active, -1);
  const row = active?.closest<HTMLElement>("[data-message]") ?? null;
  if (row === null) return false;
  if (active === row && key === "arrowdown" && endsInSight(list, row)) return step(list, active, 1);
  if (active === row && key === "arrowup" && beginsInSight(list, row)) return step(list, active, -1);
  if (key === "enter" && active === row) return unfold(row);
  if (key === "c") return copied(row.dataset["message"] ?? "");
  return false;
}

function step(list: HTMLElement, active: Element | null, by: 1 | -1): boolean {
  const rows = [...list.querySelectorAll<HTMLElement>("[data-message]")];
  const row = active?.closest("[data-message]") ?? null;
  const at = row === null ? -1 : rows.indexOf(row as HTMLElement);
  const target = at >= 0 ? rows[at + by] : inSight(list, rows);
  target?.focus({ preventScroll: true });
  target?.scrollIntoView({ block: target.offsetHeight > list.clientHeight ? "start" : "nearest" });
  return true;
}

/** Of a message that reaches out of the list, an arrow shows the rest first. */
function endsInSight(list: HTMLElement, row: HTMLElement): boolean {
  return row.getBoundingClientRect().bottom <= list.getBoundingClientRect().bottom + 1;
}

function beginsInSight(list: HTMLElement, row: HTMLElement): boolean {
  return row.getBoundingClientRect().top >= list.getBoundingClientRect().top - 1;
}

/** Where one begins: with the last message that reaches into view. */
function inSight(list: HTMLElement, rows: readonly HTMLElement[]): HTMLElement | undefined {
  const { bottom } = list.getBoundingClientRect();
  return rows.findLast((row) => row.getBoundingClientRect().top < bottom);
}

function unfold(row: HTMLElement): boolean {
  const folds = [...row.querySelectorAll("details")];
  const open = folds.some((one) => !one.open);
  for (const one of folds) one.open = open;
  return folds.length > 0;
}

function copied(id: string): boolean {
  const messages = conversations.peek()[current.peek() ?? ""]?.value.messages ?? [];
  const message = messages.find((one) => one.id === id);
  if (message === undefined || !isSecureContext) return false;
  void copy(message);
  return true;
}
