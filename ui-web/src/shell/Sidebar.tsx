// The list of conversations. Every configured agent stands under Direct, before any word was said.
import { Activity, Bot, Command, LoaderCircle, Plus, Search, Settings, type IconNode } from "lucide";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { AgentMark } from "../agents/AgentMark";
import type { Channel } from "../bus/schema.gen";
import { unreadIn } from "../channels/unread";
import { problemText, t } from "../i18n/translate";
import { works } from "../monitor/component";
import {
  agents,
  agentsByName,
  agentsKnown,
  channelsKnown,
  components,
  current,
  directOf,
  listKnown,
  openDirect,
  pending,
  permissions,
  refusals,
  store,
  turnOf,
} from "./app";
import { openDialog } from "./dialog";
import { Icon } from "./icon";
import { pane, toggle } from "./pane";
import { go, goTo, route, type Screen } from "./route";
import { oneStop, roam } from "./roam";
import { named, orphans } from "./rows";

export function Sidebar({ onChosen }: { onChosen: () => void }): JSX.Element {
  const list = useRef<HTMLElement>(null);
  useEffect(() => (list.current === null ? undefined : oneStop(list.current)), []);
  return (
    <nav
      class="sidebar"
      aria-label={t("sidebar.label")}
      aria-busy={!listKnown.value}
      ref={list}
      onKeyDown={(event) => roam(event, list.current)}
    >
      <header class="sidebar-head">
        <img src="/favicon.svg" width="22" height="22" alt="" />
        <h1>{t("app.name")}</h1>
        <LinkState />
        <Shortcuts />
      </header>
      <Waiting />
      <div class="sidebar-list">
        <div class="sidebar-title">
          <h2>{t("sidebar.channels")}</h2>
          <button
            type="button"
            class="sidebar-add"
            aria-label={t("channel.create")}
            title={t("channel.create")}
            onClick={() => openDialog({ shows: "create" })}
          >
            <Icon of={Plus} />
          </button>
        </div>
        {named.value.length === 0 && channelsKnown.value && (
          <button
            type="button"
            class="row row-quiet"
            onClick={() => openDialog({ shows: "create" })}
          >
            <Icon of={Plus} /> {t("channel.create")}
          </button>
        )}
        <ul>
          {named.value.map((channel) => (
            <li key={channel.id}>
              <ChannelRow channel={channel} onChosen={onChosen} />
            </li>
          ))}
        </ul>
        <h2>{t("sidebar.direct")}</h2>
        {agents.value.length + orphans.value.length === 0 && agentsKnown.value && (
          <p class="pane-empty">{t("sidebar.none")}</p>
        )}
        <ul>
          {agents.value.map(({ name }) => (
            <li key={name}>
              <DirectRow name={name} onChosen={onChosen} />
            </li>
          ))}
          {orphans.value.map((channel) => (
            <li key={channel.id}>
              <ChannelRow channel={channel} onChosen={onChosen} />
            </li>
          ))}
        </ul>
      </div>
      <SidebarFoot onChosen={onChosen} />
    </nav>
  );
}

/** How many requests wait for a person, anywhere; with one list of them all. */
function Waiting(): JSX.Element | null {
  const count = permissions.value.length;
  if (count === 0) return null;
  return (
    <button
      type="button"
      class="row row-waits"
      title="Alt+P"
      onClick={() => openDialog({ shows: "permissions" })}
    >
      <span class="flag flag-waits" aria-hidden="true">
        !
      </span>
      <span class="row-name">{t("sidebar.waiting", { count })}</span>
    </button>
  );
}

function Shortcuts(): JSX.Element {
  return (
    <button
      type="button"
      class="sidebar-add"
      aria-label={t("switcher.title")}
      title={`${t("switcher.title")} (Ctrl+K)`}
      onClick={() => openDialog({ shows: "switcher" })}
    >
      <Icon of={Command} />
    </button>
  );
}

function LinkState(): JSX.Element {
  const live = store.isLive.value;
  return (
    <span class={live ? "link-state" : "link-state link-off"}>
      <span class={`light light-${live ? "running" : "starting"}`} aria-hidden="true" />
      <span class="link-word">{t(live ? "link.live" : "link.connecting")}</span>
    </span>
  );
}

const MANY = 99;

/** Who waits for a person outranks who works, and what was said. */
function Flags({ channel }: { channel: string | undefined }): JSX.Element | null {
  if (channel === undefined) return null;
  if (permissions.value.some((one) => one.channel === channel)) {
    return (
      <span class="flag flag-waits" title={t("sidebar.permission")}>
        <span aria-hidden="true">!</span>
        <span class="unseen">{t("sidebar.permission")}</span>
      </span>
    );
  }
  const count = unreadIn(channel);
  return (
    <>
      {turnOf(channel).busy && <Busy />}
      {count > 0 && (
        <span class="flag flag-unread" title={t("sidebar.unread", { count })}>
          <span aria-hidden="true">{count > MANY ? `${MANY}+` : count}</span>
          <span class="unseen">{t("sidebar.unread", { count })}</span>
        </span>
      )}
    </>
  );
}

function Busy(): JSX.Element {
  return (
    <span class="flag flag-busy" title={t("sidebar.answering")}>
      <Icon of={LoaderCircle} size={14} />
      <span class="unseen">{t("sidebar.answering")}</span>
    </span>
  );
}

function DirectRow({ name, onChosen }: { name: string; onChosen: () => void }): JSX.Element | null {
  const agent = agentsByName.value.get(name);
  const channel = directOf(name)?.id;
  if (agent === undefined) return null;
  const refusal = refusals.value[`direct ${name}`];
  const here = channel !== undefined && channel === current.value;
  return (
    <>
      <button
        type="button"
        class={unreadIn(channel) > 0 ? "row row-unread" : "row"}
        aria-current={here ? "page" : undefined}
        disabled={pending.value.has(`direct ${name}`)}
        onClick={() => {
          onChosen();
          void openDirect(name);
        }}
      >
        <AgentMark agent={agent} />
        <span class="row-name">{agent.title}</span>
        {agent.outdated && (
          <span class="chip" title={t("state.outdated")}>
            ↻<span class="unseen">{t("state.outdated")}</span>
          </span>
        )}
        {agent.state === "error" && <span class="row-word">{t("state.error")}</span>}
        <Flags channel={channel} />
      </button>
      {refusal !== undefined && <p class="refusal">{problemText(refusal)}</p>}
    </>
  );
}

function ChannelRow({ channel, onChosen }: { channel: Channel; onChosen: () => void }): JSX.Element {
  return (
    <button
      type="button"
      class={unreadIn(channel.id) > 0 ? "row row-unread" : "row"}
      aria-current={channel.id === current.value ? "page" : undefined}
      title={channel.direct === "" ? channel.description : t("sidebar.unconfigured")}
      onClick={() => {
        onChosen();
        go(channel.id);
      }}
    >
      <span class="row-hash" aria-hidden="true">
        {channel.direct === "" ? "#" : "–"}
      </span>
      <span class="row-name">{channel.direct === "" ? channel.name : channel.direct}</span>
      <Flags channel={channel.id} />
    </button>
  );
}

interface ScreenProps {
  screen: Screen;
  icon: IconNode;
  name: string;
  onChosen: () => void;
  children?: ComponentChildren;
}

function ScreenRow({ screen, icon, name, onChosen, children }: ScreenProps): JSX.Element {
  return (
    <button
      type="button"
      class="row"
      aria-current={route.value.at === screen ? "page" : undefined}
      onClick={() => {
        onChosen();
        goTo(screen);
      }}
    >
      <Icon of={icon} />
      <span class="row-name">{name}</span>
      {children}
    </button>
  );
}

function SidebarFoot({ onChosen }: { onChosen: () => void }): JSX.Element {
  const running = agents.value.filter(({ state }) => state !== "stopped" && state !== "error");
  const wrong = agents.value.filter(({ state }) => state === "error").length;
  const bad = components.value.filter((one) => !works(one)).length;
  return (
    <footer class="sidebar-foot">
      <button
        type="button"
        class="row"
        aria-expanded={pane.value?.shows === "agents" || pane.value?.shows === "logs"}
        onClick={() => toggle("agents")}
      >
        <Icon of={Bot} />
        <span class="row-name">{t("sidebar.agents")}</span>
        {wrong > 0 && (
          <span class="row-word">
            <span aria-hidden="true">▲</span> {wrong}
            <span class="unseen"> {t("state.error")}</span>
          </span>
        )}
        {agentsKnown.value && (
          <span class="quiet">{t("sidebar.running", { count: running.length })}</span>
        )}
      </button>
      <ScreenRow screen="search" icon={Search} name={t("search.title")} onChosen={onChosen} />
      <ScreenRow screen="settings" icon={Settings} name={t("settings.title")} onChosen={onChosen} />
      <ScreenRow screen="bus" icon={Activity} name={t("bus.title")} onChosen={onChosen}>
        {bad > 0 && (
          <span class="row-word">
            <span aria-hidden="true">▲</span> {bad}
            <span class="unseen"> {t("component.down")}</span>
          </span>
        )}
      </ScreenRow>
    </footer>
  );
}
