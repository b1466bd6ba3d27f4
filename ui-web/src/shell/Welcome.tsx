// What is shown where no conversation is chosen: the agents one can talk to.
import { Copy, Keyboard, Plus, Settings } from "lucide";
import type { JSX } from "preact";
import { AgentMark, stateText } from "../agents/AgentMark";
import { Avatar } from "../agents/Avatar";
import { t } from "../i18n/translate";
import { say } from "./Announcer";
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
          {created && agents.value.length > 0 && <FirstSteps path={path} />}
          {agents.value.length === 0 && (
            <>
              <p>{t("agent.none", { path })}</p>
              <pre class="welcome-example" tabIndex={0}>
                {EXAMPLE}
              </pre>
              {isSecureContext && (
                <button type="button" class="button button-wide" onClick={() => void copyExample()}>
                  <Icon of={Copy} /> {t("code.label")}
                </button>
              )}
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
          {agents.value.length > 0 && !created && <p class="quiet">{t("welcome.hint")}</p>}
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

/** Where nothing was configured by anybody yet. */
function FirstSteps({ path }: { path: string }): JSX.Element {
  return (
    <>
      <p>{t("welcome.created", { path })}</p>
      <ol class="welcome-steps">
        <li>
          <button type="button" class="link link-first" onClick={() => goTo("settings")}>
            {t("welcome.edit")}
          </button>
        </li>
        <li>{t("welcome.choose")}</li>
        <li>{t("welcome.talk")}</li>
      </ol>
    </>
  );
}

async function copyExample(): Promise<void> {
  await navigator.clipboard.writeText(EXAMPLE);
  say(t("message.copied"));
}
