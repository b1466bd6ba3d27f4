// One message: who, when, its parts, how it ended, and the requests for permission in it.
import { Copy } from "lucide";
import { Component as Base, type JSX } from "preact";
import { AgentError } from "../agents/AgentPanel";
import { Avatar } from "../agents/Avatar";
import { compareIds, type PartTimes } from "../bus/conversation";
import type { Message, Permission, Problem } from "../bus/schema.gen";
import type { Resolved } from "../bus/world";
import { isKey, problemText, t } from "../i18n/translate";
import { agentsByName, outbox, titleOf } from "../shell/app";
import { say } from "../shell/Announcer";
import { clock, moment } from "../shell/format";
import { Icon } from "../shell/icon";
import { wholeWords } from "./blob";
import { putBack } from "./drafts";
import { Parts } from "./parts";
import { Request } from "./PermissionCard";
import { Prose } from "./Prose";
import { Queued } from "./Queued";
import { Remedies, SystemLine } from "./SystemLine";
import { withoutName } from "./names";

export interface RowProps {
  message: Message;
  /** Whether it goes on where the message before it left off: same author, soon after. */
  joined: boolean;
  times: PartTimes | undefined;
  asked: readonly Permission[];
  over: readonly Resolved[];
  /** Of all requests that wait in the conversation: how many, and how many before this row's. */
  count: number;
  before: number;
  language: string;
}

/** Drawn again only when something of its own changes: there are two hundred of them. */
export class MessageRow extends Base<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const now = this.props;
    return (Object.keys(next) as (keyof RowProps)[]).some((key) => next[key] !== now[key]);
  }

  render({ message }: RowProps): JSX.Element {
    const faded = isFaded(message) ? " message-faded" : "";
    return (
      <article class={`message message-${message.role}${faded}`} data-message={message.id} tabIndex={-1}>
        {message.role === "system" ? <SystemLine message={message} /> : <Spoken {...this.props} />}
      </article>
    );
  }
}

/** What nobody has answered, and has buttons that say what can be done about it. */
function isFaded({ queued, role, error }: Message): boolean {
  return queued || (role === "user" && error !== undefined);
}

function Spoken({ message, joined, times, asked, over, count, before }: RowProps): JSX.Element {
  const own = message.role === "user";
  const author = own ? t("message.you") : titleOf(message.agent);
  const waiting = new Set(asked.map(({ toolCall }) => toolCall.id));
  const faded = isFaded(message);
  return (
    <div class={`spoken${joined ? " spoken-joined" : ""}${faded ? " spoken-faded" : ""}`}>
      {joined ? <span class="avatar-space" /> : own ? <Me /> : <Avatar agent={message.agent} />}
      <div class="spoken-body">
        <header class={joined ? "unseen" : "spoken-head"}>
          <strong>{author}</strong>
          <time dateTime={new Date(message.createdAt).toISOString()} title={moment(message.createdAt)}>
            {clock(message.createdAt)}
          </time>
        </header>
        {own ? (
          message.parts.map((part, index) =>
            part.type === "text" ? (
              <Prose key={index} text={part.text} done own={message.channel} />
            ) : null,
          )
        ) : (
          <Parts
            parts={message.parts}
            done={message.done}
            times={times}
            waiting={waiting}
            without={hides(message.agent)}
          />
        )}
        {requests(asked, over).map(({ permission, end }) => (
          <Request
            key={permission.id}
            permission={permission}
            over={end}
            index={before + asked.indexOf(permission) + 1}
            count={count}
          />
        ))}
        {message.queued && <Queued message={message} />}
        <End message={message} />
      </div>
      <CopyButton message={message} />
    </div>
  );
}

interface Asked {
  readonly permission: Permission;
  readonly end: Resolved | null;
}

/** Open and over in one list, in the order of asking: each keeps its element when it ends. */
function requests(asked: readonly Permission[], over: readonly Resolved[]): Asked[] {
  return [
    ...over.map((end) => ({ permission: end.permission, end })),
    ...asked.map((permission) => ({ permission, end: null })),
  ].sort((one, other) => compareIds(one.permission.id, other.permission.id));
}

function hides(agent: string): (text: string, done: boolean) => string {
  const names = [agent, agentsByName.peek().get(agent)?.title ?? agent];
  return (text, done) => withoutName(text, names, done);
}

export function Me(): JSX.Element {
  return (
    <span class="avatar avatar-me" aria-hidden="true">
      {t("message.you")[0]}
    </span>
  );
}

/** How it ended, where that isn't the ordinary way. */
function End({ message }: { message: Message }): JSX.Element | null {
  const { done, error, role, stopReason } = message;
  if (!done) {
    return message.parts.length > 0 ? null : (
      <p class="writing">
        <span class="caret" aria-hidden="true" />
        <span class="unseen">{t("message.typing", { agent: titleOf(message.agent) })}</span>
      </p>
    );
  }
  if (role === "user") return error === undefined ? null : <NotSent message={message} />;
  if (error !== undefined) {
    if (error.id === "interrupted") return <p class="end end-bad">{t("message.interrupted")}</p>;
    return <Failed message={message} error={error} />;
  }
  if (stopReason === undefined || stopReason === "end_turn") return null;
  const key = `end.${stopReason}`;
  return (
    <p class="end">{isKey(key) ? t(key) : t("end.other", { reason: stopReason })}</p>
  );
}

/** Why it ended: where that was the agent's own end, what it wrote last, and how to go on. */
function Failed({ message, error }: { message: Message; error: Problem }): JSX.Element {
  const ended = ENDS.has(error.id) && agentsByName.value.has(message.agent);
  if (!ended) return <p class="end end-bad">{problemText(error)}</p>;
  return (
    <div class="end">
      <AgentError problem={error} />
      <Remedies message={message} />
    </div>
  );
}

const ENDS: ReadonlySet<string> = new Set([
  "agent-ended", "agent-finished", "agent-crashed", "agent-killed", "closed-its-pipes", "shim-lost",
]);

/** A text that was dropped while it waited: nothing is lost, it can be sent again. */
function NotSent({ message }: { message: Message }): JSX.Element {
  if (message.error?.id === "taken-back") return <p class="end">{t("message.takenBack")}</p>;
  return (
    <p class="end">
      {t("message.notSent")}
      {message.error?.id !== "cancelled" && message.error?.id !== "not-sent" && (
        <> · {message.error === undefined ? "" : problemText(message.error)}</>
      )}{" "}
      <button type="button" class="link" onClick={() => void sendAgain(message)}>
        {t("message.again")}
      </button>{" "}
      <button type="button" class="link" onClick={() => void backInComposer(message)}>
        {t("message.back")}
      </button>
    </p>
  );
}

async function sendAgain(message: Message): Promise<void> {
  outbox.send(message.channel, await wholeWords(message));
}

async function backInComposer(message: Message): Promise<void> {
  putBack(message.channel, await wholeWords(message));
  document.querySelector<HTMLElement>(".composer-field")?.focus();
}

export async function copy(message: Message): Promise<void> {
  await navigator.clipboard.writeText(await wholeWords(message));
  say(t("message.copied"));
}

function CopyButton({ message }: { message: Message }): JSX.Element | null {
  if (!isSecureContext || !message.parts.some((part) => part.type === "text")) return null;
  return (
    <button
      type="button"
      class="button spoken-copy"
      aria-label={t("message.copyText")}
      title={t("message.copyText")}
      onClick={() => {
        void copy(message);
      }}
    >
      <Icon of={Copy} size={14} />
    </button>
  );
}
