// One tool call: a line that says what and how it went; its input, output and changes on demand.
import {
  ArrowRightLeft,
  Brain,
  FileText,
  Globe,
  Pencil,
  Search,
  Terminal,
  Trash2,
  Wrench,
  type IconNode,
} from "lucide";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { plainText } from "../agents/ansi";
import { isOver } from "../bus/conversation";
import { isBlob } from "../bus/text";
import type { Text, ToolCall } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { lasted, size } from "../shell/format";
import { Icon } from "../shell/icon";
import { download, fetched } from "./blob";
import { DiffView } from "./DiffView";
import { commandOf, kindName, placeName, prettyInput, statusName, titleOfTool } from "./tool";

const ICONS: Readonly<Record<string, IconNode>> = {
  read: FileText,
  edit: Pencil,
  delete: Trash2,
  move: ArrowRightLeft,
  search: Search,
  execute: Terminal,
  think: Brain,
  fetch: Globe,
};

const FIRST_LINES = 12;
/** More of an output than this is for the downloads. */
const MOST_SHOWN = 200_000;

export function ToolIcon({ kind }: { kind: string }): JSX.Element {
  return <Icon of={ICONS[kind] ?? Wrench} size={15} />;
}

interface Props {
  tool: ToolCall;
  /** Whether a person has to answer before it goes on. */
  waits: boolean;
  took: number | null;
}

export function ToolCard({ tool, waits, took }: Props): JSX.Element {
  const [chosen, choose] = useState<boolean | null>(null);
  const failed = tool.status === "failed" && tool.ended === undefined;
  const open = chosen ?? failed;
  const place = tool.locations[0];
  const state = tool.ended ?? (waits ? "waiting" : tool.status);
  return (
    <details
      class={`tool tool-${state}`}
      open={open}
      onToggle={({ currentTarget }) => choose(currentTarget.open)}
    >
      <summary>
        <span class="tool-kind" title={kindName(tool.kind)}>
          <ToolIcon kind={tool.kind} />
          <span class="unseen">{kindName(tool.kind)}: </span>
        </span>
        <span class="tool-title">{titleOfTool(tool)}</span>
        {place !== undefined && !tool.title.includes(place.path) && (
          <code class="tool-place">{placeName(place)}</code>
        )}
        <span class="tool-status">
          {statusName(tool, waits)}
          {took !== null && isOver(tool) && ` · ${lasted(took)}`}
        </span>
      </summary>
      {open && <ToolBody tool={tool} />}
    </details>
  );
}

export function ToolBody({ tool }: { tool: ToolCall }): JSX.Element {
  const command = commandOf(tool);
  const input = prettyInput(tool);
  return (
    <div class="tool-body">
      {command !== null && <pre class="command" tabIndex={0}>{`$ ${command}`}</pre>}
      {tool.diffs.map((diff, index) => (
        <DiffView key={index} diff={diff} />
      ))}
      {tool.locations.length > 1 && (
        <p class="tool-places">
          {t("tool.files")}:{" "}
          {tool.locations.map((place, index) => (
            <code key={index}>{placeName(place)}</code>
          ))}
        </p>
      )}
      {input !== "" && input !== "{}" && (
        <details class="tool-input">
          <summary>{t("tool.input")}</summary>
          <pre tabIndex={0}>{input}</pre>
          {isBlob(tool.input) && <Far text={tool.input} name={`${tool.id}.json`} />}
        </details>
      )}
      <Output text={tool.output} name={`${tool.id}.txt`} />
    </div>
  );
}

function Output({ text, name }: { text: Text; name: string }): JSX.Element | null {
  if (text === "") return null;
  return (
    <div class="tool-output">
      <div class="quiet">{t("tool.output")}</div>
      {isBlob(text) ? <Far text={text} name={name} /> : <Lines text={text} />}
    </div>
  );
}

/** A text that isn't here: its beginning, then as much as a screen can take, or a download. */
function Far({ text, name }: { text: Exclude<Text, string>; name: string }): JSX.Element {
  const [asked, ask] = useState(false);
  const shown = Math.min(MOST_SHOWN, text.length);
  const { text: more, problem } = asked ? fetched(text, shown).value : { text: null, problem: null };
  return (
    <>
      <Lines text={more ?? text.head} />
      {problem !== null && <p class="refusal">{problemText(problem)}</p>}
      <p class="tool-more">
        {!asked && (
          <button type="button" class="link" onClick={() => ask(true)}>
            {t("tool.load", { size: size(shown) })}
          </button>
        )}
        <button type="button" class="link" onClick={() => void download(text, name)}>
          {t("tool.download", { size: size(text.length) })}
        </button>
      </p>
    </>
  );
}

function Lines({ text }: { text: string }): JSX.Element {
  const [all, showAll] = useState(false);
  const plain = plainText(text).replace(/\n+$/, "");
  const lines = plain.split("\n");
  const many = lines.length > FIRST_LINES;
  return (
    <>
      <pre tabIndex={0}>{many && !all ? lines.slice(0, FIRST_LINES).join("\n") : plain}</pre>
      {many && (
        <button type="button" class="link" onClick={() => showAll(!all)}>
          {all ? t("tool.less") : t("tool.all", { count: lines.length })}
        </button>
      )}
    </>
  );
}
