// Who is answering, who is next, how many messages wait, and Stop.
import { Square } from "lucide";
import type { JSX } from "preact";
import { problemText, t } from "../i18n/translate";
import {
  agentsByName,
  channels,
  conversations,
  nameOf,
  permissions,
  refusals,
  titleOf,
  turnOf,
} from "../shell/app";
import { reason } from "../shell/away";
import { Icon } from "../shell/icon";
import { planOf } from "./plan";
import { armed, isStopping, stop } from "./stopping";

export function TurnStrip({ channel }: { channel: string }): JSX.Element | null {
  const turn = turnOf(channel);
  if (!turn.busy && turn.queued === 0) return null;
  const refusal = refusals.value[`stop ${channel}`];
  const stopping = isStopping(channel);
  const away = reason("bus", "router");
  return (
    <div class="turn">
      <span class="turn-dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      <span class="turn-text">{sentence(channel)}</span>
      <Progress channel={channel} />
      {armed.value === channel && <span class="chip chip-warn">{t("turn.again")}</span>}
      {refusal !== undefined && <span class="refusal">{problemText(refusal)}</span>}
      <button
        type="button"
        class="button turn-stop"
        disabled={away !== undefined || stopping}
        aria-keyshortcuts="Control+."
        title={away ?? "Ctrl+."}
        onClick={() => stop(channel)}
      >
        <Icon of={Square} size={13} /> {t(stopping ? "turn.stopping" : "turn.stop")}
      </button>
    </div>
  );
}

/** "2/5 · Run tests", which opens the plan itself. */
function Progress({ channel }: { channel: string }): JSX.Element | null {
  const plan = planOf(conversations.value[channel]?.value.messages ?? []);
  if (plan === null) return null;
  const { message, done, count, current } = plan;
  const steps = t("turn.plan", { done, count });
  return (
    <button
      type="button"
      class="link turn-plan"
      title={t("plan.title")}
      onClick={() => {
        const row = document.querySelector(`[data-message="${CSS.escape(message)}"] .plan`);
        row?.scrollIntoView({ block: "center" });
      }}
    >
      {current === "" ? steps : `${steps} · ${current}`}
    </button>
  );
}

function sentence(channel: string): string {
  const { answering, then, queued, waitingFor } = turnOf(channel);
  const parts: string[] = [];
  if (waitingFor !== null) {
    const other = channels.value.find(({ id }) => id === waitingFor.channel);
    parts.push(
      t("turn.waiting", {
        agent: titleOf(waitingFor.agent),
        channel: other === undefined ? waitingFor.channel : nameOf(other),
      }),
    );
  } else if (answering !== null) {
    const asks = permissions.value.some((one) => one.channel === channel);
    const starting = agentsByName.value.get(answering)?.state === "starting";
    parts.push(t(asks ? "turn.asks" : starting ? "turn.starting" : "turn.answering", { agent: titleOf(answering) }));
  } else {
    parts.push(t("turn.working"));
  }
  if (then.length > 0) parts.push(t("turn.then", { agents: then.map(titleOf).join(", ") }));
  if (queued > 0) parts.push(t("turn.queued", { count: queued }));
  return parts.join(" · ");
}
