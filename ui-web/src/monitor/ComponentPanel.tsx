// The processes that Sidekicks is made of, what it means when one is down, and its restart.
import type { JSX } from "preact";
import { signal } from "@preact/signals";
import { RefusedError } from "../bus/socket";
import type { Component, Problem } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { components, store } from "../shell/app";
import { clock } from "../shell/format";
import { asksFirst, componentName, componentState, effectOf, works } from "./component";

const restarting = signal<Readonly<Record<string, boolean>>>({});
const failed = signal<Readonly<Record<string, Problem>>>({});
const confirming = signal<string | null>(null);

async function restart(component: string): Promise<void> {
  confirming.value = null;
  const { [component]: _, ...others } = failed.value;
  failed.value = others;
  restarting.value = { ...restarting.value, [component]: true };
  try {
    await store.query("RestartComponent", { component });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    failed.value = { ...failed.value, [component]: error.problem };
  } finally {
    restarting.value = { ...restarting.value, [component]: false };
  }
}

export function ComponentPanel(): JSX.Element {
  return (
    <ul class="components">
      {components.value.map((component) => (
        <ComponentRow key={component.component} component={component} />
      ))}
    </ul>
  );
}

function ComponentRow({ component: it }: { component: Component }): JSX.Element {
  const problem = failed.value[it.component];
  return (
    <li class="component">
      <div class="component-head">
        <span class={`light light-${it.state}`} aria-hidden="true" />
        <strong>{componentName(it.component)}</strong>
        <span class={works(it) ? "quiet" : "component-bad"}>{componentState(it)}</span>
        <RestartButton component={it.component} />
      </div>
      <p class="quiet component-facts">
        {it.pid > 0 && <span>{t("component.pid", { pid: String(it.pid) })}</span>}
        {it.since > 0 && <span>{t("component.since", { time: clock(it.since) })}</span>}
        {it.restarts > 0 && <span>{t("component.restarts", { count: it.restarts })}</span>}
      </p>
      {!works(it) && <p>{effectOf(it.component)}</p>}
      {problem !== undefined && (
        <p class="refusal" role="alert">
          {problemText(problem)}
        </p>
      )}
    </li>
  );
}

/** Asks once more where everything pauses or this page reconnects. */
export function RestartButton({ component }: { component: string }): JSX.Element {
  const name = componentName(component);
  if (confirming.value === component) {
    const question = asksFirst(component);
    return (
      <span class="confirm" role="group" aria-label={question ?? undefined}>
        <span>{question}</span>
        <button type="button" class="button primary" onClick={() => void restart(component)}>
          {t("component.restart")}
        </button>
        <button type="button" class="button" onClick={() => (confirming.value = null)}>
          {t("component.cancel")}
        </button>
      </span>
    );
  }
  const running = restarting.value[component] === true;
  return (
    <button
      type="button"
      class="button"
      disabled={running}
      aria-label={t("component.restartNamed", { component: name })}
      onClick={() => {
        if (asksFirst(component) === null) void restart(component);
        else confirming.value = component;
      }}
    >
      {t(running ? "component.restarting" : "component.restart")}
    </button>
  );
}
