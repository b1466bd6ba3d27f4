// A conversation: its header, its messages, what waits for a person, and where one writes.
import { ArrowLeft, PanelRight, UserPlus, Users } from "lucide";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { AgentMark, stateText } from "../agents/AgentMark";
import { Avatar } from "../agents/Avatar";
import type { Channel, Usage } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import {
  agentsByName,
  channels,
  channelsKnown,
  conversations,
  nameOf,
  outbox,
  permissions,
  store,
  titleOf,
} from "../shell/app";
import { Icon } from "../shell/icon";
import { go, home } from "../shell/route";
import { pane, showMembers, toggle } from "../shell/pane";
import { Composer, insert } from "./Composer";
import { MessageList } from "./MessageList";
import { PastList } from "./PastList";
import { inSight, PermissionCard } from "./PermissionCard";
import { TurnStrip } from "./TurnStrip";
import { UsageMeter } from "./UsageMeter";

interface Props {
  channel: string;
  /** One to show in its place, instead of the end. */
  message: string | null;
  onBack: () => void;
}

export function ConversationView({ channel: id, message, onBack }: Props): JSX.Element {
  const toEnd = useRef<() => void>(() => undefined);
  useEffect(() => store.openConversation(id), [id]);
  const state = conversations.value[id]?.value;
  const channel = channels.value.find((one) => one.id === id);
  const problem = store.problems.value[`conversation ${id}`];
  useEffect(() => {
    if (state !== undefined) outbox.arrived(new Set(state.messages.map((one) => one.id)));
  }, [state?.messages, outbox.entries.value]);
  if (channel === undefined && state === undefined) {
    const gone = channelsKnown.value && problem !== undefined;
    return (
      <main class="conversation conversation-none" aria-busy={!gone}>
        <p>{gone ? t("channel.gone") : t("channel.loading")}</p>
        <button
          type="button"
          class={gone ? "button button-wide" : "button button-wide only-narrow"}
          onClick={gone ? home : onBack}
        >
          {t("sidebar.show")}
        </button>
      </main>
    );
  }
  const name = channel === undefined ? "" : nameOf(channel);
  const empty = state?.messages.every(({ role }) => role === "system") ?? false;
  const beginning = <Beginning channel={channel} empty={empty} />;
  return (
    <main class="conversation" aria-label={name}>
      <Header channel={channel} name={name} id={id} onBack={onBack} />
      {state === undefined ? (
        <p class="list-note list-box">
          {problem === undefined
            ? t("channel.loading")
            : t("channel.unread", { reason: problemText(problem) })}
        </p>
      ) : message === null ? (
        <MessageList
          key={id}
          channel={id}
          state={state}
          beginning={beginning}
          onReady={(jump) => (toEnd.current = jump)}
        />
      ) : (
        <PastList key={`${id} ${message}`} channel={id} message={message} beginning={beginning} />
      )}
      <Docked channel={id} />
      <TurnStrip channel={id} />
      <Composer channel={id} name={name} onSent={() => (message === null ? toEnd.current() : go(id))} />
    </main>
  );
}

/** In the header; all of them stand in the pane. */
const SHOWN_MEMBERS = 4;
const NO_USAGE: Usage = { used: 0, size: 0 };

interface HeaderProps {
  channel: Channel | undefined;
  name: string;
  id: string;
  onBack: () => void;
}

function Header({ channel, name, id, onBack }: HeaderProps): JSX.Element {
  const agent = agentsByName.value.get(channel?.direct ?? "");
  const usage = conversations.value[id]?.value.usage ?? {};
  const members = channel?.direct === "" ? channel.members : [];
  return (
    <header class="conversation-head">
      <button
        type="button"
        class="button only-narrow"
        aria-label={t("sidebar.show")}
        onClick={onBack}
      >
        <Icon of={ArrowLeft} />
      </button>
      <h2>{name}</h2>
      {agent !== undefined && (
        <span class={`conversation-state mark-${agent.state}`}>
          <AgentMark agent={agent} named={false} />
          {stateText(agent)}
        </span>
      )}
      <span class="quiet conversation-description" title={channel?.description}>
        {channel?.description}
      </span>
      <span class="head-end">
        {agent !== undefined && usage[agent.name] !== undefined && (
          <UsageMeter agent={agent.name} usage={usage[agent.name] ?? NO_USAGE} />
        )}
        {members.slice(0, SHOWN_MEMBERS).map((name) => (
          <Member key={name} name={name} usage={usage[name]} />
        ))}
        {members.length > SHOWN_MEMBERS && (
          <span class="quiet">+{members.length - SHOWN_MEMBERS}</span>
        )}
        {channel !== undefined && (
          <button
            type="button"
            class="button"
            title={t("members.open")}
            aria-expanded={pane.value?.shows === "members"}
            onClick={() => toggle("members")}
          >
            <Icon of={Users} />
            <span class="unseen">{t("members.open")}: </span>
            {channel.members.length}
          </button>
        )}
        <button
          type="button"
          class="button"
          aria-label={t("sidebar.agents")}
          title={t("sidebar.agents")}
          aria-expanded={pane.value?.shows === "agents"}
          onClick={() => toggle("agents")}
        >
          <Icon of={PanelRight} />
        </button>
      </span>
    </header>
  );
}

/** Who is in the channel, how each is, and how full its memory is. */
function Member({ name, usage }: { name: string; usage: Usage | undefined }): JSX.Element {
  const agent = agentsByName.value.get(name);
  return (
    <span class="head-member">
      {agent !== undefined && <AgentMark agent={agent} />}
      <span class="head-name">{titleOf(name)}</span>
      {usage !== undefined && <UsageMeter agent={name} usage={usage} short />}
    </span>
  );
}

interface BeginningProps {
  channel: Channel | undefined;
  empty: boolean;
}

function Beginning({ channel, empty }: BeginningProps): JSX.Element {
  if (channel?.direct === "" && empty) return <EmptyChannel channel={channel} />;
  if (!empty || channel === undefined) {
    return <p class="list-note">{t("channel.beginning")}</p>;
  }
  const description = agentsByName.value.get(channel.direct)?.description ?? "";
  return (
    <div class="beginning">
      <Avatar agent={channel.direct} />
      <h3>{titleOf(channel.direct)}</h3>
      {description !== "" && <p>{description}</p>}
      <p>{t("channel.hello", { agent: titleOf(channel.direct) })}</p>
      <p class="quiet">{t("channel.helloHint")}</p>
    </div>
  );
}

/** Nobody has said anything: whom one can ask, and who else could be asked. */
function EmptyChannel({ channel }: { channel: Channel }): JSX.Element {
  const there = channel.members.filter((name) => agentsByName.value.has(name));
  return (
    <div class="beginning">
      <h3>{nameOf(channel)}</h3>
      {channel.description !== "" && <p>{channel.description}</p>}
      <p>{t(there.length === 0 ? "channel.nobody" : "channel.empty")}</p>
      <p class="beginning-members">
        {there.map((name) => (
          <button
            key={name}
            type="button"
            class="button button-wide"
            onClick={() => insert(channel.id, `@${name} `)}
          >
            @{name}
          </button>
        ))}
        <button type="button" class="button button-wide" onClick={showMembers}>
          <Icon of={UserPlus} /> {t("members.invite")}
        </button>
      </p>
    </div>
  );
}

/** Requests whose card in the flow is out of sight. */
function Docked({ channel }: { channel: string }): JSX.Element | null {
  const all = permissions.value.filter((one) => one.channel === channel);
  const hidden = all.filter(({ id }) => !inSight.value.has(id));
  if (hidden.length === 0) return null;
  return (
    <div class="dock" role="region" aria-label={t("permission.region")}>
      {hidden.map((permission) => (
        <PermissionCard
          key={permission.id}
          permission={permission}
          index={all.indexOf(permission) + 1}
          count={all.length}
          docked
        />
      ))}
    </div>
  );
}
