// The search under way: its form, kept for this tab, and what was found so far, in pages.
import { batch, computed, signal } from "@preact/signals";
import type { Hit, Hits, Problem } from "../bus/schema.gen";
import { RefusedError } from "../bus/socket";
import { store } from "../shell/app";
import { argsOf, EMPTY, isEmpty, type Form } from "./asked";

const KEY = "sk.search";
const ASK_AFTER = 250;

export const form = signal<Form>({ ...EMPTY, ...(JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Partial<Form>) });
export const hits = signal<readonly Hit[] | null>(null);
export const next = signal<string | null>(null);
export const problem = signal<Problem | null>(null);
export const looking = signal(false);
export const filtered = computed(() => !isEmpty({ ...form.value, text: "" }));

let ticket = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

export function change(part: Partial<Form>): void {
  form.value = { ...form.value, ...part };
  sessionStorage.setItem(KEY, JSON.stringify(form.value));
  find(ASK_AFTER);
}

/** Ask anew. What was found before stays until the answer is there. */
export function find(after = 0): void {
  clearTimeout(timer);
  const mine = ++ticket;
  if (isEmpty(form.peek())) {
    batch(() => {
      hits.value = null;
      next.value = null;
      problem.value = null;
      looking.value = false;
    });
    return;
  }
  looking.value = true;
  timer = setTimeout(() => void ask(mine, null), after);
}

export function more(): void {
  const after = next.peek();
  if (after === null || looking.peek()) return;
  looking.value = true;
  void ask(++ticket, after);
}

async function ask(mine: number, after: string | null): Promise<void> {
  try {
    const args = after === null ? argsOf(form.peek()) : { ...argsOf(form.peek()), after };
    const found = (await store.query("Search", args)).value as Hits;
    if (mine !== ticket) return;
    batch(() => {
      hits.value = after === null ? found.hits : [...(hits.peek() ?? []), ...found.hits];
      next.value = found.next ?? null;
      problem.value = null;
      looking.value = false;
    });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (mine !== ticket) return;
    batch(() => {
      problem.value = error.problem;
      looking.value = false;
    });
  }
}
