// An event in one line: where it happened, and what it says. Values of the bus stand as they are;
// the words between them are the reader's.
import { t } from "../i18n/translate";
import type { AnyEvent, Row } from "./events";
import { agentOf } from "./filter";

type Data = AnyEvent["data"];

const LONGEST = 200;

export function place(event: AnyEvent, channelName: (id: string) => string): string {
  const channel = typeof event.data["channel"] === "string" ? channelName(event.data["channel"]) : "";
  const said = agentOf(event.data);
  const agent = channel === `@${said}` ? "" : said; // a direct conversation says it already
  const component = typeof event.data["component"] === "string" ? event.data["component"] : "";
  return [channel, agent, component].filter((part) => part !== "").join(" ");
}

export function summary({ event, run }: Row): string {
  if (run.length > 1) {
    const characters = run.reduce((sum, { data }) => sum + textOf(data["text"]).length, 0);
    const lasted = ((run.at(-1)?.ts ?? event.ts) - event.ts) / 1_000;
    return `${String(event.data["kind"])} +${characters} (${lasted.toFixed(1)} s)`;
  }
  return line(said(event));
}

function said({ type, data }: AnyEvent): string {
  switch (type) {
    case "message:updated":
      return message(data["message"] as Data);
    case "message:delta":
      return `${String(data["kind"])} ${textOf(data["text"])}`;
    case "turn:changed": {
      const { busy, answering, queued, then } = data as { busy: boolean; answering?: string; queued: number; then?: readonly string[] };
      if (!busy) return t("bus.idle");
      const after = then === undefined || then.length === 0 ? "" : t("turn.then", { agents: then.join(", ") });
      const behind = queued === 0 ? "" : t("turn.queued", { count: queued });
      return [answering ?? "…", after, behind].filter(Boolean).join(", ");
    }
    case "agent:state":
      return [String(data["state"]), data["outdated"] === true ? t("state.outdated") : "", problem(data["error"])].filter(Boolean).join(", ");
    case "agent:log":
    case "do:send":
      return textOf(data["line"]);
    case "component:state":
      return `${String(data["state"])}, pid ${String(data["pid"])}`;
    case "config:changed":
      return data["valid"] === true
        ? t("settings.valid")
        : t("settings.bad", { count: (data["problems"] as readonly unknown[]).length });
    case "permission:requested": {
      const { toolCall, options } = data as { toolCall: Data; options: readonly Data[] };
      return `${String(toolCall["kind"])} “${String(toolCall["title"])}”: ${options.map(({ kind }) => String(kind)).join(", ")}`;
    }
    case "permission:resolved":
      return `${String(data["optionId"] ?? t("tool.cancelled"))} · ${String(data["by"])}`;
    case "usage:changed": {
      const { used, size } = data["usage"] as { used: number; size: number };
      return size > 0 ? `${used} / ${size}` : `${used}`;
    }
    case "cmd:Send":
      return textOf(data["text"]);
    case "cmd:result":
      return data["problem"] === undefined ? `ok ${plain(data["value"])}` : problem(data["problem"]);
    default:
      return rest(data);
  }
}

function message(data: Data): string {
  const parts = (data["parts"] as readonly Data[] | undefined) ?? [];
  const text = parts.map((part) => textOf(part["text"]) || `(${String(part["type"])})`).join(" ");
  const who = data["role"] === "user" ? t("message.you") : String(data["agent"] ?? data["role"]);
  const end = [data["stopReason"], data["code"], problem(data["error"])].filter(Boolean).join(", ");
  return `${who}: ${text}${end === "" ? "" : ` (${end})`}`;
}

/** What isn't said by the place already. */
function rest(data: Data): string {
  const known = new Set(["channel", "agent", "component"]);
  return Object.entries(data)
    .filter(([key, value]) => !known.has(key) && value !== null && value !== undefined)
    .map(([key, value]) => `${key}=${plain(value)}`)
    .join(" ");
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function problem(value: unknown): string {
  return value === undefined || value === null ? "" : String((value as Data)["message"]);
}

/** A text, or the beginning of one that travels by reference. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? String((value as Data)["head"] ?? "") : "";
}

function line(text: string): string {
  const one = text.slice(0, LONGEST * 4).replace(/\s+/g, " ").trim();
  return one.length > LONGEST ? `${one.slice(0, LONGEST - 1)}…` : one;
}
