// The events of the bus as they come: sixty at a time of the ones that are kept, filtered, each to
// be opened; whoever reads stops the stream, and sees how much waits.
import { ClipboardCopy, Download, Pause, Play, Trash2 } from "lucide";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { say } from "../shell/Announcer";
import { count } from "../shell/format";
import { Icon } from "../shell/icon";
import { roam } from "../shell/roam";
import { isInternal, lineOf, type Row } from "./events";
import { EventRow } from "./EventRow";
import { command, toggled, type Filter } from "./filter";
import { ask, clear, follow, line, parsed, pause, paused, rates, resume, rows, waiting } from "./stream";

export const SHOWN = 60;
const CHIPS = 12;

type ListScroll = { currentTarget: HTMLDivElement };

export function EventList(): JSX.Element {
  useEffect(follow, []);
  /** How many of the newest are left out below: 0 follows the end. */
  const [skipped, skip] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const last = useRef({ top: 0, height: 0, room: 0 });
  const rowList = useRef<HTMLOListElement>(null);
  const { filter, wrong } = parsed.value;
  const all = rows.value;
  const end = Math.max(Math.min(SHOWN, all.length), all.length - skipped);
  const from = Math.max(0, end - SHOWN);
  const follows = skipped === 0 && !paused.value;
  useEffect(() => {
    const element = list.current;
    if (element !== null && follows) element.scrollTop = element.scrollHeight;
  });
  const move = (next: number): void => {
    if (next > 0) pause();
    skip(Math.max(0, next));
    if (list.current !== null) list.current.scrollTop = 0;
  };
  /** Who scrolls up wants to read: what comes then waits. With less to scroll the browser itself goes up. */
  const scrolled = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: ListScroll): void => {
    const { top, height, room } = last.current;
    const up = scrollTop < top - 1 && scrollHeight - scrollTop - clientHeight > 1;
    last.current = { top: scrollTop, height: scrollHeight, room: clientHeight };
    if (up && clientHeight === room && scrollHeight >= height) pause();
  };
  const goOn = (): void => {
    skip(0);
    resume();
  };
  return (
    <section class="bus-events" aria-label={t("bus.events")}>
      <div class="bus-bar">
        <button type="button" class="button button-wide" aria-pressed={paused.value} onClick={() => (paused.value ? goOn() : pause())}>
          <Icon of={paused.value ? Play : Pause} />{" "}
          {pausing()}
        </button>
        <label class="bus-filter">
          <span class="unseen">{t("bus.filter")}</span>
          <input
            type="text"
            class="input"
            spellcheck={false}
            autocomplete="off"
            placeholder="-t 'message:*' -a alice -c '#review' --grep error --all"
            aria-invalid={wrong !== null}
            value={line.value}
            onInput={({ currentTarget }) => ask(currentTarget.value)}
          />
        </label>
        <label class="bus-all">
          <input type="checkbox" checked={filter?.all ?? false} disabled={filter === null} onChange={() => ask(internal(line.value))} />
          {t("bus.internal")}
        </label>
        <Actions rows={all} filter={filter} />
      </div>
      {wrong !== null && (
        <p class="refusal bus-wrong" role="alert">
          {t("bus.wrong", { word: wrong })}
        </p>
      )}
      <Chips filter={filter} />
      <div class="bus-list" ref={list} onScroll={scrolled}>
        {from > 0 && (
          <button type="button" class="link" onClick={() => move(skipped + SHOWN)}>
            {t("bus.older", { count: from })}
          </button>
        )}
        {all.length === 0 && <p class="list-note">{t("bus.nothing")}</p>}
        <ol ref={rowList} onKeyDown={(event) => roam(event, rowList.current)}>
          {all.slice(from, end).map((row) => (
            <EventRow key={`${row.event.epoch} ${row.event.seq} ${row.gap === null}`} row={row} />
          ))}
        </ol>
        {end < all.length && (
          <button type="button" class="link" onClick={() => move(skipped - SHOWN)}>
            {t("bus.newer", { count: all.length - end })}
          </button>
        )}
      </div>
    </section>
  );
}

function pausing(): string {
  if (!paused.value) return t("bus.pause");
  return waiting.value === 0 ? t("bus.goOn") : t("bus.resume", { count: waiting.value });
}

function internal(text: string): string {
  return /(^|\s)--all(?=\s|$)/.test(text) ? text.replace(/\s*--all(?=\s|$)/, "").trim() : `${text} --all`.trim();
}

/** The types that come most, each with its rate, and those that came; a click asks for them alone. */
function Chips({ filter }: { filter: Filter | null }): JSX.Element {
  const known = new Map(rates.value);
  for (const { event, gap } of rows.value) {
    if (gap === null && !known.has(event.type)) known.set(event.type, 0);
  }
  const some = [...known]
    .filter(([type]) => filter?.all === true || !isInternal(type))
    .sort(([, one], [, other]) => other - one)
    .slice(0, CHIPS)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const chosen = (filter?.types ?? []).filter((type) => !some.some(([one]) => one === type));
  return (
    <p class="bus-chips" aria-label={t("bus.types")} role="group">
      {[...chosen.map((type) => [type, 0] as const), ...some].map(([type, rate]) => (
        <button
          key={type}
          type="button"
          class="chip"
          aria-pressed={filter?.types.includes(type) ?? false}
          onClick={() => ask(toggled(line.value, type))}
        >
          {type} {rate > 0 && t("bus.perSecond", { rate: count(rate) })}
        </button>
      ))}
    </p>
  );
}

function Actions({ rows: all, filter }: { rows: readonly Row[]; filter: Filter | null }): JSX.Element {
  const words = filter === null ? null : command(filter);
  return (
    <span class="bus-actions">
      {isSecureContext && (
        <button
          type="button"
          class="button"
          disabled={words === null}
          aria-label={t("bus.copy")}
          title={words ?? t("bus.copy")}
          onClick={() => void navigator.clipboard.writeText(words ?? "").then(() => say(t("message.copied")))}
        >
          <Icon of={ClipboardCopy} />
        </button>
      )}
      <button type="button" class="button" aria-label={t("bus.export")} title={t("bus.export")} onClick={() => download(all)}>
        <Icon of={Download} />
      </button>
      <button type="button" class="button" aria-label={t("bus.clear")} title={t("bus.clear")} onClick={clear}>
        <Icon of={Trash2} />
      </button>
    </span>
  );
}

function download(all: readonly Row[]): void {
  const lines = all.flatMap(({ run }) => run.map(lineOf));
  const file = new Blob([`${lines.join("\n")}\n`], { type: "application/x-ndjson" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "events.ndjson";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // a browser may ask where to put it first
}
