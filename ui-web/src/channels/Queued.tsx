// What can be done to a message while it waits: change its words, or take it back into the composer.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Message } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { forget, give, pending, refusals } from "../shell/app";
import { wholeWords } from "./blob";
import { putBack } from "./drafts";
import { sends } from "./sending";

export function Queued({ message }: { message: Message }): JSX.Element {
  const [text, edit] = useState<string | null>(null);
  const key = `queued ${message.id}`;
  const { channel, id: messageId } = message;
  const waits = pending.value.has(key);
  const refusal = refusals.value[key];
  useEffect(() => () => forget(key), []);
  const takeBack = async (): Promise<void> => {
    const words = await wholeWords(message);
    await give(key, "RemoveQueued", { channel, messageId });
    if (refusals.peek()[key] !== undefined) return;
    putBack(channel, words);
    toComposer();
  };
  const save = async (): Promise<void> => {
    if (text === null || text.trim() === "") return;
    await give(key, "EditQueued", { channel, messageId, text });
    if (refusals.peek()[key] !== undefined) return;
    edit(null);
    toComposer();
  };
  return (
    <div class="queued">
      {text === null ? (
        <>
          <span class="chip">{t("message.queued")}</span>
          <button
            type="button"
            class="link"
            disabled={waits}
            onClick={() => void wholeWords(message).then(edit)}
          >
            {t("message.edit")}
          </button>
          <button type="button" class="link" disabled={waits} onClick={() => void takeBack()}>
            {t("message.takeBack")}
          </button>
        </>
      ) : (
        <Editor
          text={text}
          waits={waits}
          onText={edit}
          onSave={() => void save()}
          onCancel={() => {
            edit(null);
            toComposer();
          }}
        />
      )}
      {refusal !== undefined && (
        <p class="refusal" role="alert">
          {problemText(refusal)}
        </p>
      )}
    </div>
  );
}

/** The button that was pressed is gone: writing goes on where one writes. */
function toComposer(): void {
  document.querySelector<HTMLElement>(".composer-field")?.focus();
}

interface EditorProps {
  text: string;
  waits: boolean;
  onText: (text: string) => void;
  onSave: () => void;
  onCancel: () => void;
}

function Editor({ text, waits, onText, onSave, onCancel }: EditorProps): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <>
      <textarea
        ref={field}
        class="input queued-field"
        dir="auto"
        rows={Math.min(10, text.split("\n").length + 1)}
        value={text}
        aria-label={t("message.editLabel")}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing || event.keyCode === 229) return;
          if (sends(event)) onSave();
          else if (event.key === "Escape") onCancel();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div class="form-actions">
        <button type="button" class="button" onClick={onCancel}>
          {t("dialog.cancel")}
        </button>
        <button
          type="button"
          class="button primary"
          disabled={waits || text.trim() === ""}
          onClick={onSave}
        >
          {t("message.save")}
        </button>
      </div>
    </>
  );
}
