// Keys that work everywhere on the page. Never single letters, so that typing is only typing.
import { show } from "../channels/PermissionCard";
import { stop } from "../channels/stopping";
import { agents, channels, current, openDirect, permissions } from "./app";
import { go } from "./route";

export function listenForKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const done = handled(event);
    if (done) event.preventDefault();
  });
}

function handled({ key, code, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean {
  const here = current.value;
  if ((ctrlKey || metaKey) && key === "." && here !== null) {
    stop(here);
    return true;
  }
  if (key === "Escape") return toComposer();
  if (key === "F6") return nextPane(shiftKey ? -1 : 1);
  if (!altKey || ctrlKey || metaKey || shiftKey) return false;
  if (key === "ArrowDown") return neighbour(1);
  if (key === "ArrowUp") return neighbour(-1);
  // With Alt some layouts type another letter: the key's place tells.
  if (code === "KeyP") return toPermission(here);
  return false;
}

/** From the messages back to where one writes. There Esc means something else. */
function toComposer(): boolean {
  if (document.activeElement?.closest(".list, .dock") == null) return false;
  const field = document.querySelector<HTMLElement>(".composer-field");
  field?.focus();
  return field !== null;
}

/** The conversation after or before this one, in the order of the list. */
function neighbour(step: number): boolean {
  const rows = [
    ...channels.value
      .filter(({ direct }) => direct === "")
      .map(({ id }) => ({ id, open: () => go(id) })),
    ...agents.value.map(({ name }) => ({
      id: channels.value.find(({ direct }) => direct === name)?.id ?? null,
      open: () => void openDirect(name),
    })),
  ];
  if (rows.length === 0) return false;
  const at = rows.findIndex(({ id }) => id !== null && id === current.value);
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step;
  rows[(next + rows.length) % rows.length]?.open();
  return true;
}

/** The first request here, else the first anywhere. */
function toPermission(here: string | null): boolean {
  const all = permissions.value;
  const one = all.find(({ channel }) => channel === here) ?? all[0];
  if (one === undefined) return false;
  if (one.channel !== here) go(one.channel);
  requestAnimationFrame(() => show(one.id));
  return true;
}

const PANES = [".sidebar .row[aria-current], .sidebar .row", ".list", ".composer-field", ".pane button"];

function nextPane(step: number): boolean {
  const there = PANES.map((pane) => document.querySelector<HTMLElement>(pane)).filter(
    (element) => element !== null && element.offsetParent !== null,
  );
  const active = document.activeElement;
  const at = there.findIndex(
    (element) => element === active || element?.closest("nav, aside")?.contains(active) === true,
  );
  there[(at + step + there.length) % there.length]?.focus();
  return there.length > 0;
}
