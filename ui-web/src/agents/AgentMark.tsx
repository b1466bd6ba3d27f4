// An agent's state as a mark of its own shape, so that colour is never needed to tell it.
import type { JSX } from "preact";
import type { AgentState, AgentView } from "../bus/schema.gen";
import { t } from "../i18n/translate";
import type { Key } from "../i18n/en";

const SHAPES: Record<AgentState, JSX.Element> = {
  stopped: <circle cx="8" cy="8" r="4.5" fill="none" stroke="currentColor" stroke-width="1.6" />,
  starting: (
    <circle
      cx="8"
      cy="8"
      r="4.5"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-dasharray="3 2.4"
    />
  ),
  ready: <circle cx="8" cy="8" r="5" fill="currentColor" />,
  busy: (
    <g>
      <circle cx="8" cy="8" r="4.6" fill="none" stroke="currentColor" stroke-width="1.6" />
      <path d="M8 3.4a4.6 4.6 0 0 0 0 9.2z" fill="currentColor" />
    </g>
  ),
  error: <path d="M8 2.6 14 13H2z" fill="currentColor" />,
};

export function stateText(agent: Pick<AgentView, "state" | "stopping">): string {
  return t(agent.stopping ? "state.stopping" : (`state.${agent.state}` satisfies Key));
}

/** `named` false where the words stand beside it already. */
export function AgentMark({
  agent,
  named = true,
}: {
  agent: Pick<AgentView, "state" | "stopping">;
  named?: boolean;
}): JSX.Element {
  const label = stateText(agent);
  return (
    <span class={`mark mark-${agent.state}`} title={named ? label : undefined}>
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        {SHAPES[agent.state]}
      </svg>
      {named && <span class="unseen">{label}</span>}
    </span>
  );
}
