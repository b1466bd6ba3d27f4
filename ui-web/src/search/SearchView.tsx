// Searching all conversations; a message that was found is opened in its place.
import { ArrowLeft, Search, X } from "lucide";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { problemText, t } from "../i18n/translate";
import { agents, channels, nameOf } from "../shell/app";
import { reason } from "../shell/away";
import { Icon } from "../shell/icon";
import { roam } from "../shell/roam";
import { EMPTY, type Form } from "./asked";
import { change, filtered, find, form, hits, looking, more, next, problem } from "./finding";
import { HitRow } from "./HitRow";
import { History } from "./History";
import "./search.css";

export function SearchView({ onBack }: { onBack: () => void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const away = reason("bus", "history");
  useEffect(() => {
    if (away === undefined) find();
  }, [away]);
  return (
    <main class="search" aria-label={t("search.title")}>
      <header class="conversation-head">
        <button type="button" class="button only-narrow" aria-label={t("sidebar.show")} onClick={onBack}>
          <Icon of={ArrowLeft} />
        </button>
        <h2>{t("search.title")}</h2>
      </header>
      <div class="search-body">
        <form
          class="search-form"
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            find();
            list.current?.querySelector("button")?.focus();
          }}
        >
          <div class="search-line">
            <Icon of={Search} />
            <input
              ref={field}
              type="search"
              class="input"
              aria-label={t("search.text")}
              placeholder={t("search.hint")}
              readOnly={away !== undefined}
              title={away}
              value={form.value.text}
              onInput={({ currentTarget }) => change({ text: currentTarget.value })}
              onKeyDown={(event) => {
                if (event.key !== "ArrowDown") return;
                event.preventDefault();
                list.current?.querySelector("button")?.focus();
              }}
            />
          </div>
          <fieldset class="search-fields" disabled={away !== undefined} title={away}>
            <Filters />
          </fieldset>
        </form>
        <section class="search-results" aria-label={t("search.results")} aria-busy={looking.value}>
          <Said />
          <ol ref={list} onKeyDown={(event) => roam(event, list.current)}>
            {hits.value?.map((hit) => <HitRow key={`${hit.messageId} ${hit.part}`} hit={hit} text={form.value.text} />)}
          </ol>
          {next.value !== null && (
            <p class="search-more">
              <button type="button" class="button" disabled={away !== undefined || looking.value} title={away} onClick={more}>
                {t("search.more")}
              </button>
            </p>
          )}
        </section>
        <History />
      </div>
    </main>
  );
}

/** What there is to say of the results as a whole. */
function Said(): JSX.Element | null {
  if (problem.value !== null) {
    return (
      <p class="refusal" role="alert">
        {problemText(problem.value)}{" "}
        <button type="button" class="link" onClick={() => find()}>
          {t("message.retry")}
        </button>
      </p>
    );
  }
  const found = hits.value;
  return (
    <p class="quiet" role="status">
      {found === null
        ? t(looking.value ? "search.looking" : "search.help")
        : found.length === 0
          ? t("search.nothing")
          : t(next.value === null ? "search.found" : "search.foundSome", { count: found.length })}
    </p>
  );
}

function Filters(): JSX.Element {
  const set =
    (key: keyof Form) =>
    ({ currentTarget }: { currentTarget: { value: string } }): void =>
      change({ [key]: currentTarget.value });
  const now = form.value;
  return (
    <div class="search-filters">
      <label>
        {t("search.channel")}
        <select value={now.channel} onChange={set("channel")}>
          <option value="">{t("search.any")}</option>
          {channels.value.map((channel) => (
            <option key={channel.id} value={channel.id}>
              {nameOf(channel)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t("search.agent")}
        <select value={now.agent} onChange={set("agent")}>
          <option value="">{t("search.any")}</option>
          {agents.value.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t("search.tool")}
        <input type="text" class="input" value={now.tool} onInput={set("tool")} />
      </label>
      <label>
        {t("search.path")}
        <input type="text" class="input" spellcheck={false} value={now.path} onInput={set("path")} />
      </label>
      <label>
        {t("search.since")}
        <input type="date" class="input" value={now.since} onInput={set("since")} />
      </label>
      <label>
        {t("search.until")}
        <input type="date" class="input" value={now.until} onInput={set("until")} />
      </label>
      {filtered.value && (
        <button type="button" class="button" onClick={() => change({ ...EMPTY, text: now.text })}>
          <Icon of={X} size={14} /> {t("search.clear")}
        </button>
      )}
    </div>
  );
}
