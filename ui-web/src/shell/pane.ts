// What the pane at the right shows, kept over a reload.
import { signal } from "@preact/signals";

export type Pane =
  | { shows: "members" }
  | { shows: "agents" }
  | { shows: "logs"; agent: string };

const KEY = "sk.pane";
/** Here the pane has a place of its own; below it lies over the page. */
export const WIDE = "(min-width: 1100px)";

export const pane = signal<Pane | null>(restored());

function restored(): Pane | null {
  const kept = localStorage.getItem(KEY);
  if (!matchMedia(WIDE).matches) return null;
  return kept === "members" || kept === "agents" ? { shows: kept } : null;
}

function show(next: Pane | null): void {
  pane.value = next;
  localStorage.setItem(KEY, next?.shows ?? "");
}

export function showMembers(): void {
  show({ shows: "members" });
}

export function showAgents(): void {
  show({ shows: "agents" });
}

export function showLogs(agent: string): void {
  show({ shows: "logs", agent });
}

export function closePane({ onlyOverlay = false } = {}): void {
  if (!onlyOverlay || !matchMedia(WIDE).matches) show(null);
}

export function toggle(what: "members" | "agents"): void {
  show(pane.value?.shows === what ? null : { shows: what });
}
