// Where one writes. Enter sends, Shift+Enter makes a line; what is typed is kept until it is sent.
import { SendHorizontal } from "lucide";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { wordsOf } from "../bus/text";
import { t } from "../i18n/translate";
import { conversations, outbox, turnOf } from "../shell/app";
import { Icon } from "../shell/icon";
import { draftOf, keepDraft } from "./drafts";
import { escaped } from "./stopping";

interface Props {
  channel: string;
  name: string;
  onSent: () => void;
}

export function Composer({ channel, name, onSent }: Props): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = draftOf(channel).value;
  const busy = turnOf(channel).busy;
  useLayoutEffect(() => grow(field.current), [draft, channel]);
  useLayoutEffect(() => {
    if (matchMedia("(hover: hover)").matches) field.current?.focus({ preventScroll: true });
  }, [channel]);

  const send = (): void => {
    const text = draftOf(channel).value;
    if (text.trim() === "") return;
    outbox.send(channel, text);
    keepDraft(channel, "");
    onSent();
    field.current?.focus();
  };
  const pressed = (event: KeyboardEvent): void => {
    // Safari ends a composition before the key that ends it: then only the code tells.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      send();
    } else if (event.key === "ArrowUp" && draftOf(channel).value === "") {
      const last = lastOwn(channel);
      if (last === null) return;
      event.preventDefault();
      keepDraft(channel, last);
    } else if (event.key === "Escape") {
      escaped(channel);
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={field}
        class="composer-field"
        rows={1}
        value={draft}
        aria-label={t("composer.label", { name })}
        placeholder={t("composer.label", { name })}
        title={t("composer.hint")}
        onInput={({ currentTarget }) => keepDraft(channel, currentTarget.value)}
        onKeyDown={pressed}
      />
      <button type="submit" class="button primary composer-send" disabled={draft.trim() === ""}>
        <Icon of={SendHorizontal} /> {t(busy ? "composer.queue" : "composer.send")}
      </button>
    </form>
  );
}

/** As high as its text, up to what the style sheet allows. */
function grow(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}

function lastOwn(channel: string): string | null {
  const messages = conversations.value[channel]?.value.messages ?? [];
  const own = messages.findLast(({ role }) => role === "user");
  return own === undefined ? null : wordsOf(own);
}
