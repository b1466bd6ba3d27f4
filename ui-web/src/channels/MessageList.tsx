// The messages of a conversation: follows the end, loads older ones on the way up, and keeps what
// the reader looks at where it is.
import { ArrowDown } from "lucide";
import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { compareIds } from "../bus/conversation";
import type { ConversationState } from "../bus/conversation";
import { RefusedError } from "../bus/socket";
import type { Message } from "../bus/schema.gen";
import { t } from "../i18n/translate";
import { outbox, store } from "../shell/app";
import { Icon } from "../shell/icon";
import { firstVisible, rowOf, type Anchor } from "./anchor";
import { Follower } from "./follow";
import { OutgoingRow } from "./OutgoingRow";
import { finished, firstUnread } from "./reading";
import { Rows } from "./Rows";
import { attentive, read, readUpTo, watched } from "./unread";
import { messageStops } from "./stops";
import { atEnd, earlier, indexOf, later, shown, type First } from "./window";

/** So near to an end of what is shown, the next page is fetched. */
const NEAR = 600;

interface Props {
  channel: string;
  state: ConversationState;
  beginning: JSX.Element;
  /** Called with a way to jump to the end, for whoever sends. */
  onReady: (toEnd: () => void) => void;
}

export function MessageList({ channel, state, beginning, onReady }: Props): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follower = useRef<Follower | null>(null);
  const anchor = useRef<Anchor | null>(null);
  const [first, setFirst] = useState<First>(null);
  const [held, setHeld] = useState(true);
  const [seen, setSeen] = useState<string | null>(null);
  const [loading, setLoading] = useState(false);
  const latest = useRef({ state, first, loading });
  latest.current = { state, first, loading };
  const { messages, more } = state;

  useLayoutEffect(() => {
    if (list.current === null || content.current === null) return;
    const made = new Follower(list.current, content.current);
    follower.current = made;
    made.hold();
    onReady(() => toEnd());
    const end = effect(() => {
      const is = made.held.value;
      setHeld(is);
      if (is) return setFirst(null);
      // What is shown may not slide away under the reader's eyes.
      const { state: now, first: from } = latest.current;
      setFirst(shown(now.messages, from)[0]?.id ?? null);
      setSeen(newest(now.messages));
    });
    return () => {
      end();
      watched.value = null;
      made.stop();
    };
  }, []);

  useLayoutEffect(() => {
    const pinned = anchor.current;
    anchor.current = null;
    const row = pinned === null ? null : rowOf(list.current, pinned.id);
    if (pinned === null || row === null || list.current === null) return;
    const moved = row.getBoundingClientRect().top - pinned.top;
    if (moved !== 0) follower.current?.moveTo(list.current.scrollTop + moved);
  });

  useEffect(() => (list.current === null ? undefined : messageStops(list.current)), []);

  const toEnd = (): void => {
    setFirst(null);
    follower.current?.hold();
  };
  const move = (next: First): void => {
    if (next === latest.current.first) return;
    anchor.current = firstVisible(list.current);
    setFirst(next);
  };
  const older = async (): Promise<void> => {
    setLoading(true);
    try {
      await store.older(channel);
      follower.current?.release();
      move(earlier(latest.current.state.messages, latest.current.first));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      // Scrolling up again asks again; what is wrong with history stands above.
    } finally {
      setLoading(false);
    }
  };
  const scrolled = (): void => {
    const element = list.current;
    const made = follower.current;
    if (element === null || made === null) return;
    made.scrolled();
    const { state: now, first: from, loading: busy } = latest.current;
    if (element.scrollTop < NEAR && !made.held.value) {
      if (indexOf(now.messages, from) > 0) move(earlier(now.messages, from));
      else if (now.more && !busy) void older();
    } else if (made.left() < NEAR && !atEnd(now.messages, from)) {
      move(later(now.messages, from));
    }
  };
  useEffect(() => {
    const element = list.current;
    // A page that doesn't fill the window has nothing to scroll: ask at once.
    if (element !== null && more && !loading && element.scrollHeight <= element.clientHeight) {
      void older();
    }
  }, [messages, more]);

  const [unread, setNew] = useState(() => firstNew(channel, messages));
  const looks = attentive.value;
  useEffect(() => {
    const end = finished(messages);
    const watches = looks && held && atEnd(messages, first);
    watched.value = watches ? channel : null;
    if (watches) {
      if (end !== null) read(channel, end);
    } else if (!looks) {
      setNew((before) => firstNew(channel, messages) ?? before);
    }
  }, [messages, looks, held, first]);

  const rows = shown(messages, first);
  const there = new Set(messages.map(({ id }) => id));
  const outgoing = outbox.entries.value.filter(
    (entry) => entry.channel === channel && !there.has(entry.message ?? ""),
  );
  const arrived = held ? 0 : newerThan(messages, seen);
  const whole = !more && indexOf(messages, first) === 0;
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
          if (event.key === "End") {
            event.preventDefault();
            toEnd();
          }
        }}
      >
        <div class="list-content" ref={content}>
          {/* Its room is there before it is needed, so that nothing moves when it is. */}
          {whole ? beginning : <p class="list-note">{loading ? t("channel.older") : "\u00a0"}</p>}
          <Rows rows={rows} state={state} unread={unread} />
          {atEnd(messages, first) &&
            outgoing.map((entry) => <OutgoingRow key={entry.id} entry={entry} />)}
        </div>
      </div>
      {!held && (
        <button type="button" class="button list-end" onClick={toEnd}>
          <Icon of={ArrowDown} size={14} />{" "}
          {arrived > 0 ? t("channel.new", { count: arrived }) : t("channel.bottom")}
        </button>
      )}
    </div>
  );
}

function firstNew(channel: string, messages: readonly Message[]): string | null {
  const mark = readUpTo(channel);
  return mark === null ? null : firstUnread(messages, mark);
}

function newest(messages: readonly Message[]): string | null {
  let last: string | null = null;
  for (const { id } of messages) if (last === null || compareIds(id, last) > 0) last = id;
  return last;
}

function newerThan(messages: readonly Message[], seen: string | null): number {
  return messages.filter(
    ({ id, role }) => role !== "user" && (seen === null || compareIds(id, seen) > 0),
  ).length;
}
