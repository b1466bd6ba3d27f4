// A system message, worded here from its code, with what one can do about it.
import { Play, ScrollText } from "lucide";
import type { JSX } from "preact";
import { AgentError } from "../agents/AgentPanel";
import type { Message, Problem } from "../bus/schema.gen";
import { isKey, problemText, t } from "../i18n/translate";
import { agents, agentsByName, channels, conversations, give, outbox, pending, titleOf } from "../shell/app";
import { clock } from "../shell/format";
import { Icon } from "../shell/icon";
import { showLogs, showMembers } from "../shell/pane";
import { wholeWords } from "./blob";
import { insert } from "./Composer";

const MILD: ReadonlySet<string> = new Set(["no-recipient", "permission-ruled", "memory-lost"]);
const MOST_NAMED = 10;

export function SystemLine({ message }: { message: Message }): JSX.Element {
  const { agent, code = "", createdAt, error } = message;
  const key = `system.${code}`;
  const text = isKey(key)
    ? t(key, { agent: titleOf(agent) })
    : t("system.other", { code: error?.message ?? code });
  const helps = code === "agent-unavailable" && agentsByName.value.has(agent);
  return (
    <div class={error === undefined || MILD.has(code) ? "system" : "system system-bad"}>
      <p>
        {text} <time class="quiet">{clock(createdAt)}</time>
      </p>
      {error !== undefined && <Reason code={code} problem={error} />}
      {code === "no-recipient" && <Mentions message={message} />}
      {helps && <Remedies message={message} />}
    </div>
  );
}

/** What a rule did and why nobody answers is no failure. */
function Reason({ code, problem }: { code: string; problem: Problem }): JSX.Element | null {
  if (code === "no-recipient" && agents.value.length > 0) return null; // the buttons say it
  if (MILD.has(code)) return <p>{problemText(problem)}</p>;
  return <AgentError problem={problem} />;
}

/** A way out where nobody is to answer: mention somebody, who joins if he isn't a member. */
function Mentions({ message }: { message: Message }): JSX.Element {
  const members = channels.value.find(({ id }) => id === message.channel)?.members ?? [];
  const there = agents.value.filter(({ name }) => members.includes(name));
  const named = there.length > 0 ? there : agents.value;
  return (
    <p class="system-actions">
      {named.slice(0, MOST_NAMED).map(({ name }) => (
        <button
          key={name}
          type="button"
          class="button"
          onClick={() => insert(message.channel, `@${name} `)}
        >
          @{name}
        </button>
      ))}
      {there.length === 0 && (
        <button type="button" class="button" onClick={showMembers}>
          {t("members.open")}
        </button>
      )}
    </p>
  );
}

export function Remedies({ message }: { message: Message }): JSX.Element {
  const { agent, answers, channel } = message;
  const key = `agent ${agent}`;
  const question = conversations.value[channel]?.value.messages.find(({ id }) => id === answers);
  return (
    <p class="system-actions">
      <button
        type="button"
        class="button"
        disabled={pending.value.has(key)}
        onClick={() => void give(key, "Start", { agent })}
      >
        <Icon of={Play} size={14} /> {t("agent.start", { agent: titleOf(agent) })}
      </button>
      <button type="button" class="button" onClick={() => showLogs(agent)}>
        <Icon of={ScrollText} size={14} /> {t("agent.logsShort")}
      </button>
      {question !== undefined && (
        <button
          type="button"
          class="button"
          onClick={() => void wholeWords(question).then((text) => outbox.send(channel, text))}
        >
          {t("message.again")}
        </button>
      )}
    </p>
  );
}
