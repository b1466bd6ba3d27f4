// One conversation out into a file, from where its members stand.
import type { JSX } from "preact";
import type { Channel } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { nameOf } from "../shell/app";
import { outcome, save, type Format } from "./transfer";

export function ChannelExport({ channel }: { channel: Channel }): JSX.Element {
  const now = outcome.value;
  const out = (format: Format) => (): void =>
    void save(format, [channel.id], nameOf(channel).replace(/^# /, ""));
  return (
    <>
      <div class="agent-actions">
        <span class="quiet">{t("history.as")}</span>
        <button
          type="button"
          class="button button-wide"
          disabled={now?.of === "running"}
          aria-label={t("history.markdown")}
          title={t("history.markdown")}
          onClick={out("markdown")}
        >
          {t("history.asMarkdown")}
        </button>
        <button
          type="button"
          class="button button-wide"
          disabled={now?.of === "running"}
          aria-label={t("history.jsonl")}
          title={t("history.jsonl")}
          onClick={out("jsonl")}
        >
          {t("history.asJsonl")}
        </button>
      </div>
      {now?.of === "failed" && (
        <p class="refusal" role="alert">
          {problemText(now.problem)}
        </p>
      )}
    </>
  );
}
