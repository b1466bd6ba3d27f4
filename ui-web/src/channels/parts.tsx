// The parts of an agent's message in their order; runs of finished reads and searches in one line.
import type { JSX } from "preact";
import { isOver, type PartTimes } from "../bus/conversation";
import { headOf, isBlob } from "../bus/text";
import type { Part, PlanPart, ThoughtPart, ToolPart } from "../bus/schema.gen";
import { t } from "../i18n/translate";
import { lasted } from "../shell/format";
import { Prose } from "./Prose";
import { ToolCard } from "./ToolCard";

/** This many reads and searches in a row are folded. */
const RUN = 3;

export type Group = { at: number; part: Part } | { at: number; run: readonly ToolPart[] };

/** The parts with runs of finished reads and searches put together; `at` is the first's index. */
export function groups(parts: readonly Part[]): Group[] {
  const made: Group[] = [];
  for (let at = 0; at < parts.length; ) {
    let end = at;
    while (end < parts.length && folds(parts[end])) end++;
    if (end - at >= RUN) {
      made.push({ at, run: parts.slice(at, end) as ToolPart[] });
      at = end;
    } else {
      made.push({ at, part: parts[at] as Part });
      at++;
    }
  }
  return made;
}

function folds(part: Part | undefined): boolean {
  if (part?.type !== "tool") return false;
  const { kind, status } = part.tool;
  return (kind === "read" || kind === "search") && status === "completed";
}

interface Props {
  parts: readonly Part[];
  done: boolean;
  times: PartTimes | undefined;
  waiting: ReadonlySet<string>;
  without: (text: string, done: boolean) => string;
}

export function Parts({ parts, done, times, waiting, without }: Props): JSX.Element {
  const first = parts.findIndex((part) => part.type === "text");
  const took = (at: number): number | null => {
    const began = times?.began[at];
    const ended = times?.ended[at];
    return began === undefined || ended === undefined ? null : ended - began;
  };
  return (
    <>
      {groups(parts).map((group) => {
        const { at } = group;
        if ("run" in group) return <Run key={at} tools={group.run} />;
        const { part } = group;
        switch (part.type) {
          case "text":
            return (
              <Prose
                key={at}
                text={part.text}
                done={done || at < parts.length - 1}
                {...(at === first ? { without } : {})}
              />
            );
          case "thought": {
            const over = done || at < parts.length - 1;
            return <Thought key={at} part={part} over={over} took={took(at)} />;
          }
          case "tool":
            return (
              <ToolCard
                key={at}
                tool={part.tool}
                waits={waiting.has(part.tool.id) && !isOver(part.tool)}
                took={took(at)}
              />
            );
          case "plan":
            return <Plan key={at} part={part} />;
          case "image":
            return <Picture key={at} part={part} />;
          case "resource":
            return (
              <p key={at} class="attached">
                {t("part.resource", { name: part.name === "" ? part.uri : part.name })}
              </p>
            );
          case "other":
            return (
              <details key={at} class="other">
                <summary>{t("part.other")}</summary>
                <pre tabIndex={0}>{JSON.stringify(part.raw, null, 2)}</pre>
              </details>
            );
        }
      })}
    </>
  );
}

function Run({ tools }: { tools: readonly ToolPart[] }): JSX.Element {
  return (
    <details class="tools">
      <summary>{t("tool.reads", { count: tools.length })}</summary>
      {tools.map(({ tool }) => (
        <ToolCard key={tool.id} tool={tool} waits={false} took={null} />
      ))}
    </details>
  );
}

interface ThoughtProps {
  part: ThoughtPart;
  over: boolean;
  took: number | null;
}

function Thought({ part, over, took }: ThoughtProps): JSX.Element {
  const text = headOf(part.text);
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return (
    <details class="thought">
      <summary>
        {over
          ? took === null
            ? t("thought.over")
            : t("thought.for", { time: lasted(took) })
          : t("thought.live")}
        {!over && <span class="thought-last">{last}</span>}
      </summary>
      <Prose text={part.text} done={over} />
    </details>
  );
}

const STEPS = { pending: "○", in_progress: "◐", completed: "✓" } as const;

function stepState(status: string): keyof typeof STEPS {
  return status === "completed" || status === "in_progress" ? status : "pending";
}

function Plan({ part }: { part: PlanPart }): JSX.Element {
  const done = part.steps.filter(({ status }) => status === "completed").length;
  return (
    <section class="plan" aria-label={t("plan.title")}>
      <p class="plan-head">
        <strong>{t("plan.title")}</strong>{" "}
        <span class="quiet">{t("plan.done", { done, count: part.steps.length })}</span>
      </p>
      <ol>
        {part.steps.map(({ content, status }, index) => {
          const state = stepState(status);
          return (
            <li key={index} class={`step step-${state}`}>
              <span class="step-mark" aria-hidden="true">
                {STEPS[state]}
              </span>
              <span class="step-text">{content}</span>
              <span class={state === "in_progress" ? "step-word" : "unseen"}>
                {t(`plan.${state}`)}
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

const PICTURES = /^image\/(?:png|jpeg|gif|webp|avif)$/;

/** Only what the message itself carries is drawn: an address would be a call to another host. */
function Picture({ part }: { part: Extract<Part, { type: "image" }> }): JSX.Element {
  const label = t("part.image", { type: part.mimeType });
  if (isBlob(part.data) || part.data === "" || !PICTURES.test(part.mimeType)) {
    return <p class="attached">{label}</p>;
  }
  return <img class="picture" alt={label} src={`data:${part.mimeType};base64,${part.data}`} />;
}
