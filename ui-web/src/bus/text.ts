// Texts that travel whole or by reference. Pure: nothing here fetches.
import type { BlobRef, Message, Part, Text } from "./schema.gen";

/** Bytes of `text` in UTF-8: a surrogate pair makes four, a lone surrogate three (as U+FFFD). */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
    } else {
      bytes += 2;
      const paired = unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(at + 1));
      if (paired) at++;
    }
  }
  return bytes;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

export function isBlob(text: Text): text is BlobRef {
  return typeof text !== "string";
}

/** What can be shown at once: the text, or the beginning of one that has to be fetched. */
export function headOf(text: Text): string {
  return isBlob(text) ? text.head : text;
}

/** The words of a message as its author wrote them: its text parts, in order. */
export function wordsOf(message: Message): string {
  return message.parts
    .filter((part) => part.type === "text")
    .map((part) => headOf(part.text))
    .join("\n\n");
}

/**
 * `now` as it was sent, with the text that was folded from deltas in place of a reference to it.
 * The byte length tells that nothing is missing; the revisions told so before.
 */
export function keepFolded(before: Message | undefined, now: Message): Message {
  if (before === undefined) return now;
  let kept = false;
  const parts = now.parts.map((part, index): Part => {
    if ((part.type !== "text" && part.type !== "thought") || !isBlob(part.text)) return part;
    const old = before.parts[index];
    if (old?.type !== part.type || isBlob(old.text)) return part;
    if (utf8Length(old.text) !== part.text.length) return part;
    kept = true;
    return { ...part, text: old.text };
  });
  return kept ? { ...now, parts } : now;
}
