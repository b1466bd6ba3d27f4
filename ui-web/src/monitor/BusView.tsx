// The bus monitor: the processes that Sidekicks is made of, and the events between them, live.
import { ArrowLeft } from "lucide";
import type { JSX } from "preact";
import { t } from "../i18n/translate";
import { Icon } from "../shell/icon";
import { ComponentTable } from "./ComponentTable";
import { EventList } from "./EventList";
import "./bus.css";

export function BusView({ onBack }: { onBack: () => void }): JSX.Element {
  return (
    <main class="bus" aria-label={t("bus.title")}>
      <header class="conversation-head">
        <button type="button" class="button only-narrow" aria-label={t("sidebar.show")} onClick={onBack}>
          <Icon of={ArrowLeft} />
        </button>
        <h2>{t("bus.title")}</h2>
      </header>
      <ComponentTable />
      <EventList />
    </main>
  );
}
