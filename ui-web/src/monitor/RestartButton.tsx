// Restarting one of the processes that Sidekicks is made of.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { RefusedError } from "../bus/socket";
import type { Problem } from "../bus/schema.gen";
import { t } from "../i18n/translate";
import { store } from "../shell/app";
import { useKeptFocus } from "../shell/keptFocus";
import { asksFirst, componentName } from "./component";

const restarting = signal<Readonly<Record<string, boolean>>>({});
/** Why the last restart of each was refused. */
export const failed = signal<Readonly<Record<string, Problem>>>({});
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

/** Asks once more where everything pauses or this page reconnects. */
export function RestartButton({ component }: { component: string }): JSX.Element {
  const box = useRef<HTMLSpanElement>(null);
  useKeptFocus(box);
  return (
    <span class="restart" ref={box}>
      {asking(component)}
    </span>
  );
}

function asking(component: string): JSX.Element {
  const name = componentName(component);
  if (confirming.value === component) {
    const question = asksFirst(component);
    return (
      <span class="confirm" role="group" aria-label={question ?? undefined}>
        <span>{question}</span>
        <button
          type="button"
          class="button primary"
          ref={(button) => button?.focus()}
          onClick={() => void restart(component)}
        >
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
