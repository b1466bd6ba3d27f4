// Who is in a channel, who could be, and what can be done to the channel itself.
import { Pencil, Trash2, UserMinus, UserPlus } from "lucide";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { AgentCard } from "../agents/AgentPanel";
import { AgentMark } from "../agents/AgentMark";
import { Avatar } from "../agents/Avatar";
import type { Channel } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { ChannelExport } from "../search/ChannelExport";
import { agents, agentsByName, channels, give, pending, refusals, titleOf } from "../shell/app";
import { reason } from "../shell/away";
import { openDialog } from "../shell/dialog";
import { Icon } from "../shell/icon";

export function MembersPanel({ channel: id }: { channel: string }): JSX.Element | null {
  const channel = channels.value.find((one) => one.id === id);
  const region = useRef<HTMLElement>(null);
  if (channel === undefined) return null;
  const others = agents.value.filter(({ name }) => !channel.members.includes(name));
  const refusal = refusals.value[`members ${id}`];
  const away = reason("bus", "router");
  // The button that was pressed goes away with its row.
  const change = async (name: string, agent: string): Promise<void> => {
    await give(`members ${id}`, name, { channel: id, agent });
    region.current?.focus();
  };
  return (
    <section class="members" ref={region} tabIndex={-1} aria-label={t("members.label")}>
      <About channel={channel} />
      <h3>{t("members.title", { count: channel.members.length })}</h3>
      {refusal !== undefined && (
        <p class="refusal" role="alert">
          {problemText(refusal)}
        </p>
      )}
      {channel.members.length === 0 && <p class="pane-empty">{t("members.none")}</p>}
      <ul class="agents">
        {channel.members.map((name) => (
          <Member key={name} channel={channel} name={name} onChange={change} />
        ))}
      </ul>
      {channel.direct === "" && others.length > 0 && (
        <>
          <h3>{t("members.invite")}</h3>
          <ul class="invitable">
            {others.map((agent) => (
              <li key={agent.name}>
                <Avatar agent={agent.name} />
                <span class="agent-names">
                  <strong>{agent.title}</strong>
                  {agent.title !== agent.name && <span class="quiet">@{agent.name}</span>}
                </span>
                <AgentMark agent={agent} />
                <button
                  type="button"
                  class="button"
                  disabled={away !== undefined || pending.value.has(`members ${id}`)}
                  aria-label={t("members.inviteOne", { agent: agent.title })}
                  title={away ?? t("members.inviteOne", { agent: agent.title })}
                  onClick={() => void change("AddMember", agent.name)}
                >
                  <Icon of={UserPlus} />
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function About({ channel }: { channel: Channel }): JSX.Element {
  return (
    <div class="members-about">
      {channel.description !== "" && <p>{channel.description}</p>}
      <div class="agent-actions">
        {channel.direct === "" && (
          <button
            type="button"
            class="button button-wide"
            onClick={() => openDialog({ shows: "rename", channel: channel.id })}
          >
            <Icon of={Pencil} size={14} /> {t("channel.renameDo")}
          </button>
        )}
        <button
          type="button"
          class="button button-wide bad"
          onClick={() => openDialog({ shows: "delete", channel: channel.id })}
        >
          <Icon of={Trash2} size={14} /> {t("channel.deleteDo")}
        </button>
      </div>
      <ChannelExport channel={channel} />
    </div>
  );
}

interface MemberProps {
  channel: Channel;
  name: string;
  onChange: (command: string, agent: string) => Promise<void>;
}

/** A member that left the configuration can only be removed. */
function Member({ channel, name, onChange }: MemberProps): JSX.Element {
  const agent = agentsByName.value.get(name);
  const title = titleOf(name);
  const away = reason("bus", "router");
  const remove =
    channel.direct === "" ? (
      <button
        type="button"
        class="button"
        disabled={away !== undefined || pending.value.has(`members ${channel.id}`)}
        aria-label={t("members.remove", { agent: title })}
        title={away ?? t("members.remove", { agent: title })}
        onClick={() => void onChange("RemoveMember", name)}
      >
        <Icon of={UserMinus} />
      </button>
    ) : undefined;
  if (agent !== undefined) return <AgentCard agent={agent} action={remove} />;
  return (
    <li class="agent">
      <div class="agent-head">
        <Avatar agent={name} />
        <span class="agent-names">
          <strong>{name}</strong>
          <span class="quiet">{t("sidebar.unconfigured")}</span>
        </span>
        {remove}
      </div>
    </li>
  );
}
