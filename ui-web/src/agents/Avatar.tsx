// An agent's face: its emoji, or its first letter on a hue that its place in the list gives.
import type { JSX } from "preact";
import { agentsByName } from "../shell/app";

const HUES = 8;

export function Avatar({ agent }: { agent: string }): JSX.Element {
  const known = agentsByName.value.get(agent);
  const name = known?.title ?? agent;
  const letter = [...name][0]?.toUpperCase() ?? "?";
  const icon = known !== undefined && isEmoji(known.icon) ? known.icon : null;
  return (
    <span class={`avatar hue-${(known?.index ?? 0) % HUES}`} aria-hidden="true">
      {icon ?? letter}
    </span>
  );
}

/** An icon may also be the path of an image, which a page can't open. */
function isEmoji(icon: string): boolean {
  return icon !== "" && !/[./\\]/.test(icon) && [...icon].length <= 8;
}
