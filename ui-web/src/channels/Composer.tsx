// Where one writes. What is typed is kept until it is sent; `@` and `/` offer what fits; under it
// stands who will answer.
import { SendHorizontal } from "lucide";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { outbox, turnOf } from "../shell/app";
import { reason } from "../shell/away";
import { Icon } from "../shell/icon";
import { asking, offersFor, prepare, refusedCommands } from "./commands";
import { draftOf, keepDraft } from "./drafts";
import { Recall } from "./recall";
import { sends } from "./sending";
import { escaped } from "./stopping";
import { accepted, wantsCommands, type Offered, type Suggestions } from "./suggest";
import { optionId, SuggestionList } from "./SuggestionList";
import { WhoAnswers } from "./WhoAnswers";

interface Props {
  channel: string;
  name: string;
  onSent: () => void;
}

/** Where the cursor is to stand once the text that was put in is drawn. */
const caretAfter = signal<number | null>(null);

/** Write `text` where the cursor is, and go on writing there. */
export function insert(channel: string, text: string): void {
  const field = document.querySelector<HTMLTextAreaElement>(".composer-field");
  const draft = draftOf(channel).peek();
  const at = field !== null && field === document.activeElement ? field.selectionEnd : draft.length;
  const gap = at > 0 && !/\s$/.test(draft.slice(0, at)) ? " " : "";
  caretAfter.value = at + gap.length + text.length;
  keepDraft(channel, draft.slice(0, at) + gap + text + draft.slice(at));
  field?.focus();
}

export function Composer({ channel, name, onSent }: Props): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  const recall = useRef(new Recall(channel));
  const listId = useId();
  const [caret, setCaret] = useState(0);
  const [dismissed, dismiss] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const draft = draftOf(channel).value;
  const busy = turnOf(channel).busy;
  const focused = caret >= 0;
  const found = focused ? offersFor(channel, draft, caret) : null;
  const key = found === null ? null : `${found.kind} ${found.from}`;
  const offered = key !== null && key === dismissed ? null : found;
  const wanted = focused && wantsCommands(draft, caret);
  const waits = wanted ? asking(channel) : [];
  const refusal = wanted ? refusedCommands(channel) : undefined;
  const active = Math.min(at, (offered?.options.length ?? 1) - 1);

  useEffect(() => {
    if (wanted) prepare(channel);
  }, [wanted, channel]);
  useEffect(() => setAt(0), [draft, key]);
  useEffect(() => {
    if (key === null) dismiss(null);
  }, [key]);
  useLayoutEffect(() => {
    grow(field.current);
    const there = caretAfter.peek();
    if (there === null || field.current === null) return;
    caretAfter.value = null;
    field.current.setSelectionRange(there, there);
    setCaret(there);
  }, [draft, channel]);
  useLayoutEffect(() => {
    recall.current = new Recall(channel);
    if (matchMedia("(hover: hover)").matches) field.current?.focus({ preventScroll: true });
  }, [channel]);

  const send = (): void => {
    const text = draftOf(channel).value;
    if (text.trim() === "") return;
    outbox.send(channel, text);
    keepDraft(channel, "");
    recall.current.reset();
    onSent();
    field.current?.focus();
  };
  const accept = (list: Suggestions, option: Offered): void => {
    const next = accepted(draftOf(channel).value, list, option);
    caretAfter.value = next.caret;
    keepDraft(channel, next.text);
    field.current?.focus();
  };
  const choosing = (event: KeyboardEvent, list: Suggestions): boolean => {
    const { length } = list.options;
    if (event.altKey || event.ctrlKey || event.metaKey) return false;
    switch (event.key) {
      case "ArrowDown":
      case "ArrowUp":
        setAt((active + (event.key === "ArrowDown" ? 1 : -1) + length) % length);
        return true;
      case "Enter":
      case "Tab": {
        const option = list.options[active];
        if (event.shiftKey || option === undefined) return false;
        accept(list, option);
        return true;
      }
      case "Escape":
        dismiss(key);
        return true;
      default:
        return false;
    }
  };
  const pressed = (event: KeyboardEvent): void => {
    // Safari ends a composition before the key that ends it: then only the code tells.
    if (event.isComposing || event.keyCode === 229) return;
    if (offered !== null && choosing(event, offered)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (sends(event)) {
      event.preventDefault();
      send();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const text = recall.current.next(event, field.current);
      if (text === null) return;
      event.preventDefault();
      caretAfter.value = text.length;
      keepDraft(channel, text);
    } else if (event.key === "Escape") {
      escaped(channel);
    }
  };
  const moved = (): void => setCaret(field.current?.selectionEnd ?? 0);
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {(offered !== null || waits.length > 0 || refusal !== undefined) && (
        <SuggestionList
          id={listId}
          offered={offered}
          active={active}
          waits={waits}
          refusal={refusal}
          onChoose={accept}
        />
      )}
      <div class="composer-box">
        <textarea
          ref={field}
          class="composer-field"
          rows={1}
          dir="auto"
          value={draft}
          aria-label={t("composer.label", { name })}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={offered === null ? undefined : listId}
          aria-activedescendant={offered === null ? undefined : optionId(listId, active)}
          placeholder={t("composer.label", { name })}
          title={t("composer.hint")}
          onInput={({ currentTarget }) => {
            recall.current.reset();
            setCaret(currentTarget.selectionEnd);
            keepDraft(channel, currentTarget.value);
          }}
          onKeyDown={pressed}
          onKeyUp={moved}
          onClick={moved}
          onFocus={moved}
          onBlur={() => setCaret(-1)}
        />
        <button
          type="submit"
          class="button primary composer-send"
          disabled={draft.trim() === ""}
          title={reason("bus", "router")}
        >
          <Icon of={SendHorizontal} /> {t(busy ? "composer.queue" : "composer.send")}
        </button>
      </div>
      <WhoAnswers channel={channel} text={draft} />
    </form>
  );
}

/** As high as its text, up to what the style sheet allows. */
function grow(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
