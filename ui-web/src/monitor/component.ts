// What is to be said of a component: its name, its state, and what its absence means to people.
import type { Component } from "../bus/schema.gen";
import { isKey, t } from "../i18n/translate";

export function componentName(component: string): string {
  const key = `component.${component}`;
  return isKey(key) ? t(key) : component;
}

export function componentState({ state }: Component): string {
  return t(`component.${state}`);
}

export function works({ state }: Component): boolean {
  return state === "running";
}

/** Whether what it does is not being done: a degraded one does its work, though not all of it. */
export function isAway({ state }: Component): boolean {
  return state === "down" || state === "hung" || state === "starting";
}

/** Shorter than this is nothing to trouble anybody with. */
export const NOTICED_AFTER = 1_000;

/** Since when each of `missing` is away, given what was known, and which are so for long enough. */
export function noticedAway(
  missing: readonly string[],
  before: ReadonlyMap<string, number>,
  now: number,
): { since: ReadonlyMap<string, number>; noticed: readonly string[] } {
  const since = new Map(missing.map((name) => [name, before.get(name) ?? now]));
  return { since, noticed: missing.filter((name) => now - (since.get(name) ?? now) >= NOTICED_AFTER) };
}

export function effectOf(component: string): string {
  const key = `effect.${component}`;
  return isKey(key) ? t(key) : t("effect.other", { component });
}

/** What to ask before a restart; `null` where nobody would notice it. */
export function asksFirst(component: string): string | null {
  if (component === "bus") return t("component.confirm.bus");
  if (component === "gateway") return t("component.confirm.gateway");
  return null;
}
