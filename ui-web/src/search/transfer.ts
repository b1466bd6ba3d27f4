// Conversations out into a file, and a file in. Over HTTP, as a socket's frames are small.
import { signal } from "@preact/signals";
import type { Imported, Problem } from "../bus/schema.gen";
import { language } from "../i18n/translate";
import { token } from "../shell/app";

export type Format = "markdown" | "jsonl";
export type Outcome =
  | { of: "running"; what: "export" | "import" }
  | { of: "exported" }
  | { of: "imported"; value: Imported }
  | { of: "failed"; problem: Problem };

export const outcome = signal<Outcome | null>(null);

const AWAY: Problem = {
  id: "gateway-away",
  message: "Sidekicks doesn't answer at the moment. Nothing was changed; try again.",
  params: {},
  warning: false,
};

/** Save channels (all, where none is named) as a file called `name`. */
export async function save(format: Format, channels: readonly string[], name: string): Promise<void> {
  const query = new URLSearchParams({ format, language: language.peek() });
  for (const channel of channels) query.append("channel", channel);
  await during("export", async () => {
    const answer = await fetch(`/export?${query}`, { headers: bearer() });
    if (!answer.ok) return failure(answer);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = `${name}.${format === "jsonl" ? "jsonl" : "md"}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    return { of: "exported" };
  });
}

export async function bring(file: Blob): Promise<void> {
  await during("import", async () => {
    const answer = await fetch("/import", { method: "POST", headers: bearer(), body: file });
    if (!answer.ok) return failure(answer);
    return { of: "imported", value: (await answer.json()) as Imported };
  });
}

async function during(what: "export" | "import", work: () => Promise<Outcome>): Promise<void> {
  outcome.value = { of: "running", what };
  try {
    outcome.value = await work();
  } catch (error) {
    // That is how fetch says that nobody answered, or not to the end.
    if (!(error instanceof TypeError)) throw error;
    outcome.value = { of: "failed", problem: AWAY };
  }
}

async function failure(answer: Response): Promise<Outcome> {
  const json = answer.headers.get("content-type")?.startsWith("application/json") === true;
  if (json) return { of: "failed", problem: ((await answer.json()) as { problem: Problem }).problem };
  const message = (await answer.text()).trim();
  return { of: "failed", problem: { id: "refused", message, params: {}, warning: false } };
}

function bearer(): Record<string, string> {
  return { authorization: `Bearer ${token.peek() ?? ""}` };
}
