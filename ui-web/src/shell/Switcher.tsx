// Ctrl+K: go to a channel or an agent, or do something, by a few letters of its name.
import { Hash, Zap } from "lucide";
import type { JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { AgentMark } from "../agents/AgentMark";
import { stop } from "../channels/stopping";
import { folded } from "../channels/suggest";
import { unreadIn } from "../channels/unread";
import { t } from "../i18n/translate";
import { agents, agentsByName, channels, current, give, turnOf } from "./app";
import { closeDialog, openDialog } from "./dialog";
import { DialogBox } from "./DialogBox";
import { Icon } from "./icon";
import { showAgents, showMembers } from "./pane";
import { goTo, home } from "./route";
import { openRow, rows } from "./rows";

interface Target {
  readonly key: string;
  readonly name: string;
  /** Other words by which it is found. */
  readonly also: string;
  readonly agent: string | null;
  readonly command: boolean;
  readonly unread: number;
  readonly go: () => void;
}

export function Switcher(): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const [typed, type] = useState("");
  const [at, setAt] = useState(0);
  const found = matching(targets(), typed);
  const active = Math.max(0, Math.min(at, found.length - 1));
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active, typed]);
  const choose = (target: Target | undefined): void => {
    if (target === undefined) return;
    closeDialog();
    target.go();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "ArrowDown") setAt((active + 1) % Math.max(1, found.length));
    else if (event.key === "ArrowUp") setAt((active - 1 + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") choose(found[active]);
    else return;
    event.preventDefault();
  };
  return (
    <DialogBox title={t("switcher.title")} plain>
      <input
        type="text"
        class="input"
        role="combobox"
        autoFocus
        autocomplete="off"
        spellcheck={false}
        aria-label={t("switcher.title")}
        aria-expanded={found.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${active}`}
        placeholder={t("switcher.title")}
        value={typed}
        onInput={({ currentTarget }) => {
          type(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={pressed}
      />
      <ul class="switcher" id={id} role="listbox" aria-label={t("suggest.label")} ref={list}>
        {found.map((target, index) => (
          <li
            key={target.key}
            id={`${id}-${index}`}
            role="option"
            class="suggest-option"
            aria-selected={index === active}
            onClick={() => choose(target)}
          >
            <Mark target={target} />
            <span class="suggest-label">{target.name}</span>
            <span class="suggest-detail">
              {target.also}
              {target.unread > 0 && (
                <span class="chip">{t("sidebar.unread", { count: target.unread })}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p class="quiet" role="status">
          {t("switcher.none")}
        </p>
      )}
    </DialogBox>
  );
}

function Mark({ target }: { target: Target }): JSX.Element {
  const agent = target.agent === null ? undefined : agentsByName.value.get(target.agent);
  if (agent !== undefined) return <AgentMark agent={agent} />;
  return <Icon of={target.command ? Zap : Hash} />;
}

/** Where one can go, those with something unread first; then what one can do. */
function targets(): readonly Target[] {
  const places = rows.value.map((row): Target => {
    const channel = channels.value.find(({ id }) => id === row.channel);
    const agent = row.agent === null ? undefined : agentsByName.value.get(row.agent);
    return {
      key: row.channel ?? row.agent ?? "",
      name: agent?.title ?? channel?.name ?? row.agent ?? "",
      also: agent === undefined ? (channel?.description ?? "") : `@${agent.name}`,
      agent: row.agent,
      command: false,
      unread: unreadIn(row.channel),
      go: () => openRow(row),
    };
  });
  const unread = places.filter((one) => one.unread > 0);
  return [...unread, ...places.filter((one) => one.unread === 0), ...deeds()];
}

function deeds(): readonly Target[] {
  const deed = (name: string, go: () => void): Target => {
    return { key: `do ${name}`, name, also: "", agent: null, command: true, unread: 0, go };
  };
  const here = current.value;
  const made = [
    deed(t("channel.create"), () => openDialog({ shows: "create" })),
    deed(t("search.title"), () => goTo("search")),
    deed(t("settings.title"), () => goTo("settings")),
    deed(t("bus.title"), () => goTo("bus")),
    deed(t("sidebar.agents"), showAgents),
    deed(t("keys.title"), () => openDialog({ shows: "keys" })),
    deed(t("welcome.title"), home),
  ];
  if (here !== null) {
    if (turnOf(here).busy) made.push(deed(t("turn.stop"), () => stop(here)));
    made.push(deed(t("members.open"), showMembers));
    const channel = channels.value.find(({ id }) => id === here);
    if (channel?.direct === "") {
      made.push(deed(t("channel.rename"), () => openDialog({ shows: "rename", channel: here })));
    }
  }
  for (const { name, title, state } of agents.value) {
    const runs = state !== "stopped" && state !== "error";
    const command = runs ? "Stop" : "Start";
    const said = t(runs ? "agent.stop" : "agent.start", { agent: title });
    made.push(deed(said, () => void give(`agent ${name}`, command, { agent: name })));
  }
  return made;
}

/** By the beginning of a name, then of one of its words, then by what it holds. */
function matching(all: readonly Target[], typed: string): readonly Target[] {
  const sought = folded(typed.trim().replace(/^[#@]/, ""));
  if (sought === "") return all;
  const rank = ({ name, also }: Target): number => {
    const text = folded(`${name} ${also.replace(/^@/, "")}`);
    if (text.startsWith(sought)) return 0;
    if (text.includes(` ${sought}`) || text.includes(`-${sought}`)) return 1;
    return text.includes(sought) ? 2 : 3;
  };
  return all
    .map((target) => ({ target, rank: rank(target) }))
    .filter((one) => one.rank < 3)
    .sort((one, other) => one.rank - other.rank)
    .map(({ target }) => target);
}
