// One's own last messages, by ↑ in an empty field; ↓ comes back. Typing ends it.
import { headOf, wordsOf } from "../bus/text";
import { conversations } from "../shell/app";
import { draftOf } from "./drafts";

export class Recall {
  /** How many messages back one is; 0 is what is being written. */
  private back = 0;

  constructor(private readonly channel: string) {}

  reset(): void {
    this.back = 0;
  }

  /** The text that the key brings; `null` where it only moves the cursor. */
  next(event: KeyboardEvent, field: HTMLTextAreaElement | null): string | null {
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return null;
    const draft = draftOf(this.channel).peek();
    if (this.back === 0 && (draft !== "" || event.key === "ArrowDown")) return null;
    const caret = field?.selectionEnd ?? 0;
    const up = event.key === "ArrowUp";
    // Within a text of several lines the arrows move the cursor first.
    if (up ? draft.slice(0, caret).includes("\n") : draft.slice(caret).includes("\n")) return null;
    const own = this.own();
    const to = this.back + (up ? 1 : -1);
    if (to > own.length) return null;
    this.back = to;
    return to === 0 ? "" : (own[own.length - to] ?? "");
  }

  private own(): readonly string[] {
    const messages = conversations.peek()[this.channel]?.value.messages ?? [];
    return messages
      .filter(({ role, parts }) => {
        const [first] = parts;
        return role === "user" && first?.type === "text" && first.text === headOf(first.text);
      })
      .map(wordsOf);
  }
}
