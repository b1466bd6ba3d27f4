// Texts too big to travel in an event, fetched when somebody looks and kept while they are few.
import { signal, type Signal } from "@preact/signals";
import { RefusedError } from "../bus/socket";
import { isBlob, utf8Length } from "../bus/text";
import type { BlobRef, Message, Problem } from "../bus/schema.gen";
import { store } from "../shell/app";

/** Bytes a query asks for. */
const PIECE = 1_000_000;
const KEPT = 24;

export interface Fetched {
  readonly text: string | null;
  readonly problem: Problem | null;
}

const cache = new Map<string, Signal<Fetched>>();

/** The first `limit` bytes of a text, as they come in. Asking again shares the answer. */
export function fetched(ref: BlobRef, limit: number = ref.length): Signal<Fetched> {
  const key = `${ref.sha256} ${limit}`;
  const there = cache.get(key);
  if (there !== undefined && there.value.problem === null) return there;
  const made = signal<Fetched>({ text: null, problem: null });
  cache.set(key, made);
  for (const old of [...cache.keys()].slice(0, -KEPT)) cache.delete(old);
  void read(ref, limit).then(
    (text) => (made.value = { text, problem: null }),
    (error: unknown) => {
      if (!(error instanceof RefusedError)) throw error;
      made.value = { text: null, problem: error.problem };
    },
  );
  return made;
}

async function read({ sha256, length }: BlobRef, limit: number): Promise<string> {
  const end = Math.min(limit, length);
  let text = "";
  for (let offset = 0; offset < end; ) {
    const piece = Math.min(PIECE, end - offset);
    const { value } = await store.query("Blob", { sha256, offset, limit: piece });
    // A piece is cut at a character, so it may be a little shorter than what was asked for.
    const bytes = utf8Length(String(value));
    if (bytes === 0) break;
    text += String(value);
    offset += bytes;
  }
  return text;
}

/** The words of a message as its author wrote them, all of them. */
export async function wholeWords(message: Message): Promise<string> {
  const texts = message.parts
    .filter((part) => part.type === "text")
    .map(({ text }) => (isBlob(text) ? read(text, text.length) : text));
  return (await Promise.all(texts)).join("\n\n");
}

/** Hand a text to the browser's downloads. */
export async function download(ref: BlobRef, name: string): Promise<void> {
  const text = await read(ref, ref.length);
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
