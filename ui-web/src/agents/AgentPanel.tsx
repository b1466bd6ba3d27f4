// All agents with what can be done to them: start, stop, restart, read their logs.
import { MessageSquare, Play, RotateCw, ScrollText, Square } from "lucide";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { AgentView, Problem } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { agents, config, give, openDirect, pending, refusals, store } from "../shell/app";
import { reason } from "../shell/away";
import { size } from "../shell/format";
import { Icon } from "../shell/icon";
import { useKeptFocus } from "../shell/keptFocus";
import { closePane, showLogs } from "../shell/pane";
import { AgentMark, stateText } from "./AgentMark";
import { Avatar } from "./Avatar";

export function AgentPanel(): JSX.Element {
  // No event tells how much memory they take.
  useEffect(() => store.refresh("agents"), []);
  if (agents.value.length === 0) {
    return <p class="pane-empty">{t("agent.none", { path: config.value?.path ?? "" })}</p>;
  }
  return (
    <ul class="agents">
      {agents.value.map((agent) => (
        <AgentCard key={agent.name} agent={agent} />
      ))}
    </ul>
  );
}

interface CardProps {
  agent: AgentView;
  /** What else can be done to it where it is shown. */
  action?: JSX.Element | undefined;
}

export function AgentCard({ agent, action }: CardProps): JSX.Element {
  const refusal = refusals.value[`agent ${agent.name}`];
  return (
    <li class="agent">
      <div class="agent-head">
        <Avatar agent={agent.name} />
        <div class="agent-names">
          <strong>{agent.title}</strong>
          {agent.title !== agent.name && <span class="quiet">@{agent.name}</span>}
        </div>
        <span class={`agent-state mark-${agent.state}`}>
          <AgentMark agent={agent} named={false} />
          {stateText(agent)}
        </span>
      </div>
      {agent.description !== "" && <p class="agent-description">{agent.description}</p>}
      {agent.outdated && (
        <p class="agent-outdated">
          <Icon of={RotateCw} size={13} /> {t("state.outdated")}
        </p>
      )}
      {agent.memory !== undefined && agent.memory > 0 && (
        <p class="agent-description">{t("agent.memory", { size: size(agent.memory) })}</p>
      )}
      {agent.error !== undefined && <AgentError problem={agent.error} />}
      {refusal !== undefined && (
        <p class="refusal" role="alert">
          {problemText(refusal)}
        </p>
      )}
      <AgentActions agent={agent} action={action} />
    </li>
  );
}

/** The reason, and after a failed start what the agent wrote last. */
export function AgentError({ problem }: { problem: Problem }): JSX.Element {
  const lines = problem.params["stderr"];
  const last = Array.isArray(lines) ? lines.join("\n") : typeof lines === "string" ? lines : "";
  return (
    <div class="agent-error">
      <p>{problemText(problem)}</p>
      {last !== "" && (
        <details>
          <summary>{t("agent.errorLines")}</summary>
          <pre tabIndex={0}>{last}</pre>
        </details>
      )}
    </div>
  );
}

/** Start where it doesn't run; stop and restart where it does. Disabled until there's an answer. */
function AgentActions({ agent, action }: CardProps): JSX.Element {
  const { name, title } = agent;
  const box = useRef<HTMLSpanElement>(null);
  useKeptFocus(box);
  const key = `agent ${name}`;
  const waits = pending.value.has(key);
  const runs = agent.state !== "stopped" && agent.state !== "error";
  const away = reason("bus", "router", "agents");
  return (
    <div class="agent-actions">
      <span class="agent-run" ref={box}>
        {runs ? (
          <>
            <button
              type="button"
              class="button"
              disabled={away !== undefined || agent.stopping || (waits && agent.state !== "starting")}
              aria-label={t("agent.stop", { agent: title })}
              title={away ?? t("agent.stop", { agent: title })}
              onClick={() => void give(waits ? `${key} stop` : key, "Stop", { agent: name })}
            >
              <Icon of={Square} />
            </button>
            <button
              type="button"
              class="button"
              disabled={away !== undefined || waits || agent.stopping}
              aria-label={t("agent.restart", { agent: title })}
              title={away ?? t("agent.restart", { agent: title })}
              onClick={() => void give(key, "Restart", { agent: name })}
            >
              <Icon of={RotateCw} />
            </button>
          </>
        ) : (
          <button
            type="button"
            class="button"
            disabled={away !== undefined || waits || agent.stopping}
            aria-label={t("agent.start", { agent: title })}
            title={away ?? t("agent.start", { agent: title })}
            onClick={() => void give(key, "Start", { agent: name })}
          >
            <Icon of={Play} />
          </button>
        )}
      </span>
      <button
        type="button"
        class="button"
        aria-label={t("agent.message", { agent: title })}
        title={t("agent.message", { agent: title })}
        onClick={() => {
          closePane({ onlyOverlay: true });
          void openDirect(name);
        }}
      >
        <Icon of={MessageSquare} />
      </button>
      {action}
      <button
        type="button"
        class="button button-wide"
        aria-label={t("agent.logs", { agent: title })}
        onClick={() => showLogs(name)}
      >
        <Icon of={ScrollText} /> {t("agent.logsShort")}
      </button>
    </div>
  );
}
