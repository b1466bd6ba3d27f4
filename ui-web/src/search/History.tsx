// The history as a whole: where it lies, how much it is, out into a file and in from one.
import { Download, Upload } from "lucide";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { HistoryView } from "../bus/schema.gen";
import { RefusedError } from "../bus/socket";
import { problemText, t } from "../i18n/translate";
import { channels, nameOf, store } from "../shell/app";
import { size } from "../shell/format";
import { reason } from "../shell/away";
import { Icon } from "../shell/icon";
import { bring, outcome, save, type Format } from "./transfer";

export function History(): JSX.Element {
  const file = useRef<HTMLInputElement>(null);
  const [channel, setChannel] = useState("");
  const running = outcome.value?.of === "running";
  const away = reason("bus", "history");
  const out = (format: Format): void => {
    const one = channels.value.find(({ id }) => id === channel);
    const name = one === undefined ? "sidekicks" : nameOf(one).replace(/^# /, "");
    void save(format, channel === "" ? [] : [channel], name);
  };
  return (
    <details class="search-history">
      <summary>{t("history.title")}</summary>
      <Facts />
      <div class="search-filters">
        <label>
          {t("history.what")}
          <select value={channel} onChange={({ currentTarget }) => setChannel(currentTarget.value)}>
            <option value="">{t("history.everything")}</option>
            {channels.value.map((one) => (
              <option key={one.id} value={one.id}>
                {nameOf(one)}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="button" disabled={away !== undefined || running} title={away} onClick={() => out("markdown")}>
          <Icon of={Download} /> {t("history.markdown")}
        </button>
        <button type="button" class="button" disabled={away !== undefined || running} title={away} onClick={() => out("jsonl")}>
          <Icon of={Download} /> {t("history.jsonl")}
        </button>
        <button type="button" class="button" disabled={away !== undefined || running} title={away} onClick={() => file.current?.click()}>
          <Icon of={Upload} /> {t("history.import")}
        </button>
        <input
          ref={file}
          type="file"
          class="unseen"
          tabIndex={-1}
          accept=".jsonl,.ndjson,application/x-ndjson"
          aria-label={t("history.import")}
          onChange={({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? [];
            if (chosen !== undefined) void bring(chosen);
            currentTarget.value = "";
          }}
        />
      </div>
      <p class="quiet">{t("history.importHint")}</p>
      <Came />
    </details>
  );
}

function Came(): JSX.Element | null {
  const now = outcome.value;
  switch (now?.of) {
    case "running":
      return <p role="status">{t(now.what === "export" ? "history.exporting" : "history.importing")}</p>;
    case "exported":
      return <p role="status">{t("history.exported")}</p>;
    case "imported": {
      const { channels: some, messages, kept } = now.value;
      return <p role="status">{t("history.imported", { channels: some, messages, kept })}</p>;
    }
    case "failed":
      return (
        <p class="refusal" role="alert">
          {problemText(now.problem)}
        </p>
      );
    default:
      return null;
  }
}

/** Asked for anew whenever something came in. */
function Facts(): JSX.Element | null {
  const [view, setView] = useState<HistoryView | null>(null);
  const came = outcome.value?.of;
  useEffect(() => {
    let gone = false;
    store.query("HistoryInfo", {}).then(
      ({ value }) => {
        if (!gone) setView(value as HistoryView);
      },
      (error: unknown) => {
        // What is wrong with the history stands above; these are only numbers.
        if (!(error instanceof RefusedError)) throw error;
      },
    );
    return () => void (gone = true);
  }, [came]);
  if (view === null) return null;
  return (
    <p class="quiet">
      {t("history.facts", { messages: view.messages, channels: view.channels, size: size(view.size) })}
      <br />
      <code>{view.path}</code>
    </p>
  );
}
