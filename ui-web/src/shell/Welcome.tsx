// What is shown where no conversation is chosen: the agents one can talk to.
import { Keyboard, Plus, Settings } from "lucide";
import type { JSX } from "preact";
import { AgentMark, stateText } from "../agents/AgentMark";
import { Avatar } from "../agents/Avatar";
import { t } from "../i18n/translate";
import { agents, agentsKnown, config, openDirect } from "./app";
import { openDialog } from "./dialog";
import { Icon } from "./icon";
import { goTo } from "./route";

/** To be copied: the agent that comes with Sidekicks needs nothing else. */
const EXAMPLE = `agents:
  - name: demo
    title: Demo
    command: sk-demo-agent
`;

export function Welcome({ onBack }: { onBack: () => void }): JSX.Element {
  const loaded = agentsKnown.value;
  const { created = false, path = "" } = config.value ?? {};
  return (
    <main class="welcome">
      <button type="button" class="button only-narrow" onClick={onBack}>
        {t("sidebar.show")}
      </button>
      {!loaded ? (
        <p class="quiet">{t("channel.loading")}</p>
      ) : (
        <>
          <h2>{t("welcome.title")}</h2>
          {created && <p>{t("welcome.created", { path })}</p>}
          {agents.value.length === 0 && (
            <>
              <p>{t("agent.none", { path })}</p>
              <pre class="welcome-example" tabIndex={0}>
                {EXAMPLE}
              </pre>
            </>
          )}
          <ul class="welcome-agents">
            {agents.value.map((agent) => (
              <li key={agent.name}>
                <button type="button" onClick={() => void openDirect(agent.name)}>
                  <Avatar agent={agent.name} />
                  <span class="welcome-name">{agent.title}</span>
                  <span class={`welcome-state mark-${agent.state}`}>
                    <AgentMark agent={agent} named={false} /> {stateText(agent)}
                  </span>
                  {agent.description !== "" && <span class="quiet">{agent.description}</span>}
                </button>
              </li>
            ))}
          </ul>
          {agents.value.length > 0 && <p class="quiet">{t("welcome.hint")}</p>}
          <p class="welcome-ways">
            <button
              type="button"
              class="button button-wide"
              onClick={() => openDialog({ shows: "create" })}
            >
              <Icon of={Plus} /> {t("channel.create")}
            </button>
            <button
              type="button"
              class="button button-wide"
              onClick={() => openDialog({ shows: "keys" })}
            >
              <Icon of={Keyboard} /> {t("keys.title")}
            </button>
            <button type="button" class="button button-wide" onClick={() => goTo("settings")}>
              <Icon of={Settings} /> {t("settings.title")}
            </button>
          </p>
        </>
      )}
    </main>
  );
}
