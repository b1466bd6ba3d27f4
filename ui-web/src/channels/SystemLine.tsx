// A system message, worded here from its code, with what one can do about it.
import { Play, ScrollText } from "lucide";
import type { JSX } from "preact";
import { AgentError } from "../agents/AgentPanel";
import type { Message } from "../bus/schema.gen";
import { isKey, t } from "../i18n/translate";
import { agentsByName, conversations, give, outbox, pending, titleOf } from "../shell/app";
import { clock } from "../shell/format";
import { Icon } from "../shell/icon";
import { showLogs } from "../shell/pane";
import { wordsOf } from "../bus/text";

export function SystemLine({ message }: { message: Message }): JSX.Element {
  const { agent, code = "", createdAt, error } = message;
  const key = `system.${code}`;
  const text = isKey(key)
    ? t(key, { agent: titleOf(agent) })
    : t("system.other", { code: error?.message ?? code });
  const helps = code === "agent-unavailable" && agentsByName.value.has(agent);
  return (
    <div class={error === undefined ? "system" : "system system-bad"}>
      <p>
        {text} <time class="quiet">{clock(createdAt)}</time>
      </p>
      {error !== undefined && <AgentError problem={error} />}
      {helps && <Remedies message={message} />}
    </div>
  );
}

function Remedies({ message }: { message: Message }): JSX.Element {
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
          onClick={() => outbox.send(channel, wordsOf(question))}
        >
          {t("message.again")}
        </button>
      )}
    </p>
  );
}
