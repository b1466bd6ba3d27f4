// Lucide's drawings, picked one by one. An icon never stands alone: its button has the words.
import type { IconNode } from "lucide";
import { h, type JSX } from "preact";

export function Icon({ of, size = 16 }: { of: IconNode; size?: number }): JSX.Element {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {of.map(([tag, attributes], index) => h(tag, { key: index, ...attributes }))}
    </svg>
  );
}
