// What an agent writes to its stderr: the last lines, and those that come while one looks.
import { ArrowLeft } from "lucide";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { problemText, t } from "../i18n/translate";
import { logs, store, titleOf } from "../shell/app";
import { Icon } from "../shell/icon";
import { showAgents } from "../shell/pane";
import { plainLine } from "./ansi";

export function LogView({ agent }: { agent: string }): JSX.Element {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    store.openLogs(agent);
    return () => store.closeLogs(agent);
  }, [agent]);
  const lines = logs.value[agent]?.value;
  const problem = store.problems.value[`logs ${agent}`];
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
      {problem !== undefined && <p class="refusal">{problemText(problem)}</p>}
      {lines?.length === 0 && <p class="pane-empty">{t("agent.logsEmpty")}</p>}
      <pre
        ref={box}
        class="logs-lines"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          follows.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
      >
        {lines?.map(({ line, stream }, index) => (
          <span key={index} class={`logs-line logs-${stream}`}>
            {plainLine(line)}
            {"\n"}
          </span>
        ))}
      </pre>
    </section>
  );
}
