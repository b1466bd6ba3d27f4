// What an agent writes to its stderr: the last lines, and those that come while one looks.
import { ArrowLeft, Copy, WrapText } from "lucide";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { problemText, t } from "../i18n/translate";
import { logs, store, titleOf } from "../shell/app";
import { say } from "../shell/Announcer";
import { Icon } from "../shell/icon";
import { showAgents } from "../shell/pane";
import { plainLine } from "./ansi";

export function LogView({ agent }: { agent: string }): JSX.Element {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  const [filter, setFilter] = useState("");
  const [wraps, setWraps] = useState(true);
  useEffect(() => {
    store.openLogs(agent);
    return () => store.closeLogs(agent);
  }, [agent]);
  const lines = logs.value[agent]?.value;
  const problem = store.problems.value[`logs ${agent}`];
  const sought = filter.toLowerCase();
  const shown = (lines ?? []).filter(({ line }) => line.toLowerCase().includes(sought));
  useLayoutEffect(() => {
    const element = box.current;
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight;
  }, [lines]);
  return (
    <section class="logs" aria-label={t("agent.logs", { agent: titleOf(agent) })}>
      <button type="button" class="button button-wide" onClick={showAgents}>
        <Icon of={ArrowLeft} /> {t("agent.logsBack")}
      </button>
      <h3>{t("agent.logs", { agent: titleOf(agent) })}</h3>
      <div class="logs-bar">
        <input
          type="search"
          class="input"
          value={filter}
          aria-label={t("logs.filter")}
          placeholder={t("logs.filter")}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
        <button
          type="button"
          class="button"
          aria-pressed={wraps}
          aria-label={t("logs.wrap")}
          title={t("logs.wrap")}
          onClick={() => setWraps(!wraps)}
        >
          <Icon of={WrapText} />
        </button>
        {isSecureContext && (
          <button
            type="button"
            class="button"
            aria-label={t("logs.copy")}
            title={t("logs.copy")}
            onClick={() => void copy(shown.map(({ line }) => plainLine(line)))}
          >
            <Icon of={Copy} />
          </button>
        )}
      </div>
      {problem !== undefined && <p class="refusal">{problemText(problem)}</p>}
      {lines?.length === 0 && <p class="pane-empty">{t("agent.logsEmpty")}</p>}
      <pre
        ref={box}
        class={wraps ? "logs-lines" : "logs-lines logs-long"}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          follows.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
      >
        {shown.map(({ line, stream }, index) => (
          <span key={index} class={`logs-line logs-${stream}`}>
            {plainLine(line)}
            {"\n"}
          </span>
        ))}
      </pre>
    </section>
  );
}

async function copy(lines: readonly string[]): Promise<void> {
  await navigator.clipboard.writeText(lines.join("\n"));
  say(t("message.copied"));
}
