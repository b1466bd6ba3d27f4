// The frame of the page: conversations at the left, one in the middle, details at the right.
import { X } from "lucide";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { AgentPanel } from "../agents/AgentPanel";
import { LogView } from "../agents/LogView";
import { ConversationView } from "../channels/ConversationView";
import { t } from "../i18n/translate";
import { ComponentPanel } from "../monitor/ComponentPanel";
import { current, store, token } from "./app";
import { Announcer } from "./Announcer";
import { Icon } from "./icon";
import { closePane, pane } from "./pane";
import { Sidebar } from "./Sidebar";
import { Strips } from "./Strips";
import { TokenPage } from "./TokenPage";
import { Welcome } from "./Welcome";

/** On a narrow screen one pane is seen at a time: this one, or the conversation. */
const atList = signal(true);
current.subscribe((channel) => (atList.value = channel === null));

export function App(): JSX.Element {
  if (token.value === null || store.link.value.state === "refused") return <TokenPage />;
  const channel = current.value;
  const back = (): void => void (atList.value = true);
  return (
    <div class={`page${pane.value === null ? "" : " page-paned"}${atList.value ? " page-list" : ""}`}>
      <Sidebar onChosen={() => (atList.value = false)} />
      <div class="middle">
        <Strips />
        {channel === null ? (
          <Welcome onBack={back} />
        ) : (
          <ConversationView channel={channel} onBack={back} />
        )}
      </div>
      <Details />
      <Announcer />
    </div>
  );
}

function Details(): JSX.Element | null {
  const shown = pane.value;
  if (shown === null) return null;
  const title = t(shown.shows === "components" ? "sidebar.components" : "sidebar.agents");
  return (
    <aside class="pane" aria-label={t("pane.label")}>
      <header class="pane-head">
        <h2>{title}</h2>
        <button
          type="button"
          class="button"
          aria-label={t("pane.close")}
          title={t("pane.close")}
          onClick={() => closePane()}
        >
          <Icon of={X} />
        </button>
      </header>
      <div class="pane-body">
        {shown.shows === "agents" && <AgentPanel />}
        {shown.shows === "components" && <ComponentPanel />}
        {shown.shows === "logs" && <LogView agent={shown.agent} />}
      </div>
    </aside>
  );
}
