// An agent's face: its emoji or image, or its first letter on a hue that its place in the list gives.
import type { JSX } from "preact";
import { agentsByName } from "../shell/app";
import { face } from "./faces";

const HUES = 8;

export function Avatar({ agent }: { agent: string }): JSX.Element {
  const known = agentsByName.value.get(agent);
  const { icon = "", title: name = agent, index = 0 } = known ?? {};
  const image = icon.includes("/") ? face(agent, icon) : null;
  const letter = [...name][0]?.toUpperCase() ?? "?";
  return (
    <span class={`avatar hue-${index % HUES}`} aria-hidden="true">
      {image === null ? isEmoji(icon) ? icon : letter : <img class="avatar-image" src={image} alt="" />}
    </span>
  );
}

function isEmoji(icon: string): boolean {
  return icon !== "" && !/[./\\]/.test(icon) && [...icon].length <= 8;
}
