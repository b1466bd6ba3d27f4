// The conversations in the order of the list, and the way from one to the next.
import { computed } from "@preact/signals";
import { agents, agentsByName, channels, current, directOf, openDirect } from "./app";
import { go, home } from "./route";

export interface Row {
  /** `null` for an agent that nobody talked to yet. */
  readonly channel: string | null;
  readonly agent: string | null;
}

/** Channels by name, then the agents in their configured order, then those no longer configured. */
export const rows = computed<readonly Row[]>(() => [
  ...named.value.map(({ id }) => ({ channel: id, agent: null })),
  ...agents.value.map(({ name }) => ({ channel: directOf(name)?.id ?? null, agent: name })),
  ...orphans.value.map(({ id }) => ({ channel: id, agent: null })),
]);

export const named = computed(() => channels.value.filter(({ direct }) => direct === ""));

export const orphans = computed(() =>
  channels.value.filter(({ direct }) => direct !== "" && !agentsByName.value.has(direct)),
);

/** Go there; without a row to where nothing is chosen. */
export function openRow(row: Row | null): void {
  if (row === null) return home();
  if (row.channel !== null) return go(row.channel);
  if (row.agent !== null) void openDirect(row.agent);
}

/** The row below a channel's, else the one above it; for whoever takes the channel away. */
export function neighbourOf(channel: string): Row | null {
  const at = rows.value.findIndex((row) => row.channel === channel);
  return rows.value[at + 1] ?? rows.value[at - 1] ?? null;
}

/** The row `step` away from where one is, among those that fit; round the ends. */
export function rowAt(step: 1 | -1, fits: (row: Row) => boolean = () => true): Row | null {
  const all = rows.value;
  const at = all.findIndex(({ channel }) => channel !== null && channel === current.value);
  const from = at < 0 && step < 0 ? 0 : at;
  for (let away = 1; away <= all.length; away++) {
    const row = all[(from + step * away + all.length * 2) % all.length];
    if (row !== undefined && row.channel !== current.value && fits(row)) return row;
  }
  return null;
}
