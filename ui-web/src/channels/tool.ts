// What a tool call says about itself, in words. Pure but for the language.
import type { ToolCall } from "../bus/schema.gen";
import { headOf } from "../bus/text";
import { isKey, t } from "../i18n/translate";

export function kindName(kind: string): string {
  const key = `tool.kind.${kind}`;
  return isKey(key) ? t(key) : t("tool.kind.other");
}

export function titleOfTool(tool: ToolCall): string {
  return tool.title === "" ? kindName(tool.kind) : tool.title;
}

export function statusName(tool: ToolCall, waits: boolean): string {
  if (tool.ended !== undefined) return t(`tool.${tool.ended}`);
  if (waits) return t("tool.waiting");
  const key = `tool.${tool.status}`;
  return isKey(key) ? t(key) : tool.status;
}

/** The command line of a tool call that runs one, where its input names it. */
export function commandOf(tool: ToolCall): string | null {
  const input = inputOf(tool);
  if (typeof input !== "object" || input === null) return null;
  const command = (input as Record<string, unknown>)["command"];
  if (typeof command === "string") return command;
  if (Array.isArray(command)) return command.map(String).join(" ");
  return null;
}

/** The input as a value; `undefined` where it is empty, not JSON, or not here in full. */
function inputOf(tool: ToolCall): unknown {
  if (typeof tool.input !== "string" || tool.input === "") return undefined;
  try {
    return JSON.parse(tool.input);
  } catch {
    return undefined; // It is what the agent sent; it is shown as it is.
  }
}

/** The input to be read by people; empty where it says no more than the command line does. */
export function prettyInput(tool: ToolCall): string {
  const input = inputOf(tool);
  if (input === undefined) return headOf(tool.input);
  if (commandOf(tool) !== null && Object.keys(input as object).length === 1) return "";
  return JSON.stringify(input, null, 2);
}

export function placeName({ path, line }: { path: string; line?: number }): string {
  return line === undefined ? path : `${path}:${line}`;
}
