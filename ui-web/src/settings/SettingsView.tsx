// The settings: the configuration file in an editor, what is wrong with it, and which file it is.
import { ArrowLeft, Save } from "lucide";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../bus/schema.gen";
import { DiffView } from "../channels/DiffView";
import type { Key } from "../i18n/en";
import { problemText, t } from "../i18n/translate";
import { say } from "../shell/Announcer";
import { config } from "../shell/app";
import { reason } from "../shell/away";
import { Icon } from "../shell/icon";
import {
  checked,
  checking,
  edited,
  editing,
  follow,
  keepMine,
  overtaken,
  problems,
  reload,
  save,
  saving,
  set,
  unread,
  unsaved,
  warnings,
} from "./desk";
import type { Editor } from "./editor";
import { FilePanel } from "./FilePanel";
import "./settings.css";
import { YamlEditor } from "./YamlEditor";

export function SettingsView({ onBack }: { onBack: () => void }): JSX.Element {
  const editor = useRef<Editor | null>(null);
  useEffect(follow, []);
  const jump = ({ line = 1, column = 1 }: Problem): void => editor.current?.jump(line, column);
  const away = reason("bus", "config");
  const write = async (): Promise<void> => {
    const missing = reason("bus", "config");
    if (missing !== undefined) return say(missing);
    const text = editing.peek()?.text;
    if (await save()) return say(t("settings.saved"));
    const [first] = problems.peek();
    // Who types on meanwhile is not taken elsewhere.
    if (first !== undefined && editing.peek()?.text === text) jump(first);
  };
  const pressed = useRef<(event: KeyboardEvent) => void>(() => undefined);
  pressed.current = (event) => {
    if (event.defaultPrevented) return;
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) void write();
    else if (event.key === "F8") editor.current?.next();
    else return;
    event.preventDefault();
  };
  // Wherever the focus is: nobody wants this page saved as a file.
  useEffect(() => {
    const heard = (event: KeyboardEvent): void => pressed.current(event);
    addEventListener("keydown", heard);
    return () => removeEventListener("keydown", heard);
  }, []);
  const loaded = editing.value !== null;
  return (
    <main class="settings" aria-label={t("settings.title")}>
      <header class="conversation-head">
        <button type="button" class="button only-narrow" aria-label={t("sidebar.show")} onClick={onBack}>
          <Icon of={ArrowLeft} />
        </button>
        <h2>{t("settings.title")}</h2>
        <Status />
        <span class="head-end">
          <Choice name="theme" />
          <Choice name="language" />
          <button
            type="button"
            class="button primary"
            disabled={away !== undefined || !edited.value || saving.value}
            title={away ?? t("settings.saveKey")}
            onClick={() => void write()}
          >
            <Icon of={Save} /> {t(saving.value ? "settings.saving" : "settings.save")}
          </button>
        </span>
      </header>
      <Conflict onDone={() => editor.current?.focus()} />
      {unread.value !== null && <Refusal text={t("settings.unread", { reason: problemText(unread.value) })} />}
      {unsaved.value !== null && !overtaken.value && (
        <Refusal text={t("settings.unsaved", { reason: problemText(unsaved.value) })} />
      )}
      <div class="settings-body">
        <div class="settings-main">
          {loaded ? (
            <YamlEditor onReady={(made) => (editor.current = made)} onSave={() => void write()} />
          ) : (
            <p class="list-note settings-editor">{t("channel.loading")}</p>
          )}
          <p class="quiet settings-keys">{t("settings.keys")}</p>
          <ProblemList onJump={jump} />
        </div>
        <FilePanel />
      </div>
    </main>
  );
}

function Refusal({ text }: { text: string }): JSX.Element {
  return (
    <p class="strip strip-bad" role="alert">
      {text}
    </p>
  );
}

/** Whether the text is valid, and whether it is in the file. */
function Status(): JSX.Element {
  const bad = problems.value.length;
  const warned = warnings.value.length;
  const words =
    checked.value === null
      ? t("settings.checking")
      : bad > 0
        ? t("settings.bad", { count: bad })
        : warned > 0
          ? `${t("settings.valid")} · ${t("settings.warned", { count: warned })}`
          : t("settings.valid");
  return (
    <span class="settings-status" aria-busy={checking.value}>
      <span class={bad > 0 ? "settings-bad" : warned > 0 ? "settings-warned" : "settings-good"}>{words}</span>
      {edited.value && <span class="chip">{t("settings.edited")}</span>}
    </span>
  );
}

const CHOICES = {
  theme: { system: "settings.theme.system", light: "settings.theme.light", dark: "settings.theme.dark" },
  language: {
    system: "settings.language.system",
    en: "settings.language.en",
    fr: "settings.language.fr",
  },
} as const satisfies Record<string, Record<string, Key>>;

const NAMES = { theme: "settings.theme", language: "settings.language" } as const;

/** A menu that edits the file's text. */
function Choice({ name }: { name: keyof typeof CHOICES }): JSX.Element {
  const now = config.value?.[name] ?? "system";
  const away = reason("bus", "config");
  return (
    <label class="settings-choice">
      <span>{t(NAMES[name])}</span>
      <select
        value={now}
        disabled={away !== undefined || editing.value === null || saving.value}
        title={away}
        onChange={({ currentTarget }) => void set(name, currentTarget.value)}
      >
        {Object.entries(CHOICES[name]).map(([value, key]) => (
          <option key={value} value={value}>
            {t(key)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Its buttons go away with it, so the focus goes to the text. */
function Conflict({ onDone }: { onDone: () => void }): JSX.Element | null {
  const [compares, compare] = useState(false);
  const now = editing.value;
  if (now === null || !overtaken.value) return null;
  const done = (what: () => void) => (): void => {
    what();
    onDone();
  };
  const diff = { path: now.path, oldText: now.disk.text, newText: now.text, newFile: false };
  return (
    <section class="settings-conflict" aria-label={t("settings.conflict")}>
      <div class="strip strip-warn" role="alert">
        <span class="strip-text">{t("settings.conflict")}</span>
        <button type="button" class="button" onClick={done(reload)}>
          {t("settings.reload")}
        </button>
        <button type="button" class="button" onClick={done(keepMine)}>
          {t("settings.keep")}
        </button>
        <button type="button" class="button" aria-expanded={compares} onClick={() => compare(!compares)}>
          {t("settings.compare")}
        </button>
      </div>
      {compares && (
        <div class="settings-compare">
          <p class="quiet">{t("settings.compared")}</p>
          <DiffView diff={diff} />
        </div>
      )}
    </section>
  );
}

function ProblemList({ onJump }: { onJump: (problem: Problem) => void }): JSX.Element {
  const all = [...problems.value, ...warnings.value];
  return (
    <section class="settings-problems" aria-label={t("settings.problems")}>
      {all.length === 0 ? (
        <p class="quiet">{t(checked.value === null ? "settings.checking" : "settings.noProblem")}</p>
      ) : (
        <ul>
          {all.map((problem, index) => (
            <li key={index}>
              <button type="button" class="settings-problem" onClick={() => onJump(problem)}>
                <span class="settings-place">
                  {problem.line ?? 1}:{problem.column ?? 1}
                </span>{" "}
                <span class={problem.warning ? "settings-warned" : "settings-bad"}>
                  {t(problem.warning ? "settings.warning" : "settings.error")}
                </span>{" "}
                {problemText(problem)}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
