// A text on its way: dimmed until the server has it, red where it was refused, never lost.
import type { JSX } from "preact";
import type { Outgoing } from "../bus/outbox";
import { problemText, t } from "../i18n/translate";
import { say } from "../shell/Announcer";
import { outbox, store } from "../shell/app";
import { putBack } from "./drafts";
import { Me } from "./Message";
import { Prose } from "./Prose";

export function OutgoingRow({ entry }: { entry: Outgoing }): JSX.Element {
  const { id, channel, text, problem } = entry;
  return (
    <article class="message message-user">
      <div class={problem === null ? "spoken spoken-faded" : "spoken"}>
        <Me />
        <div class="spoken-body">
          <header class="spoken-head">
            <strong>{t("message.you")}</strong>
            {problem === null && (
              <span class="quiet">
                {t(store.isLive.value ? "message.sending" : "message.waiting")}
              </span>
            )}
          </header>
          <Prose text={text} done own={channel} />
          {problem !== null && (
            <p class="end end-bad" role="alert">
              {t("message.failed", { reason: problemText(problem) })}{" "}
              <button type="button" class="link" onClick={() => outbox.retry(id)}>
                {t("message.retry")}
              </button>{" "}
              <button
                type="button"
                class="link"
                onClick={() => {
                  putBack(channel, text);
                  outbox.drop(id);
                }}
              >
                {t("message.back")}
              </button>{" "}
              {isSecureContext && (
                <button type="button" class="link" onClick={() => void copied(text)}>
                  {t("code.copy")}
                </button>
              )}
            </p>
          )}
        </div>
      </div>
    </article>
  );
}

async function copied(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  say(t("message.copied"));
}
