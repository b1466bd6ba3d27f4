// Keys that work everywhere on the page. Letters alone mean something only where nobody types.
import { moves } from "../channels/keyboard";
import { show } from "../channels/PermissionCard";
import { stop } from "../channels/stopping";
import { unreadIn } from "../channels/unread";
import { current, permissions } from "./app";
import { dialog, dismissDialog, openDialog } from "./dialog";
import { closePane, pane, showAgents, WIDE } from "./pane";
import { go, goTo } from "./route";
import { openRow, rowAt, type Row } from "./rows";

/** So long the second key of a pair may take. */
const PAIR = 1_500;

let paired = 0;

export function listenForKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
    if (handled(event)) event.preventDefault();
  });
}

function handled(event: KeyboardEvent): boolean {
  const { key, code, altKey, ctrlKey, metaKey, shiftKey } = event;
  const here = current.value;
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k") {
    openDialog({ shows: "switcher" });
    return true;
  }
  if (dialog.value !== null) {
    // The browser would close it, too, but say so a frame later: the next key would still be the dialog's.
    if (key === "Escape") dismissDialog();
    return key === "Escape";
  }
  if ((ctrlKey || metaKey) && key === "." && here !== null) {
    stop(here);
    return true;
  }
  if (key === "Escape") return escaped();
  if (key === "F6") return nextPane(shiftKey ? -1 : 1);
  if (altKey && !ctrlKey && !metaKey) {
    const fits = shiftKey ? (row: Row): boolean => unreadIn(row.channel) > 0 : undefined;
    if (key === "ArrowDown") return neighbour(1, fits);
    if (key === "ArrowUp") return neighbour(-1, fits);
    // With Alt some layouts type another letter: the key's place tells.
    return code === "KeyP" && toPermission(here);
  }
  if (altKey || ctrlKey || metaKey || types(event)) return false;
  return single(event) || moves(event);
}

/** Whether the key goes into a text: also into one in a shadow root, where the event seems to be the host's. */
function types(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

const SCREENS: Readonly<Record<string, () => void>> = {
  a: showAgents,
  s: () => goTo("settings"),
  b: () => goTo("bus"),
  f: () => goTo("search"),
};

/** `?`, and `G` with a letter after it. */
function single({ key, timeStamp }: KeyboardEvent): boolean {
  const second = timeStamp - paired < PAIR ? SCREENS[key.toLowerCase()] : undefined;
  paired = 0;
  if (second !== undefined) {
    second();
    return true;
  }
  if (key === "?") {
    openDialog({ shows: "keys" });
    return true;
  }
  if (key === "g" || key === "G") paired = timeStamp;
  return paired !== 0;
}

/** Out of what is open: the pane that lies over the page, then the messages, back to where one writes. */
function escaped(): boolean {
  const active = document.activeElement;
  const over = pane.value !== null && !matchMedia(WIDE).matches;
  if (over || (active?.closest(".pane") != null && pane.value !== null)) {
    closePane();
  } else if (active?.closest(".list, .dock") == null && active !== document.body) {
    return false;
  }
  const field = document.querySelector<HTMLElement>(".composer-field");
  field?.focus();
  return field !== null;
}

/** The conversation after or before this one, in the order of the list. */
function neighbour(step: 1 | -1, fits?: (row: Row) => boolean): boolean {
  const row = rowAt(step, fits);
  if (row !== null) openRow(row);
  return row !== null;
}

/** The first request here, else the first anywhere; from one of them on to the next. */
function toPermission(here: string | null): boolean {
  const all = permissions.value;
  const mine = all.filter(({ channel }) => channel === here);
  const among = mine.length > 0 ? mine : all;
  const focused = document.activeElement?.closest<HTMLElement>("[data-permission]");
  const at = among.findIndex(({ id }) => id === focused?.dataset["permission"]);
  const one = among[at + 1] ?? (at === among.length - 1 && at >= 0 ? elsewhere(here) : among[0]);
  if (one === undefined) return false;
  if (one.channel !== here) go(one.channel);
  show(one.id);
  return true;
}

function elsewhere(here: string | null): (typeof permissions.value)[number] | undefined {
  const all = permissions.value;
  return all.find(({ channel }) => channel !== here) ?? all[0];
}

const PANES = [
  ".sidebar button[tabindex='0']",
  ".list",
  ".dock .ask",
  ".composer-field",
  ".pane button",
  ".middle main:not(.conversation) :is(button, input, [tabindex='0'])",
];

function nextPane(step: number): boolean {
  const there = PANES.map((pane) => document.querySelector<HTMLElement>(pane)).filter(
    (element) => element !== null && element.offsetParent !== null,
  );
  const active = document.activeElement;
  const at = there.findIndex(
    (element) =>
      element === active ||
      element?.closest("nav, aside, .list, .dock, main:not(.conversation)")?.contains(active) === true,
  );
  there[(at + step + there.length) % there.length]?.focus();
  return there.length > 0;
}
