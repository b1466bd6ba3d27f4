// What an event changes in the world: `fold(world, event)`. Pure, and idempotent: an event that a
// slice has seen already, or that comes again after a resume, changes nothing.
import { grown, updated, type ConversationState } from "./conversation";
import type { PageEvent } from "./protocol";
import type { AgentView, ConfigChanged, Permission, Problem } from "./schema.gen";
import {
  fresh,
  type ConfigView,
  type LogLine,
  type Slice,
  type Turn,
  type World,
} from "./world";

const LOG_LINES = 500;
const RESOLVED = 100;

export function fold(world: World, event: PageEvent): World {
  const next = applied(world, event);
  return event.seq > next.seq ? { ...next, seq: event.seq } : next;
}

function applied(world: World, event: PageEvent): World {
  const { seq, ts } = event;
  switch (event.type) {
    case "config:changed": {
      const config = change(world.config, seq, (view) => configured(view, event.data));
      const agents = change(world.agents, seq, (views) => listed(views, event.data));
      return { ...world, config, agents };
    }
    case "agent:state": {
      const { agent, state, error, outdated, stopping } = event.data;
      const agents = change(world.agents, seq, (views) =>
        views.map((view) =>
          view.name === agent ? { ...view, state, error, outdated, stopping } : view,
        ),
      );
      return { ...world, agents };
    }
    case "agent:log": {
      const { agent, line, stream } = event.data;
      const logs = changeOne(world.logs, agent, seq, (lines) =>
        [...lines, { line, stream } satisfies LogLine].slice(-LOG_LINES),
      );
      return logs === world.logs ? world : { ...world, logs };
    }
    case "channels:changed": {
      const { channels: all } = event.data;
      const channels = change(world.channels, seq, () => all);
      const ids = new Set(all.map((channel) => channel.id));
      return channels === world.channels
        ? world
        : { ...world, channels, conversations: only(world.conversations, ids) };
    }
    case "message:updated":
      return conversing(world, event.data.channel, seq, (state) =>
        updated(state, event.data.message, ts),
      );
    case "message:delta":
      return conversing(world, event.data.channel, seq, (state) => grown(state, event.data, ts));
    case "turn:changed": {
      const { channel, busy, queued, answering, then, waitingFor } = event.data;
      const before = world.turns[channel];
      if (before !== undefined && seq <= before.asOf) return world;
      const turn: Turn = {
        busy,
        queued,
        answering: answering ?? null,
        then,
        waitingFor: waitingFor ?? null,
      };
      return { ...world, turns: { ...world.turns, [channel]: fresh(seq, turn) } };
    }
    case "permission:requested": {
      const request: Permission = event.data;
      const permissions = change(world.permissions, seq, (all) => [...all, request]);
      return { ...world, permissions };
    }
    case "permission:resolved": {
      const { id, by, optionId, delivered } = event.data;
      const permission = world.permissions?.value.find((one) => one.id === id);
      const permissions = change(world.permissions, seq, (all) =>
        all.filter((one) => one.id !== id),
      );
      if (permission === undefined || permissions === world.permissions) {
        return { ...world, permissions };
      }
      const over = { permission, by, optionId: optionId ?? null, delivered, at: ts };
      return { ...world, permissions, resolved: [...world.resolved, over].slice(-RESOLVED) };
    }
    case "usage:changed": {
      const { channel, agent, usage } = event.data;
      return conversing(world, channel, seq, (state) => ({
        ...state,
        usage: { ...state.usage, [agent]: usage },
      }));
    }
    case "messages:imported": {
      const { channel } = event.data;
      const slice = world.conversations[channel];
      if (slice === undefined || seq <= slice.asOf) return world;
      // Where they belong only the history knows: it is asked again.
      return {
        ...world,
        conversations: { ...world.conversations, [channel]: { ...slice, stale: true } },
      };
    }
    case "component:state": {
      const { component } = event.data;
      const components = change(world.components, seq, (all) =>
        all.some((one) => one.component === component)
          ? all.map((one) => (one.component === component ? event.data : one))
          : [...all, event.data],
      );
      return { ...world, components };
    }
    case "commands:changed": {
      const { agent, commands: all } = event.data;
      const commands = changeOne(world.commands, agent, seq, () => all);
      return commands === world.commands ? world : { ...world, commands };
    }
    case "cmd:result":
      return world; // Nothing on the screen depends on it.
    default:
      return unknown(event, world);
  }
}

/** Newer services may say what this page hasn't learnt; a kind it should know doesn't compile. */
function unknown(_event: never, world: World): World {
  return world;
}

function change<T>(slice: Slice<T> | null, seq: number, next: (value: T) => T): Slice<T> | null {
  if (slice === null || slice.stale || seq <= slice.asOf) return slice;
  return fresh(seq, next(slice.value));
}

function changeOne<T>(
  slices: Readonly<Record<string, Slice<T>>>,
  key: string,
  seq: number,
  next: (value: T) => T,
): Readonly<Record<string, Slice<T>>> {
  const before = slices[key] ?? null;
  const after = change(before, seq, next);
  return after === before || after === null ? slices : { ...slices, [key]: after };
}

/** `next` returns `null` where a delta is missing: then the conversation is asked for again. */
function conversing(
  world: World,
  channel: string,
  seq: number,
  next: (state: ConversationState) => ConversationState | null,
): World {
  const slice = world.conversations[channel];
  if (slice === undefined || slice.stale || seq <= slice.asOf) return world;
  const value = next(slice.value);
  const after = value === null ? { ...slice, stale: true } : fresh(seq, value);
  return { ...world, conversations: { ...world.conversations, [channel]: after } };
}

function only<T>(record: Readonly<Record<string, T>>, keys: Set<string>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => keys.has(key)));
}

type Configured = Omit<ConfigChanged, "type">;

function configured(view: ConfigView, { path, problems, config }: Configured): ConfigView {
  const warns = (problem: Problem): boolean => problem.warning;
  return {
    ...view,
    path,
    problems: problems.filter((problem) => !warns(problem)),
    warnings: problems.filter(warns),
    theme: config.theme,
    language: config.language,
    maxRunningAgents: config.limits.maxRunningAgents,
  };
}

/** The agents of the configuration in force, in its order; a new one has never run. */
function listed(views: readonly AgentView[], { config }: Configured): AgentView[] {
  const known = new Map(views.map((view) => [view.name, view]));
  return config.agents.map(({ name, title, icon, description }) => ({
    ...(known.get(name) ?? NEVER_RUN),
    name,
    title,
    icon,
    description,
  }));
}

const NEVER_RUN = { state: "stopped", outdated: false, stopping: false } as const;
