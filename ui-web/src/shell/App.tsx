// The frame of the page: conversations at the left, one in the middle, details at the right.
import { X } from "lucide";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { AgentPanel } from "../agents/AgentPanel";
import { LogView } from "../agents/LogView";
import { ConversationView } from "../channels/ConversationView";
import { t } from "../i18n/translate";
import { CreateDialog, DeleteDialog, RenameDialog } from "../channels/ChannelDialogs";
import { MembersPanel } from "../channels/MembersPanel";
import { FolderDialog } from "../settings/FolderDialog";
import { current, store, token } from "./app";
import { Announcer } from "./Announcer";
import { PermissionsDialog } from "../channels/PermissionsDialog";
import { dialog } from "./dialog";
import { Icon } from "./icon";
import { closePane, pane, showAgents, showMembers, type Pane } from "./pane";
import { KeysDialog } from "./KeysDialog";
import { Later, type Screen } from "./Later";
import { route } from "./route";
import { Sidebar } from "./Sidebar";
import { Strips } from "./Strips";
import { Switcher } from "./Switcher";
import { TokenPage } from "./TokenPage";
import { Welcome } from "./Welcome";

/** On a narrow screen one pane is seen at a time: this one, or the conversation. */
const atList = signal(true);
route.subscribe(({ at }) => (atList.value = at === "welcome"));

export function App(): JSX.Element {
  if (token.value === null || store.link.value.state === "refused") return <TokenPage />;
  const back = (): void => void (atList.value = true);
  return (
    <div class={`page${pane.value === null ? "" : " page-paned"}${atList.value ? " page-list" : ""}`}>
      <Sidebar onChosen={() => (atList.value = false)} />
      <div class="middle">
        <Strips />
        <Middle onBack={back} />
      </div>
      <Details />
      <OpenDialog />
      <Announcer />
    </div>
  );
}

/** Screens that are looked at now and then are fetched with the first look. */
const SETTINGS = (): Promise<Screen> => import("../settings/SettingsView").then((it) => it.SettingsView);
const BUS = (): Promise<Screen> => import("../monitor/BusView").then((it) => it.BusView);
const SEARCH = (): Promise<Screen> => import("../search/SearchView").then((it) => it.SearchView);

function Middle({ onBack }: { onBack: () => void }): JSX.Element {
  const here = route.value;
  switch (here.at) {
    case "conversation":
      return <ConversationView channel={here.channel} message={here.message} onBack={onBack} />;
    case "settings":
      return <Later key="settings" screen={SETTINGS} onBack={onBack} />;
    case "bus":
      return <Later key="bus" screen={BUS} onBack={onBack} />;
    case "search":
      return <Later key="search" screen={SEARCH} onBack={onBack} />;
    default:
      return <Welcome onBack={onBack} />;
  }
}

const AGENTS: Pane = { shows: "agents" };

function Details(): JSX.Element | null {
  const here = current.value;
  const wanted = pane.value;
  const box = useRef<HTMLElement>(null);
  const before = useRef(wanted);
  // What was pressed may have gone with what the pane showed: one goes on in it, or where one writes.
  useLayoutEffect(() => {
    if (before.current === wanted) return;
    before.current = wanted;
    if (document.activeElement !== document.body) return;
    (box.current ?? document.querySelector<HTMLElement>(".composer-field"))?.focus();
  }, [wanted]);
  if (wanted === null) return null;
  const shown = wanted.shows === "members" && here === null ? AGENTS : wanted;
  return (
    <aside class="pane" ref={box} tabIndex={-1} aria-label={t("pane.label")}>
      <header class="pane-head">
        <PaneTabs shown={shown} />
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
        {shown.shows === "members" && here !== null && <MembersPanel channel={here} />}
        {shown.shows === "agents" && <AgentPanel />}
        {shown.shows === "logs" && <LogView agent={shown.agent} />}
      </div>
    </aside>
  );
}

/** What the pane can show of where one is. */
function PaneTabs({ shown }: { shown: Pane }): JSX.Element {
  if (current.value === null) return <h2>{t("sidebar.agents")}</h2>;
  const members = shown.shows === "members";
  return (
    <div class="pane-tabs" role="group" aria-label={t("pane.label")}>
      <button type="button" class="pane-tab" aria-pressed={members} onClick={showMembers}>
        {t("members.tab")}
      </button>
      <button type="button" class="pane-tab" aria-pressed={!members} onClick={showAgents}>
        {t("sidebar.agents")}
      </button>
    </div>
  );
}

function OpenDialog(): JSX.Element | null {
  const open = dialog.value;
  switch (open?.shows) {
    case "create":
      return <CreateDialog />;
    case "rename":
      return <RenameDialog key={open.channel} channel={open.channel} />;
    case "delete":
      return <DeleteDialog key={open.channel} channel={open.channel} />;
    case "switcher":
      return <Switcher />;
    case "permissions":
      return <PermissionsDialog />;
    case "keys":
      return <KeysDialog />;
    case "folder":
      return <FolderDialog chosen={open.chosen} />;
    case undefined:
      return null;
  }
}
