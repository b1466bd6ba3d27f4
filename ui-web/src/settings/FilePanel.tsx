// Which file is in force, which ones were before, and how to go on with another one.
import { FolderOpen } from "lucide";
import type { JSX } from "preact";
import { problemText, t } from "../i18n/translate";
import { config } from "../shell/app";
import { openDialog } from "../shell/dialog";
import { Icon } from "../shell/icon";
import { already, ask, open, opening, refusal, stops, wanted } from "./opening";
import { PathField } from "./PathField";
import { RecentFiles } from "./RecentFiles";

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
      <RecentFiles now={path} />
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
  if (already.value !== null) {
    return (
      <p class="quiet" role="status">
        {t("settings.already", { path: already.value })}
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
      <div class="settings-answers">
        <button
          type="button"
          class="button button-wide primary"
          ref={(button) => button?.focus()}
          onClick={() => void open()}
        >
          {t("settings.open")}
        </button>
        <button type="button" class="button button-wide" onClick={() => (wanted.value = null)}>
          {t("component.cancel")}
        </button>
      </div>
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
