// The page's one store and what views read from it: selections that change only when they do.
import { computed, signal } from "@preact/signals";
import { Outbox } from "../bus/outbox";
import { RefusedError } from "../bus/socket";
import { Store } from "../bus/store";
import type { AgentView, Channel, Permission, Problem } from "../bus/schema.gen";
import { IDLE, type Resolved, type Turn } from "../bus/world";
import { go, route } from "./route";
import { takeToken } from "./token";

export const token = signal(takeToken(location, history, localStorage));

const scheme = location.protocol === "https:" ? "wss" : "ws";

export const store = new Store(`${scheme}://${location.host}/ws`, token.peek() ?? "");
export const outbox = new Outbox(store, localStorage);

export const agents = computed(() => store.world.value.agents?.value ?? []);
export const channels = computed(() => store.world.value.channels?.value ?? []);
export const components = computed(() => store.world.value.components?.value ?? []);
export const config = computed(() => store.world.value.config?.value ?? null);
export const permissions = computed(() => store.world.value.permissions?.value ?? NO_PERMISSIONS);
export const resolved = computed(() => store.world.value.resolved);
export const turns = computed(() => store.world.value.turns);
export const conversations = computed(() => store.world.value.conversations);

const NO_PERMISSIONS: readonly Permission[] = [];

/** Whether the answers are there, however empty. */
export const agentsKnown = computed(() => store.world.value.agents !== null);
export const channelsKnown = computed(() => store.world.value.channels !== null);
/** Until then what stands in the list may still move under a pointer. */
export const listKnown = computed(
  () => agentsKnown.value && channelsKnown.value && store.world.value.permissions !== null,
);
export const commands = computed(() => store.world.value.commands);
export const logs = computed(() => store.world.value.logs);

export const agentsByName = computed(
  () => new Map(agents.value.map((agent, index) => [agent.name, { ...agent, index }])),
);

export const current = computed(() =>
  route.value.at === "conversation" ? route.value.channel : null,
);

/** Which requests belong to a message, open and over, so that a row changes only with its own. */
export const asked = computed(() => grouped(permissions.value, (one) => one.messageId));
export const over = computed(() => grouped(resolved.value, (one) => one.permission.messageId));

export const NONE: readonly never[] = [];

function grouped<T extends Permission | Resolved>(
  all: readonly T[],
  key: (one: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return groups;
}

export function turnOf(channel: string): Turn {
  return turns.value[channel]?.value ?? IDLE;
}

export function titleOf(agent: string): string {
  return agentsByName.value.get(agent)?.title ?? agent;
}

export function nameOf(channel: Channel): string {
  return channel.direct === "" ? `# ${channel.name}` : titleOf(channel.direct);
}

/** The last refusal of something asked for by a click, by what was clicked. */
export const refusals = signal<Readonly<Record<string, Problem>>>({});
/** What was clicked and has no answer yet. */
export const pending = signal<ReadonlySet<string>>(new Set());

/** Give a command for a control named `key`: it is disabled meanwhile, and shows a refusal. */
export async function give(
  key: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  if (pending.value.has(key)) return undefined;
  const { [key]: _, ...others } = refusals.value;
  refusals.value = others;
  pending.value = new Set([...pending.value, key]);
  try {
    return (await store.command(name, args)).value;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    refusals.value = { ...refusals.value, [key]: error.problem };
    return undefined;
  } finally {
    pending.value = new Set([...pending.value].filter((one) => one !== key));
  }
}

/** Let a refusal go, whose control was closed meanwhile. */
export function forget(key: string): void {
  const { [key]: before, ...others } = refusals.peek();
  if (before !== undefined) refusals.value = others;
}

export function directOf(agent: string): Channel | undefined {
  return channels.value.find((channel) => channel.direct === agent);
}

/** Go to the direct conversation with an agent, which is made the first time. */
export async function openDirect(agent: AgentView["name"]): Promise<void> {
  const there = directOf(agent);
  if (there !== undefined) return go(there.id);
  const made = await give(`direct ${agent}`, "Direct", { agent });
  if (typeof made === "string") go(made);
}
