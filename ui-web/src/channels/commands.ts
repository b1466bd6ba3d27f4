// The slash commands that can be offered in a conversation, and asking for those never heard of.
import type { Problem } from "../bus/schema.gen";
import { agents, channels, commands, give, pending, refusals, store, titleOf } from "../shell/app";
import { suggestions, type Around, type Suggestions } from "./suggest";

/** Channels that were prepared in this life of the page, with the members they had then. */
const prepared = new Set<string>();

function keyOf(channel: string): string {
  return `prepare ${channel}`;
}

function membersOf(channel: string): readonly string[] {
  return channels.value.find(({ id }) => id === channel)?.members ?? [];
}

export function offersFor(channel: string, text: string, caret: number): Suggestions | null {
  if (caret < 0 || !/[@/]/.test(text)) return null;
  return suggestions(text, caret, around(channel));
}

function around(channel: string): Around {
  const members = membersOf(channel);
  const direct = channels.value.find(({ id }) => id === channel)?.direct ?? "";
  return {
    direct,
    agents: agents.value.map(({ name, title }) => ({ name, title, member: members.includes(name) })),
    commands: Object.fromEntries(
      Object.entries(commands.value).map(([agent, slice]) => [agent, slice.value]),
    ),
  };
}

/** Learn the agents' commands; the members who never said theirs are asked, once. */
export function prepare(channel: string): void {
  for (const { name } of agents.value) store.openCommands(name);
  const members = membersOf(channel);
  const token = `${channel} ${members.join(" ")}`;
  if (members.length === 0 || prepared.has(token)) return;
  prepared.add(token);
  void give(keyOf(channel), "Prepare", { channel }).then(() => {
    if (refusals.peek()[keyOf(channel)] !== undefined) prepared.delete(token);
  });
}

/** Whose commands are being asked for at the moment, by title. */
export function asking(channel: string): readonly string[] {
  if (!pending.value.has(keyOf(channel))) return [];
  return membersOf(channel)
    .filter((name) => commands.value[name]?.value.length === 0)
    .map(titleOf);
}

export function refusedCommands(channel: string): Problem | undefined {
  return refusals.value[keyOf(channel)];
}
