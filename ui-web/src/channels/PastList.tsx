// The messages around one that was looked for. Scrolling goes on at either side; from the last one
// the way leads to the end of the conversation, where it goes on by itself.
import { ArrowDown } from "lucide";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { problemText, t } from "../i18n/translate";
import { Icon } from "../shell/icon";
import { go } from "../shell/route";
import { markFound, unmarkFound } from "../search/marks";
import { firstVisible, rowOf, type Anchor } from "./anchor";
import { Past } from "./past";
import { Rows } from "./Rows";
import { messageStops } from "./stops";

const NEAR = 600;

interface Props {
  channel: string;
  message: string;
  beginning: JSX.Element;
}

export function PastList({ channel, message, beginning }: Props): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const past = useMemo(() => new Past(channel, message), []);
  const anchor = useRef<Anchor | null>(null);
  const shown = useRef(false);
  /** Where we scrolled to ourselves: its echo is no wish of the reader's. */
  const placed = useRef(-1);
  useEffect(() => () => past.close(), []);
  const stretch = past.stretch.value;
  const problem = past.problem.value;

  useLayoutEffect(() => {
    const element = list.current;
    if (element === null || stretch === null) return;
    if (!shown.current) {
      const row = rowOf(element, message);
      if (row === null) return;
      shown.current = true;
      row.scrollIntoView({ block: "center" });
      row.classList.add("message-found");
      row.focus({ preventScroll: true });
      markFound(row);
      placed.current = element.scrollTop;
      return;
    }
    const pinned = anchor.current;
    anchor.current = null;
    const row = pinned === null ? null : rowOf(element, pinned.id);
    if (pinned === null || row === null) return;
    element.scrollTop += row.getBoundingClientRect().top - pinned.top;
    placed.current = element.scrollTop;
  }, [stretch]);
  useEffect(() => unmarkFound, []);
  useEffect(() => (list.current === null ? undefined : messageStops(list.current)), []);

  const scrolled = (): void => {
    const element = list.current;
    if (element === null || !shown.current || stretch === null) return;
    // What is seen now stays where it is when a page comes in.
    anchor.current = firstVisible(element);
    if (Math.abs(element.scrollTop - placed.current) < 1) return;
    if (element.scrollTop < NEAR && stretch.state.more) void past.older();
    else if (below(element) < NEAR && stretch.later) void past.newer();
    else if (below(element) < 1 && !stretch.later) go(channel);
  };
  return (
    <div class="list-box">
      <div
        class="list"
        ref={list}
        role="log"
        aria-live="off"
        aria-label={t("channel.messages")}
        tabIndex={0}
        onScroll={scrolled}
        onKeyDown={(event) => {
          if (event.key !== "End") return;
          event.preventDefault();
          go(channel);
        }}
      >
        <div class="list-content">
          {problem !== null && (
            <p class="list-note refusal" role="alert">
              {t("channel.unread", { reason: problemText(problem) })}{" "}
              <button type="button" class="link" onClick={() => void past.begin()}>
                {t("message.retry")}
              </button>
            </p>
          )}
          {stretch === null ? (
            problem === null && <p class="list-note">{t("channel.loading")}</p>
          ) : (
            <>
              {stretch.state.more ? <p class="list-note">{t("channel.older")}</p> : beginning}
              <Rows rows={stretch.state.messages} state={stretch.state} unread={null} />
              {stretch.later && <p class="list-note">{t("channel.loading")}</p>}
            </>
          )}
        </div>
      </div>
      <button type="button" class="button list-end" onClick={() => go(channel)}>
        <Icon of={ArrowDown} size={14} /> {t("channel.bottom")}
      </button>
    </div>
  );
}

function below({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number {
  return scrollHeight - scrollTop - clientHeight;
}
