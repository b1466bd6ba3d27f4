// The editor's place on the page: loads it, hands text and problems in, and takes what is typed.
import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { editing, problems, replaced, schema, type, warnings } from "./desk";
import type { Editor, Mark } from "./editor";

interface Props {
  onReady: (editor: Editor) => void;
  onSave: () => void;
}

export function YamlEditor({ onReady, onSave }: Props): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [failed, fail] = useState(false);
  const saves = useRef(onSave);
  saves.current = onSave;
  useEffect(() => {
    let over = (): void => undefined;
    let gone = false;
    import("./editor").then(
      ({ Editor: Made }) => {
        if (gone || host.current === null) return;
        over = begin(Made, host.current, onReady, () => saves.current());
      },
      () => fail(true),
    );
    return () => {
      gone = true;
      over();
    };
  }, []);
  return (
    <>
      {failed && (
        <p class="refusal" role="alert">
          {t("settings.noEditor")}{" "}
          <button type="button" class="link" onClick={() => location.reload()}>
            {t("page.reload")}
          </button>
        </p>
      )}
      <div class="settings-editor" ref={host} />
    </>
  );
}

function begin(
  Made: typeof Editor,
  host: HTMLElement,
  onReady: (editor: Editor) => void,
  onSave: () => void,
): () => void {
  const editor = new Made(host, {
    text: editing.peek()?.text ?? "",
    label: t("settings.editor"),
    phrases: {
      Completions: t("settings.completions"),
      Diagnostics: t("settings.problems"),
      "No diagnostics": t("settings.noProblem"),
    },
    usual: (value) => t("settings.usual", { value }),
    onText: type,
    onSave,
  });
  let path = editing.peek()?.path;
  const stops = [
    effect(() => {
      replaced.value;
      const now = editing.peek();
      if (now === null) return;
      editor.show(now.text, now.path !== path);
      path = now.path;
    }),
    effect(() => editor.mark([...problems.value.map(marked), ...warnings.value.map(marked)])),
    effect(() => {
      if (schema.value !== null) editor.learn(schema.value);
    }),
  ];
  onReady(editor);
  return () => {
    for (const stop of stops) stop();
    editor.destroy();
  };
}

function marked(problem: Problem): Mark {
  const { line = 1, column = 1, warning } = problem;
  return { line, column, warning, text: problemText(problem) };
}
