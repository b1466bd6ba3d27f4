// A word from the desktop while nobody looks at the page: somebody waits, or has finished. Only
// where it was asked for, and only for what happens from then on: no burst after a reload.
import { signal } from "@preact/signals";
import { attentive } from "../channels/unread";
import type { PageEvent } from "../bus/protocol";
import { t } from "../i18n/translate";
import { channels, nameOf, store, titleOf } from "./app";
import { go } from "./route";

const KEY = "sk.notify";

/** Another machine's page has no such right, and a browser may have none at all. */
export const canNotify = "Notification" in globalThis && isSecureContext;

export const notifies = signal(
  canNotify && localStorage.getItem(KEY) === "yes" && Notification.permission === "granted",
);

export async function notifyMe(yes: boolean): Promise<void> {
  const may = yes && (await Notification.requestPermission()) === "granted";
  notifies.value = may;
  localStorage.setItem(KEY, may ? "yes" : "no");
}

const shown = new Map<string, Notification>();

export function followForNotices(): void {
  store.onEvent((event) => {
    if (event.type === "permission:resolved") shown.get(event.data.id)?.close();
    if (notifies.value && !attentive.value) heard(event);
  });
}

function heard(event: PageEvent): void {
  if (event.type === "permission:requested") {
    const { id, channel, agent, toolCall } = event.data;
    const title = t("alert.permission", { agent: titleOf(agent), title: toolCall.title });
    return say(id, channel, title);
  }
  if (event.type !== "message:updated") return;
  const { channel, message } = event.data;
  if (message.role === "agent" && message.done && message.stopReason !== "cancelled") {
    say(message.id, channel, t("notify.finished", { agent: titleOf(message.agent) }));
  }
}

/** `tag` is the id of what it is about: said twice, or by two tabs, it is shown once. */
function say(tag: string, channel: string, title: string): void {
  const there = channels.peek().find(({ id }) => id === channel);
  const notice = new Notification(title, {
    tag,
    body: there === undefined ? "" : nameOf(there),
    icon: "/favicon.svg",
  });
  shown.set(tag, notice);
  notice.onclick = () => {
    window.focus();
    go(channel);
    notice.close();
  };
  notice.onclose = () => shown.delete(tag);
}
