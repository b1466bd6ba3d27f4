// Markdown in a message: written as it grows, drawn once more when it is done.
import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { isBlob } from "../bus/text";
import type { Text } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { rendered } from "../markdown/render";
import { StreamWriter } from "../markdown/stream";
import { agents, channels } from "../shell/app";
import { fetched } from "./blob";
import { markMentions } from "./pills";

interface Shown {
  text: Text;
  done: boolean;
  /** What is hidden at the beginning: the author's own name, once it stands there. */
  without?: (text: string, done: boolean) => string;
  /** The conversation that a person wrote it in: then lines stay, and mentions are marked. */
  own?: string;
}

export function Prose({ text, done, without = same, own }: Shown): JSX.Element {
  if (!isBlob(text)) return <Written text={without(text, done)} done={done} own={own} />;
  const { text: whole, problem } = fetched(text).value;
  return (
    <>
      <Written text={without(whole ?? text.head, done)} done={done && whole !== null} own={own} />
      {whole === null && (
        <p class="quiet">
          {problem === null
            ? t("message.loading")
            : t("message.unread", { reason: problemText(problem) })}
        </p>
      )}
    </>
  );
}

function same(text: string): string {
  return text;
}

interface WrittenProps {
  text: string;
  done: boolean;
  own: string | undefined;
}

function Written({ text, done, own }: WrittenProps): JSX.Element {
  const root = useRef<HTMLDivElement>(null);
  const writer = useRef<StreamWriter | null>(null);
  // Who there is may be known later than what was said: then it is drawn once more.
  const names = own === undefined ? "" : mentionable(own);
  useLayoutEffect(() => {
    const element = root.current;
    if (element === null) return;
    if (own !== undefined) {
      const drawn = rendered(text, { breaks: true });
      markMentions(drawn, names === "" ? [] : names.split(" "));
      return element.replaceChildren(drawn);
    }
    writer.current ??= new StreamWriter(element);
    if (done) void writer.current.finish(text);
    else writer.current.write(text);
  }, [text, done, names]);
  useEffect(() => root.current?.addEventListener("click", copyCode), []);
  return <div class={done ? "md" : "md md-growing"} ref={root} />;
}

const named = computed(() => agents.value.map(({ name }) => name).join(" "));
const directs = computed(() => new Set(channels.value.filter(({ direct }) => direct !== "").map(({ id }) => id)));

/** Whom one mentions by name here; in a direct conversation a name is a word like any other. */
function mentionable(channel: string): string {
  return directs.value.has(channel) ? "" : named.value;
}

/** The button of a code block; it is no component, as its block is drawn outside of any. */
function copyCode({ target }: Event): void {
  if (!(target instanceof HTMLButtonElement) || !target.classList.contains("code-copy")) return;
  const code = target.closest(".code")?.querySelector("code")?.textContent ?? "";
  void navigator.clipboard.writeText(code).then(() => {
    target.textContent = t("message.copied");
    setTimeout(() => (target.textContent = t("code.copy")), 2_000);
  });
}
