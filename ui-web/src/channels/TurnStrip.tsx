// Who is answering, who is next, how many messages wait, and Stop.
import { Square } from "lucide";
import type { JSX } from "preact";
import { problemText, t } from "../i18n/translate";
import { agentsByName, channels, nameOf, refusals, titleOf, turnOf } from "../shell/app";
import { Icon } from "../shell/icon";
import { armed, isStopping, stop } from "./stopping";

export function TurnStrip({ channel }: { channel: string }): JSX.Element | null {
  const turn = turnOf(channel);
  if (!turn.busy && turn.queued === 0) return null;
  const refusal = refusals.value[`stop ${channel}`];
  const stopping = isStopping(channel);
  return (
    <div class="turn">
      <span class="turn-dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      <span class="turn-text">{sentence(channel)}</span>
      {armed.value === channel && <span class="chip chip-warn">{t("turn.again")}</span>}
      {refusal !== undefined && <span class="refusal">{problemText(refusal)}</span>}
      <button
        type="button"
        class="button turn-stop"
        disabled={stopping}
        aria-keyshortcuts="Control+."
        title="Ctrl+."
        onClick={() => stop(channel)}
      >
        <Icon of={Square} size={13} /> {t(stopping ? "turn.stopping" : "turn.stop")}
      </button>
    </div>
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
    const starting = agentsByName.value.get(answering)?.state === "starting";
    parts.push(t(starting ? "turn.starting" : "turn.answering", { agent: titleOf(answering) }));
  } else {
    parts.push(t("turn.working"));
  }
  if (then.length > 0) parts.push(t("turn.then", { agents: then.map(titleOf).join(", ") }));
  if (queued > 0) parts.push(t("turn.queued", { count: queued }));
  return parts.join(" · ");
}
