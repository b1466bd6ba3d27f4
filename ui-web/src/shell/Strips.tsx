// What a person has to know above the conversation: a lost connection, a component that is away,
// a configuration that isn't valid, a history that isn't kept.
import { TriangleAlert, Unplug } from "lucide";
import type { ComponentChildren, JSX } from "preact";
import { signal } from "@preact/signals";
import type { Problem } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { effectOf, NOTICED_AFTER } from "../monitor/component";
import { RestartButton } from "../monitor/RestartButton";
import { config, store } from "./app";
import { noticed } from "./away";
import { now } from "./format";
import { Icon } from "./icon";
import { goTo, route } from "./route";

const SAID_FOR = 4_000;

const open = signal(false);

export function Strips(): JSX.Element {
  return (
    <div class="strips">
      <LinkStrip />
      <ComponentStrips />
      <ConfigStrip />
      <HistoryStrip />
    </div>
  );
}

function Strip({ tone, children }: { tone: "warn" | "bad"; children: ComponentChildren }): JSX.Element {
  return (
    <div class={`strip strip-${tone}`} role="status">
      {children}
    </div>
  );
}

function LinkStrip(): JSX.Element | null {
  const link = store.link.value;
  if (link.state === "outdated") {
    return (
      <Strip tone="bad">
        <span class="strip-text">{t("page.outdated")}</span>
        <button type="button" class="button" onClick={() => location.reload()}>
          {t("page.reload")}
        </button>
      </Strip>
    );
  }
  const returned = store.returned.value;
  if (returned !== null && now.value - returned.at < SAID_FOR) {
    return (
      <Strip tone="warn">
        <span class="strip-text">
          {t("link.back", { seconds: Math.max(1, Math.round(returned.after / 1_000)) })}
        </span>
      </Strip>
    );
  }
  if (link.state !== "connecting" && link.state !== "waiting") return null;
  const lost = now.value - link.since;
  if (lost < NOTICED_AFTER) return null;
  // Before anything came there is nothing to go on reading.
  const again = store.welcome.value !== null;
  return (
    <Strip tone="warn">
      <Icon of={Unplug} />
      <span class="strip-text">{t(again ? "link.lost" : "link.first", { seconds: Math.round(lost / 1_000) })}</span>
      <button type="button" class="button" onClick={() => store.connect()}>
        {t(again ? "link.now" : "message.retry")}
      </button>
    </Strip>
  );
}

function ComponentStrips(): JSX.Element {
  return (
    <>
      {noticed.value.map((component) => (
        <Strip key={component} tone="bad">
          <Icon of={TriangleAlert} />
          <span class="strip-text">{effectOf(component)}</span>
          <RestartButton component={component} />
          {route.value.at !== "bus" && (
            <button type="button" class="button" onClick={() => goTo("bus")}>
              {t("component.show")}
            </button>
          )}
        </Strip>
      ))}
    </>
  );
}

function ConfigStrip(): JSX.Element | null {
  const { path = "", problems = [], warnings = [] } = config.value ?? {};
  if (problems.length + warnings.length === 0) return null;
  const file = path.split("/").at(-1) ?? path;
  const bad = problems.length > 0;
  const all = bad ? [...problems, ...warnings] : warnings;
  return (
    <>
      <Strip tone={bad ? "bad" : "warn"}>
        <Icon of={TriangleAlert} />
        <span class="strip-text">
          {bad
            ? t("config.invalid", { count: problems.length, file })
            : t("config.warnings", { count: warnings.length, file })}
        </span>
        <button
          type="button"
          class="button"
          aria-expanded={open.value}
          onClick={() => (open.value = !open.value)}
        >
          {t(open.value ? "config.hide" : "config.show")}
        </button>
        {route.value.at !== "settings" && (
          <button type="button" class="button" onClick={() => goTo("settings")}>
            {t("config.settings")}
          </button>
        )}
      </Strip>
      {open.value && <Problems path={path} problems={all} />}
    </>
  );
}

function Problems({ path, problems }: { path: string; problems: readonly Problem[] }): JSX.Element {
  return (
    <div class="problems">
      <code>{path}</code>
      <ul>
        {problems.map((problem, index) => (
          <li key={index}>
            {problem.line !== undefined && (
              <span class="quiet">
                {t("config.at", { line: problem.line, column: problem.column ?? 1 })}{" "}
              </span>
            )}
            {problemText(problem)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function HistoryStrip(): JSX.Element | null {
  const reason = config.value?.historyProblem ?? null;
  if (reason === null) return null;
  return (
    <Strip tone="warn">
      <Icon of={TriangleAlert} />
      <span class="strip-text">{t("history.problem", { reason })}</span>
    </Strip>
  );
}
