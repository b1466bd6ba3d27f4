// Where in the page one is: the fragment of the address, as a signal.
import { signal } from "@preact/signals";

export type Route =
  | { at: "welcome" }
  /** `message`: the one to show in its place; `null` is the end of the conversation. */
  | { at: "conversation"; channel: string; message: string | null }
  | { at: "settings" }
  | { at: "bus" }
  | { at: "search" };

const LAST = "sk.lastChannel";

export const route = signal<Route>(parsed(location.hash));

export function parsed(hash: string): Route {
  const [, kind, id, detail, message] = hash.replace(/^#/, "").split("/");
  if (kind === "c" && id !== undefined && id !== "") {
    const there = detail === "m" && message !== undefined && message !== "";
    return {
      at: "conversation",
      channel: decodeURIComponent(id),
      message: there ? decodeURIComponent(message) : null,
    };
  }
  if (kind === "settings" || kind === "bus" || kind === "search") return { at: kind };
  return { at: "welcome" };
}

export function hashOf(channel: string, message: string | null = null): string {
  const there = message === null ? "" : `/m/${encodeURIComponent(message)}`;
  return `#/c/${encodeURIComponent(channel)}${there}`;
}

export function go(channel: string, message: string | null = null): void {
  location.hash = hashOf(channel, message);
}

export type Screen = "settings" | "bus" | "search";

export function goTo(screen: Screen): void {
  location.hash = `#/${screen}`;
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
