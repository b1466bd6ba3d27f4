// What a screen reader is told: sentences at turning points, never the stream itself.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { PageEvent } from "../bus/protocol";
import { wordsOf } from "../bus/text";
import { problemText, t } from "../i18n/translate";
import { current, store, titleOf } from "./app";

const status = signal("");
const alert = signal("");

/** Say something politely that no event tells. */
export function say(text: string): void {
  status.value = text;
}

function heard(event: PageEvent): void {
  switch (event.type) {
    case "turn:changed":
      if (event.data.channel === current.value && event.data.answering !== undefined) {
        status.value = t("status.answering", { agent: titleOf(event.data.answering) });
      }
      return;
    case "message:updated": {
      const { message, channel } = event.data;
      if (channel !== current.value || message.role !== "agent" || !message.done) return;
      const agent = titleOf(message.agent);
      const words = wordsOf(message).split(/\s+/).filter(Boolean).length;
      status.value =
        message.stopReason === "cancelled"
          ? t("status.cancelled", { agent })
          : t("status.finished", { agent, count: words });
      return;
    }
    case "permission:requested": {
      const agent = titleOf(event.data.agent);
      alert.value = t("alert.permission", { agent, title: event.data.toolCall.title });
      return;
    }
    case "agent:state":
      if (event.data.state === "error" && event.data.error !== undefined) {
        const reason = problemText(event.data.error);
        alert.value = t("alert.error", { agent: titleOf(event.data.agent), reason });
      }
      return;
    default:
      return;
  }
}

/** Both regions exist before anything is said in them. */
export function Announcer(): JSX.Element {
  useEffect(() => store.onEvent(heard), []);
  return (
    <>
      <div class="unseen" role="status">
        {status}
      </div>
      <div class="unseen" role="alert">
        {alert}
      </div>
    </>
  );
}
