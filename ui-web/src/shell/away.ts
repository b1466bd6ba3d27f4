// Which components are away long enough to be noticed, and what can't be done meanwhile.
import { computed } from "@preact/signals";
import { effectOf, isAway, noticedAway } from "../monitor/component";
import { components, store } from "./app";
import { now } from "./format";

/** When each was seen to be away first. */
let since: ReadonlyMap<string, number> = new Map();

/** The components that are away, a quick restart left out; none while nothing can be known. */
export const noticed = computed<readonly string[]>(() => {
  if (!store.isLive.value) return [];
  const seen = noticedAway(components.value.filter(isAway).map(({ component }) => component), since, now.value);
  since = seen.since;
  return seen.noticed;
});

/** Why something can't be done that needs these components; `undefined` where it can. */
export function reason(...needed: readonly string[]): string | undefined {
  const missing = needed.find((component) => noticed.value.includes(component));
  return missing === undefined ? undefined : effectOf(missing);
}
