// A request for permission: the evidence, then the agent's own options in its order and words.
// Never takes the focus; its keys work inside it only.
import { ShieldQuestionMark } from "lucide";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Permission, PermissionOption, ToolCall } from "../bus/schema.gen";
import type { Resolved } from "../bus/world";
import { isKey, problemText, t } from "../i18n/translate";
import { give, pending, refusals, titleOf } from "../shell/app";
import { reason } from "../shell/away";
import { clock } from "../shell/format";
import { Icon } from "../shell/icon";
import { go, route } from "../shell/route";
import { chosen, keyName, keyOf, toneOf } from "./answers";
import { useSettled } from "./settled";
import { commandOf, titleOfTool } from "./tool";
import { ToolBody, ToolIcon } from "./ToolCard";

/** What was answered by this very page: of the rest it is said who did. */
const answeredHere = new Set<string>();

/** The cards in the flow that the reader has before his eyes; the others are docked. */
export const inSight = signal<ReadonlySet<string>>(new Set());

function sees(id: string, seen: boolean): void {
  if (inSight.value.has(id) === seen) return;
  const ids = new Set(inSight.value);
  if (seen) ids.add(id);
  else ids.delete(id);
  inSight.value = ids;
}

interface Props {
  permission: Permission;
  /** Its place among those that wait in this conversation, from 1. */
  index: number;
  count: number;
  docked: boolean;
}

export function PermissionCard({ permission, index, count, docked }: Props): JSX.Element {
  const { id, toolCall, options, rejections } = permission;
  const card = useRef<HTMLDivElement>(null);
  const settled = useSettled(card);
  const key = `permission ${id}`;
  const waits = pending.value.has(key);
  const refusal = refusals.value[key];
  const away = reason("bus", "router");
  useEffect(() => {
    if (sought === id) show(id);
  }, [id]);
  // Taken to be in sight until the browser has looked: else it would be docked for a moment, too. Not
  // so while somebody is at the docked one, which would take the focus with it.
  useLayoutEffect(() => {
    const element = card.current;
    if (docked || element === null) return;
    const there = document.activeElement?.closest<HTMLElement>(".ask-docked");
    if (there?.dataset["permission"] !== id) sees(id, true);
    const observer = new IntersectionObserver(
      ([entry]) => sees(id, entry?.isIntersecting ?? false),
      { threshold: 0.6 },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      sees(id, false);
    };
  }, [id, docked]);

  const answer = (option: PermissionOption): void => {
    if (waits || away !== undefined || !settled()) return;
    keepFocus(card.current); // the button goes away with the card
    answeredHere.add(id);
    void give(key, "AnswerPermission", { permission: id, optionId: option.optionId });
  };
  const pressed = (event: KeyboardEvent): void => {
    const option = chosen(options, event);
    if (option === null) return;
    event.preventDefault();
    answer(option);
  };
  return (
    <div
      class={docked ? "ask ask-docked" : "ask"}
      ref={card}
      role="group"
      tabIndex={-1}
      aria-label={headline(permission)}
      data-permission={id}
      onKeyDown={pressed}
    >
      <div class="ask-head">
        <Icon of={ShieldQuestionMark} size={18} />
        <strong>{headline(permission)}</strong>
        {count > 1 && <span class="chip">{t("permission.count", { index, count })}</span>}
        {rejections > 0 && (
          <span class="chip chip-warn">{t("permission.refused", { count: rejections })}</span>
        )}
      </div>
      <p class="ask-title">
        <ToolIcon kind={toolCall.kind} /> {titleOfTool(toolCall)}
      </p>
      {docked ? <Command tool={toolCall} /> : <ToolBody tool={toolCall} />}
      <div class="ask-options">
        {options.map((option) => (
          <button
            key={option.optionId}
            type="button"
            class={`button ask-option ${toneOf(option)}`}
            disabled={away !== undefined || waits}
            aria-keyshortcuts={shortcut(keyOf(options, option))}
            title={away ?? meaningOf(option)}
            onClick={() => answer(option)}
          >
            {option.name}
            <kbd aria-hidden="true">{keyName(keyOf(options, option))}</kbd>
          </button>
        ))}
        {docked && (
          <button type="button" class="link" onClick={() => show(id)}>
            {t("permission.show")}
          </button>
        )}
      </div>
      {waits && <p class="quiet">{t("permission.answering")}</p>}
      {refusal !== undefined && (
        <p class="refusal" role="alert">
          {problemText(refusal)}
        </p>
      )}
    </div>
  );
}

/** What a choice covers, where it is more than this once; the agent alone remembers it. */
function meaningOf({ kind }: PermissionOption): string | undefined {
  if (kind === "allow_always") return t("permission.always");
  return kind === "reject_always" ? t("permission.never") : undefined;
}

/** Nobody should have to allow a command unseen, however little room there is. */
function Command({ tool }: { tool: ToolCall }): JSX.Element | null {
  const command = commandOf(tool);
  if (command === null || command === titleOfTool(tool)) return null;
  return <pre class="ask-command" tabIndex={0}>{`$ ${command}`}</pre>;
}

function headline({ agent, toolCall }: Permission): string {
  const key = `permission.${toolCall.kind}`;
  return t(isKey(key) ? key : "permission.title", { agent: titleOf(agent) });
}

function shortcut(key: string): string {
  return /^[A-Z]$/.test(key) ? `Shift+${key}` : key;
}

/** The card to go to as soon as it is drawn. */
let sought: string | null = null;

/** Bring a card in the flow into sight and give it the focus, so that its keys work. */
export function show(id: string): void {
  const card = document.querySelector<HTMLElement>(
    `.ask:not(.ask-docked)[data-permission="${CSS.escape(id)}"]`,
  );
  const here = route.peek();
  if (card === null && here.at === "conversation" && here.message !== null) {
    // The messages around an old one are shown: the request came up at the end.
    sought = id;
    return go(here.channel);
  }
  const any = card ?? document.querySelector<HTMLElement>(`[data-permission="${CSS.escape(id)}"]`);
  sought = any === null ? id : null;
  any?.scrollIntoView({ block: "center" });
  any?.focus({ preventScroll: true });
}

/** What stays once the card is gone: its place in the flow, or the composer below the dock. */
function keepFocus(card: HTMLElement | null): void {
  if (card?.contains(document.activeElement) !== true) return;
  const place = card.closest<HTMLElement>(".request");
  (place ?? document.querySelector<HTMLElement>(".composer-field"))?.focus();
}

interface RequestProps {
  permission: Permission;
  over: Resolved | null;
  index: number;
  count: number;
}

/** A request in the flow: the card, and then in the same place the line that is left of it. */
export function Request({ permission, over, index, count }: RequestProps): JSX.Element {
  return (
    <div class="request" tabIndex={-1}>
      {over === null ? (
        <PermissionCard permission={permission} index={index} count={count} docked={false} />
      ) : (
        <Answered over={over} />
      )}
    </div>
  );
}

/** What is left of a request once it is over. */
function Answered({ over }: { over: Resolved }): JSX.Element {
  const { permission, optionId, by, delivered, at } = over;
  const time = clock(at);
  const option = permission.options.find((one) => one.optionId === optionId)?.name ?? optionId;
  return (
    <p class="answered">
      <Icon of={ShieldQuestionMark} size={14} /> {titleOfTool(permission.toolCall)}:{" "}
      {option === null
        ? t("permission.cancelled", { time })
        : !delivered
          ? t("permission.undelivered", { option, time })
          : answeredHere.has(permission.id)
            ? t("permission.answered", { option, time })
            : by === "rule"
              ? t("permission.ruled", { option, time })
              : by === "page"
                ? t("permission.otherTab", { option, time })
                : t("permission.elsewhere", { option, time, by })}
    </p>
  );
}
