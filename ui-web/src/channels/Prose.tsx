// Markdown in a message: written as it grows, drawn once more when it is done.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { isBlob } from "../bus/text";
import type { Text } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { rendered } from "../markdown/render";
import { StreamWriter } from "../markdown/stream";
import { fetched } from "./blob";

interface Shown {
  text: Text;
  done: boolean;
  /** What is hidden at the beginning: the author's own name, once it stands there. */
  without?: (text: string, done: boolean) => string;
  breaks?: boolean;
}

export function Prose({ text, done, without = same, breaks = false }: Shown): JSX.Element {
  if (!isBlob(text)) return <Written text={without(text, done)} done={done} breaks={breaks} />;
  const { text: whole, problem } = fetched(text).value;
  return (
    <>
      <Written text={without(whole ?? text.head, done)} done={done && whole !== null} breaks={breaks} />
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

function Written({ text, done, breaks }: { text: string; done: boolean; breaks: boolean }): JSX.Element {
  const root = useRef<HTMLDivElement>(null);
  const writer = useRef<StreamWriter | null>(null);
  useLayoutEffect(() => {
    const element = root.current;
    if (element === null) return;
    if (breaks) return element.replaceChildren(rendered(text, { breaks }));
    writer.current ??= new StreamWriter(element);
    if (done) writer.current.finish(text);
    else writer.current.write(text);
  }, [text, done, breaks]);
  useEffect(() => root.current?.addEventListener("click", copyCode), []);
  return <div class={done ? "md" : "md md-growing"} ref={root} />;
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
