// Which file is in force, which ones were before, and how to go on with another one.
import { FolderOpen } from "lucide";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RefusedError } from "../bus/socket";
import { problemText, t } from "../i18n/translate";
import { config, store } from "../shell/app";
import { openDialog } from "../shell/dialog";
import { Icon } from "../shell/icon";
import { absent } from "./folders";
import { ask, open, opening, refusal, stops, wanted } from "./opening";
import { PathField } from "./PathField";

export function FilePanel(): JSX.Element {
  const path = config.value?.path ?? "";
  return (
    <aside class="settings-side" aria-label={t("settings.file")}>
      <h3>{t("settings.file")}</h3>
      <p class="settings-path">
        <code>{path}</code>
      </p>
      {config.value !== null && (
        <p class="quiet">{t(`settings.source.${config.value.source}`)}</p>
      )}
      <h3>{t("settings.another")}</h3>
      <PathField onChosen={ask} />
      <p>
        <button type="button" class="button button-wide" onClick={() => openDialog({ shows: "folder", chosen: ask })}>
          <Icon of={FolderOpen} /> {t("settings.choose")}
        </button>
      </p>
      <Opening />
      <Recent now={path} />
    </aside>
  );
}

/** Asks once, as it ends what is running. */
function Opening(): JSX.Element | null {
  if (opening.value !== null) {
    return (
      <p class="quiet" role="status">
        {t("settings.opening", { path: opening.value })}
      </p>
    );
  }
  if (wanted.value === null) {
    return refusal.value === null ? null : (
      <p class="refusal" role="alert">
        {problemText(refusal.value)}
      </p>
    );
  }
  return (
    <div class="settings-ask" role="group" aria-label={t("settings.openAsk", { path: wanted.value })}>
      <p class="settings-path">{t("settings.openAsk", { path: wanted.value })}</p>
      <p>{warning()}</p>
      <button
        type="button"
        class="button primary"
        ref={(button) => button?.focus()}
        onClick={() => void open()}
      >
        {t("settings.open")}
      </button>{" "}
      <button type="button" class="button" onClick={() => (wanted.value = null)}>
        {t("component.cancel")}
      </button>
    </div>
  );
}

function warning(): string {
  const { agents, answers } = stops.value;
  if (agents === 0) return t("settings.stopsNothing");
  const first = t("settings.stopsAgents", { count: agents });
  if (answers === 0) return t("settings.stops", { what: first });
  const both = t("settings.and", { first, second: t("settings.stopsAnswers", { count: answers }) });
  return t("settings.stops", { what: both });
}

function Recent({ now }: { now: string }): JSX.Element | null {
  const [files, setFiles] = useState<readonly string[]>([]);
  useEffect(() => {
    let gone = false;
    store.query("Recent", {}).then(
      ({ value }) => {
        if (!gone) setFiles(value as readonly string[]);
      },
      (error: unknown) => {
        // Without the list one still opens by path; the next visit asks again.
        if (!(error instanceof RefusedError)) throw error;
      },
    );
    return () => void (gone = true);
  }, [now]);
  const others = files.filter((file) => file !== now);
  const [missing, setMissing] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    let gone = false;
    void absent(files).then((found) => {
      if (!gone) setMissing(found);
    });
    return () => void (gone = true);
  }, [files]);
  if (others.length === 0) return null;
  return (
    <>
      <h3>{t("settings.recent")}</h3>
      <ul class="settings-recent">
        {others.map((file) => (
          <li key={file}>
            <button type="button" class="link" disabled={missing.has(file)} onClick={() => ask(file)}>
              {file}
            </button>
            {missing.has(file) && <span class="quiet"> {t("settings.missing")}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
