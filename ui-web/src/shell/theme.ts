// Theme and language as the configuration has them, kept for the first moment of the next visit.
import { effect } from "@preact/signals";
import { language, wanted } from "../i18n/translate";
import { unreadInAll } from "../channels/unread";
import { channels, config, current, nameOf, permissions } from "./app";
import { home, route } from "./route";

const THEME = "sk.theme";
const LANGUAGE = "sk.language";

export function followConfiguration(): void {
  const kept = localStorage.getItem(LANGUAGE);
  if (kept === "en" || kept === "fr" || kept === "system") wanted.value = kept;
  document.documentElement.dataset["theme"] = localStorage.getItem(THEME) ?? "system";
  effect(() => {
    if (config.value === null) return;
    const { theme, language: asked } = config.value;
    document.documentElement.dataset["theme"] = theme;
    wanted.value = asked;
    localStorage.setItem(THEME, theme);
    localStorage.setItem(LANGUAGE, asked);
  });
  let path: string | null = null;
  effect(() => {
    const now = config.value?.path ?? null;
    // Another file was opened: its conversations are others.
    if (path !== null && now !== null && path !== now && route.peek().at === "conversation") home();
    path = now ?? path;
  });
  effect(() => {
    document.documentElement.lang = language.value;
  });
  effect(() => {
    const waiting = permissions.value.length > 0 ? "(!) " : "";
    const unread = unreadInAll.value > 0 ? `(${unreadInAll.value}) ` : "";
    const here = channels.value.find(({ id }) => id === current.value);
    const name = here === undefined ? "" : `${nameOf(here)} – `;
    document.title = `${waiting}${unread}${name}Sidekicks`;
  });
}
