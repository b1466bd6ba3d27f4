// Where in the page one is: the fragment of the address, as a signal.
import { signal } from "@preact/signals";

export type Route = { at: "welcome" } | { at: "conversation"; channel: string };

const LAST = "sk.lastChannel";

export const route = signal<Route>(parsed(location.hash));

export function parsed(hash: string): Route {
  const [, kind, id] = hash.replace(/^#/, "").split("/");
  if (kind === "c" && id !== undefined && id !== "") {
    return { at: "conversation", channel: decodeURIComponent(id) };
  }
  return { at: "welcome" };
}

export function hashOf(channel: string): string {
  return `#/c/${encodeURIComponent(channel)}`;
}

export function go(channel: string): void {
  location.hash = hashOf(channel);
}

/** Where no conversation is chosen. */
export function home(): void {
  location.hash = "#/";
}

/** Follow the address, and begin where one was last. */
export function followAddress(): void {
  const heard = (): void => {
    route.value = parsed(location.hash);
    if (route.value.at === "conversation") localStorage.setItem(LAST, route.value.channel);
  };
  addEventListener("hashchange", heard);
  const last = localStorage.getItem(LAST);
  if (location.hash === "" && last !== null) history.replaceState(null, "", hashOf(last));
  heard();
}
