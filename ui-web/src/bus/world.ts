// What the page knows, as one frozen value, and how answers to queries enter it. Nothing here
// knows of sockets, of time, or of the screen.
//
// A *slice* is what one query returns. It says up to which seq its owner had seen the log, so that
// an event is applied to it once, whether it came before or after the answer. A stale slice is
// still shown; nothing is folded into it until it has been asked for again.
import { merged, opened, type ConversationState } from "./conversation";
import type {
  AgentView,
  Channel,
  Component,
  ConversationView,
  CurrentConfig,
  Page,
  Permission,
  Problem,
  SlashCommand,
  WaitingFor,
} from "./schema.gen";

export interface Slice<T> {
  readonly asOf: number;
  readonly stale: boolean;
  readonly value: T;
}

export interface ConfigView {
  readonly path: string;
  /** How the file was found; only the query tells it. */
  readonly source: CurrentConfig["source"];
  readonly created: boolean;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly theme: "system" | "light" | "dark";
  readonly language: "system" | "en" | "fr";
  readonly historyProblem: string | null;
  /** Unknown until the configuration changes: the query doesn't tell it. */
  readonly maxRunningAgents: number | null;
}

export interface Turn {
  readonly busy: boolean;
  readonly queued: number;
  readonly answering: string | null;
  readonly then: readonly string[];
  readonly waitingFor: WaitingFor | null;
}

export interface LogLine {
  readonly line: string;
  readonly stream: "stderr" | "stdout";
}

/** A permission request that is over, and how. */
export interface Resolved {
  readonly permission: Permission;
  readonly by: string;
  readonly optionId: string | null;
  readonly delivered: boolean;
  readonly at: number;
}

export interface World {
  readonly epoch: number;
  readonly seq: number;
  readonly agents: Slice<readonly AgentView[]> | null;
  readonly channels: Slice<readonly Channel[]> | null;
  readonly config: Slice<ConfigView> | null;
  readonly components: Slice<readonly Component[]> | null;
  readonly permissions: Slice<readonly Permission[]> | null;
  readonly conversations: Readonly<Record<string, Slice<ConversationState>>>;
  readonly turns: Readonly<Record<string, Slice<Turn>>>;
  readonly logs: Readonly<Record<string, Slice<readonly LogLine[]>>>;
  readonly commands: Readonly<Record<string, Slice<readonly SlashCommand[]>>>;
  readonly resolved: readonly Resolved[];
}

export const NOTHING: World = {
  epoch: 0,
  seq: 0,
  agents: null,
  channels: null,
  config: null,
  components: null,
  permissions: null,
  conversations: {},
  turns: {},
  logs: {},
  commands: {},
  resolved: [],
};

export const IDLE: Turn = { busy: false, queued: 0, answering: null, then: [], waitingFor: null };

export type Snapshot =
  | { of: "agents"; value: readonly AgentView[] }
  | { of: "channels"; value: readonly Channel[] }
  | { of: "config"; value: CurrentConfig }
  | { of: "components"; value: readonly Component[] }
  | { of: "permissions"; value: readonly Permission[] }
  | { of: "conversation"; channel: string; value: ConversationView }
  | { of: "logs"; agent: string; value: readonly string[] }
  | { of: "commands"; agent: string; value: readonly SlashCommand[] };

export function fresh<T>(asOf: number, value: T): Slice<T> {
  return { asOf, stale: false, value };
}

/** The world with the answer to one query in it; `asOf` is the owner's place in the log. */
export function withSnapshot(world: World, snapshot: Snapshot, asOf: number): World {
  switch (snapshot.of) {
    case "agents":
      return { ...world, agents: fresh(asOf, snapshot.value) };
    case "channels":
      return { ...world, channels: fresh(asOf, snapshot.value) };
    case "components":
      return { ...world, components: fresh(asOf, snapshot.value) };
    case "permissions":
      return { ...world, permissions: fresh(asOf, snapshot.value) };
    case "config":
      return { ...world, config: fresh(asOf, configOf(snapshot.value, world.config?.value)) };
    case "logs": {
      const lines = snapshot.value.map((line): LogLine => ({ line, stream: "stderr" }));
      return { ...world, logs: { ...world.logs, [snapshot.agent]: fresh(asOf, lines) } };
    }
    case "commands": {
      const { agent, value } = snapshot;
      return { ...world, commands: { ...world.commands, [agent]: fresh(asOf, value) } };
    }
    case "conversation": {
      const { channel, value } = snapshot;
      const before = world.conversations[channel]?.value;
      const state = before === undefined ? opened(value) : merged(before, value);
      const next = {
        ...world,
        conversations: { ...world.conversations, [channel]: fresh(asOf, state) },
      };
      const turn = world.turns[channel];
      if (turn !== undefined && turn.asOf > asOf) return next;
      return { ...next, turns: { ...world.turns, [channel]: fresh(asOf, turnOf(value)) } };
    }
  }
}

/** The world with a page of older messages in front of a conversation. */
export function withOlder(world: World, channel: string, page: Page): World {
  const slice = world.conversations[channel];
  if (slice === undefined) return world;
  const messages = [...page.messages, ...slice.value.messages];
  const value = { ...slice.value, messages, more: page.more };
  return { ...world, conversations: { ...world.conversations, [channel]: { ...slice, value } } };
}

/** The world after a cut in the stream of events: all that is shown has to be asked for again. */
export function cut(world: World, epoch: number, seq: number): World {
  return {
    ...world,
    epoch,
    seq,
    agents: stale(world.agents),
    channels: stale(world.channels),
    config: stale(world.config),
    components: stale(world.components),
    permissions: stale(world.permissions),
    conversations: allStale(world.conversations),
    logs: allStale(world.logs),
    commands: allStale(world.commands),
    turns: {},
  };
}

function stale<T>(slice: Slice<T> | null): Slice<T> | null {
  return slice === null ? null : { ...slice, stale: true };
}

function allStale<T>(slices: Readonly<Record<string, Slice<T>>>): Record<string, Slice<T>> {
  return Object.fromEntries(
    Object.entries(slices).map(([key, slice]) => [key, { ...slice, stale: true }]),
  );
}

function configOf(current: CurrentConfig, before: ConfigView | undefined): ConfigView {
  return {
    path: current.path,
    source: current.source,
    created: current.created,
    problems: current.problems,
    warnings: current.warnings,
    theme: current.theme,
    language: current.language,
    historyProblem: current.historyProblem ?? null,
    maxRunningAgents: before?.maxRunningAgents ?? null,
  };
}

function turnOf(view: ConversationView): Turn {
  return {
    busy: view.busy,
    queued: view.queued,
    answering: view.answering ?? null,
    then: view.then,
    waitingFor: view.waitingFor ?? null,
  };
}
