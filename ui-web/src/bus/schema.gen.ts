// Generated from bus/sk_bus by `make gen`; don't edit.

export type ChannelId = string;

export type MessageId = string;

export type PermissionId = string;

export type CommandId = string;

export type SessionId = string;

export type AgentName = string;

export type ComponentName = string;

/** Something that a person should know, worded in English and ready to be worded otherwise. `id` names the kind (`no-such-channel`), `params` fills the sentence in any language. `line` and `column` (from 1) stand on problems of the configuration file only. */
export interface Problem {
  id: string;
  message: string;
  params: Readonly<Record<string, unknown>>;
  line?: number;
  column?: number;
  warning: boolean;
}

/** A string too big for an event: the whole is a file named by its SHA-256. `length` counts UTF-8 bytes of the whole, `head` is its beginning. */
export interface BlobRef {
  sha256: string;
  length: number;
  head: string;
}

export type AgentState = "stopped" | "starting" | "ready" | "busy" | "error";

/** One agent as a person sees it. `memory`: bytes (PSS) of its process group. */
export interface AgentView {
  name: AgentName;
  title: string;
  icon: string;
  description: string;
  state: AgentState;
  error?: Problem;
  outdated: boolean;
  stopping: boolean;
  memory?: number;
}

export interface SlashCommand {
  name: string;
  description: string;
  hint: string;
}

/** A request that fits `kind` and the globs is answered with `answer` without asking. */
export interface PermissionRule {
  kind: string;
  answer: string;
  path?: string;
  command?: string;
}

/** What may be said aloud of a configured agent; the rest is behind `digest`. `digest` is the SHA-256 of the whole definition, and the name of its file in the run directory. `cwd` is absolute. `startTimeout` is in milliseconds. `mcpServers` counts the MCP servers, `mcpTransports` says of each whether it is `stdio`, `http` or `sse`. */
export interface AgentConfig {
  name: AgentName;
  title: string;
  digest: string;
  cwd: string;
  icon: string;
  description: string;
  startTimeout: number;
  permissions: readonly PermissionRule[];
  mcpServers: number;
  mcpTransports: readonly string[];
}

/** `stopIdleAgentsAfter` is in milliseconds; 0 means never. */
export interface Limits {
  maxRunningAgents: number;
  stopIdleAgentsAfter: number;
}

/** The configuration in force, without anything secret. */
export interface PublicConfig {
  theme: "system" | "light" | "dark";
  language: "system" | "en" | "fr";
  limits: Limits;
  agents: readonly AgentConfig[];
  keepUnfinished: boolean;
}

/** A conversation; `direct` names the only agent of a direct one, else it is empty. */
export interface Channel {
  id: ChannelId;
  name: string;
  description: string;
  direct: AgentName | "";
  members: readonly AgentName[];
}

export interface Location {
  path: string;
  line?: number;
}

export interface Diff {
  path: string;
  newText: Text;
  oldText?: Text;
  newFile: boolean;
}

/** One tool call. `kind` and `status` are open sets: an unknown one is kept as it came. */
export interface ToolCall {
  id: string;
  title: string;
  kind: string;
  status: string;
  input: Text;
  output: Text;
  locations: readonly Location[];
  diffs: readonly Diff[];
  ended?: "cancelled" | "unreported";
}

export interface PlanStep {
  content: string;
  priority: string;
  status: string;
}

/** Markdown that the author wrote. */
export interface TextPart {
  type: "text";
  text: Text;
}

export interface ThoughtPart {
  type: "thought";
  text: Text;
}

export interface ToolPart {
  type: "tool";
  tool: ToolCall;
}

export interface PlanPart {
  type: "plan";
  steps: readonly PlanStep[];
}

/** `data` is base64, as in ACP. */
export interface ImagePart {
  type: "image";
  mimeType: string;
  data: Text;
  uri?: string;
}

export interface ResourcePart {
  type: "resource";
  uri: string;
  name: string;
  mimeType?: string;
  text?: Text;
}

/** A block of a kind that we don't know, kept as it came. */
export interface OtherPart {
  type: "other";
  raw: Readonly<Record<string, unknown>>;
}

export type Role = "user" | "agent" | "system";

/** One message. `rev` counts the deltas that are in `parts` already. `code` stands on system messages only; `answers` is the id of the user's message that this one answers, `during` of the one that was being answered when a system message came up that answers none: so it is shown beside those answers, in the order of ids. */
export interface Message {
  id: MessageId;
  channel: ChannelId;
  createdAt: number;
  role: Role;
  agent: AgentName | "";
  answers?: MessageId;
  during?: MessageId;
  parts: readonly Part[];
  done: boolean;
  queued: boolean;
  stopReason?: string;
  error?: Problem;
  code?: string;
  rev: number;
}

/** Tokens in an agent's context window; `size` is 0 when unknown. */
export interface Usage {
  used: number;
  size: number;
}

/** An option as the agent offered it; `kind` is a hint from an open set. */
export interface PermissionOption {
  optionId: string;
  name: string;
  kind: string;
}

/** A request that waits for a person's answer. */
export interface Permission {
  id: PermissionId;
  channel: ChannelId;
  agent: AgentName;
  messageId: MessageId;
  toolCall: ToolCall;
  options: readonly PermissionOption[];
  rejections: number;
}

/** Whose turn keeps this channel waiting: `agent` is answering in `channel`. */
export interface WaitingFor {
  agent: AgentName;
  channel: ChannelId;
}

/** A place in the log. `seq` is the last one seen; 0 means before everything. */
export interface Cursor {
  epoch: number;
  seq: number;
}

/** One supervised process of Sidekicks. `since` in ms; `pid` 0 while it is down. */
export interface Component {
  component: ComponentName;
  state: "running" | "starting" | "down" | "degraded" | "hung";
  pid: number;
  restarts: number;
  since: number;
}

export interface CurrentConfig {
  path: string;
  source: "flag" | "env" | "remembered" | "default";
  created: boolean;
  valid: boolean;
  problems: readonly Problem[];
  warnings: readonly Problem[];
  theme: "system" | "light" | "dark";
  language: "system" | "en" | "fr";
  historyProblem?: string;
}

/** What is to be said of a text; `saved` after `Save` only. */
export interface Checked {
  problems: readonly Problem[];
  warnings: readonly Problem[];
  saved: boolean;
}

/** The file's text; `digest` goes back with `Save`. */
export interface ContentView {
  text: string;
  digest: string;
}

/** An image: `data` in base64. */
export interface IconView {
  mimeType: string;
  data: string;
}

/** `hidden`: its name begins with a dot. */
export interface FolderEntry {
  name: string;
  path: string;
  folder: boolean;
  hidden: boolean;
}

/** A folder's subfolders and YAML files: folders first, hidden ones last of their kind. `parent` is absent where one can't go further up. `more`: there are others than these. */
export interface FolderView {
  path: string;
  parent?: string;
  entries: readonly FolderEntry[];
  more: boolean;
}

/** A channel with its last 100 messages, and all that is under way in it. `usage` is by agent, `answering` the agent whose turn it is, `then` those after it. */
export interface ConversationView {
  channel: Channel;
  messages: readonly Message[];
  more: boolean;
  busy: boolean;
  queued: number;
  answering?: AgentName;
  then: readonly AgentName[];
  waitingFor?: WaitingFor;
  usage: Readonly<Record<string, Usage>>;
  permissions: readonly Permission[];
}

export interface Page {
  messages: readonly Message[];
  more: boolean;
}

/** A place in a text, in Unicode code points. */
export interface SpanView {
  start: number;
  length: number;
}

/** A message that matches: where, and the words around the place. `part` is the index of the message's part, `kind` that part's type, `at` where in its text the first match begins (a tool call's text is its title, input, output, paths and diffs, each on lines of its own). `spans` are the matches within `excerpt`, one line of that text. */
export interface Hit {
  channel: ChannelId;
  messageId: MessageId;
  createdAt: number;
  role: Role;
  agent: AgentName | "";
  part: number;
  kind: string;
  at: number;
  excerpt: string;
  spans: readonly SpanView[];
}

/** A page of hits, newest first; `next` goes back as `after` for the next one. `complete` is false while the index is being made (after an upgrade or an import): a later search may find more. */
export interface Hits {
  hits: readonly Hit[];
  next?: string;
  complete: boolean;
}

/** `more` older ones, `later` newer ones than these. */
export interface AroundView {
  messages: readonly Message[];
  more: boolean;
  later: boolean;
}

/** A piece of an export; `next` goes back as `after` until it is absent. */
export interface ExportPage {
  text: string;
  next?: string;
}

/** What an import brought; `kept` counts the messages that were here already. */
export interface Imported {
  channels: number;
  messages: number;
  kept: number;
}

/** Where the history lies, and how much it is; `size` in bytes on disk. */
export interface HistoryView {
  path: string;
  size: number;
  channels: number;
  messages: number;
  problem?: Problem;
}

/** One who would answer, and what that takes: joining, starting, waiting, another's stop. */
export interface Answering {
  agent: AgentName;
  joins: boolean;
  starts: boolean;
  waitsFor?: WaitingFor;
  stops?: AgentName;
  problem?: Problem;
}

/** Where a mention stands, in UTF-16 units; without `agent` it is a name that nobody has. */
export interface Mentioned {
  start: number;
  length: number;
  agent?: AgentName;
}

/** Who would answer, in order, or the `problem` that nobody does. `command` is what they would be sent, where the text is a command. `mentions` are 100 at most, `unknown` the names among them that nobody has. */
export interface PreviewView {
  answering: readonly Answering[];
  unknown: readonly string[];
  problem?: Problem;
  command?: string;
  mentions: readonly Mentioned[];
}

export type Text = string | BlobRef;

export type Part =
  | TextPart
  | ThoughtPart
  | ToolPart
  | PlanPart
  | ImagePart
  | ResourcePart
  | OtherPart;

/** The configuration file was saved and read again, valid or not. */
export interface ConfigChanged {
  type: "config:changed";
  path: string;
  valid: boolean;
  problems: readonly Problem[];
  config: PublicConfig;
}

/** An agent's state or definition changed. */
export interface AgentStateChanged {
  type: "agent:state";
  agent: AgentName;
  state: AgentState;
  error?: Problem;
  outdated: boolean;
  stopping: boolean;
}

/** A line on an agent's stderr, or one on its stdout that isn't ACP. */
export interface AgentLog {
  type: "agent:log";
  agent: AgentName;
  line: string;
  stream: "stderr" | "stdout";
}

/** A channel was made, renamed or deleted, or its members changed; `channels` are all. */
export interface ChannelsChanged {
  type: "channels:changed";
  channels: readonly Channel[];
}

/** A message was added, queued, edited, dropped, begun, finished or amended. */
export interface MessageUpdated {
  type: "message:updated";
  channel: ChannelId;
  message: Message;
}

/** A message grew: `text` is appended to part `index`, or `part` replaces it. `index` equal to the number of parts makes a new part of `kind`. `rev` is the message's revision after this delta, one more than before it. */
export interface MessageDelta {
  type: "message:delta";
  channel: ChannelId;
  messageId: MessageId;
  index: number;
  kind: string;
  rev: number;
  text?: string;
  part?: Part;
}

/** A channel began or stopped answering, the turn went on, or the queue changed length. `answering` is the agent whose turn it is, `then` those after it, `queued` how many messages wait. */
export interface TurnChanged {
  type: "turn:changed";
  channel: ChannelId;
  busy: boolean;
  queued: number;
  answering?: AgentName;
  then: readonly AgentName[];
  answers?: MessageId;
  waitingFor?: WaitingFor;
}

/** An agent asks to use a tool; `rejections` counts the refusals given in this turn. */
export interface PermissionRequested {
  type: "permission:requested";
  id: PermissionId;
  channel: ChannelId;
  agent: AgentName;
  messageId: MessageId;
  toolCall: ToolCall;
  options: readonly PermissionOption[];
  rejections: number;
}

/** It was answered, or cancelled: then `optionId` is absent. `by`: the client that answered (`page`, `cli`, …), `rule`, `stop`, `agent`. `delivered` is false when the agent ended before the answer could reach it. */
export interface PermissionResolved {
  type: "permission:resolved";
  id: PermissionId;
  channel: ChannelId;
  by: string;
  optionId?: string;
  delivered: boolean;
}

/** An agent said how full its context window is. */
export interface UsageChanged {
  type: "usage:changed";
  channel: ChannelId;
  agent: AgentName;
  usage: Usage;
}

/** An import put so many messages among those of a channel: ask for its conversation anew. */
export interface MessagesImported {
  type: "messages:imported";
  channel: ChannelId;
  count: number;
}

/** An agent announced its slash commands. */
export interface CommandsChanged {
  type: "commands:changed";
  agent: AgentName;
  commands: readonly SlashCommand[];
}

/** A component of Sidekicks came up, went down, or was restarted. */
export interface ComponentStateChanged {
  type: "component:state";
  component: ComponentName;
  state: "running" | "starting" | "down" | "degraded" | "hung";
  pid: number;
  restarts: number;
  since: number;
}

/** How a command ended: the last event of the batch that holds its effects. */
export interface CommandResult {
  type: "cmd:result";
  id: CommandId;
  ok: boolean;
  value?: unknown;
  problem?: Problem;
}

/** An ACP session of (channel, agent), and the last message that the agent has seen there. */
export interface StoredSession {
  channel: ChannelId;
  agent: AgentName;
  sessionId?: SessionId;
  seen?: MessageId;
  since?: MessageId;
  prompted: readonly MessageId[];
}

export interface StoredCommands {
  agent: AgentName;
  commands: readonly SlashCommand[];
}

/** A message as those are told of it who haven't seen it; without `author` it is a person's. `text` is its beginning (`sk_bus.excerpt`). */
export interface PastMessage {
  id: MessageId;
  text: string;
  author: AgentName | "";
}

/** Start this life of an agent. `digest` names its definition's file in the run directory. */
export interface DoStart {
  type: "do:start";
  agent: AgentName;
  inc: number;
  digest: string;
}

/** Write one line to an agent's stdin: the `n`-th of this life, from 1, without a hole. `line` has no line end. `{"$def": "<sha256>#/pointer"}` in it is filled in from the definition file, `{"$blob": "<sha256>"}` by the text of the blob, while it is written. */
export interface DoSend {
  type: "do:send";
  agent: AgentName;
  inc: number;
  n: number;
  line: string;
}

/** Tell the holder whether a turn is open: its patience depends on it. */
export interface DoTurn {
  type: "do:turn";
  agent: AgentName;
  inc: number;
  open: boolean;
}

/** Run the stop ladder: stdin closed, 5 s, SIGTERM, 3 s, SIGKILL. */
export interface DoStop {
  type: "do:stop";
  agent: AgentName;
  inc: number;
}

/** The agent's process runs. */
export interface FactUp {
  type: "fact:up";
  agent: AgentName;
  inc: number;
  pid: number;
}

/** A line of JSON that the agent wrote, without its line end. `end` is the offset in its stdout after the line. A line with strings over the bound has them replaced by `{"$blob": {sha256, length, head}}`; `raw` then is the whole line. */
export interface FactFrame {
  type: "fact:frame";
  agent: AgentName;
  inc: number;
  end: number;
  line: string;
  raw?: BlobRef;
}

/** This life is over, after its last frame; nothing of its process group is left. Exactly one of `code`, `signal` and `problem` is set (`problem`: it couldn't start, or its holder was lost). `taken` is the last line that its stdin took, `stderr` its last lines, `asked` whether a stop had been ordered. */
export interface FactExited {
  type: "fact:exited";
  agent: AgentName;
  inc: number;
  taken: number;
  asked: boolean;
  code?: number;
  signal?: number;
  problem?: Problem;
  stderr: readonly string[];
}

/** A deadline of the router's state has passed. */
export interface TimerFired {
  type: "timer:fired";
  id: string;
}

/** Before `history:restored`, for each channel: the last messages that were said in it. */
export interface HistoryPast {
  type: "history:past";
  channel: ChannelId;
  messages: readonly PastMessage[];
}

/** Opens a new epoch: what the history kept replaces the router's state. */
export interface HistoryRestored {
  type: "history:restored";
  channels: readonly Channel[];
  sessions: readonly StoredSession[];
  commands: readonly StoredCommands[];
}

/** An import brought channels that the router doesn't know; their messages are stored already. Names are free at the time: a taken one came with a number behind it. */
export interface HistoryImported {
  type: "history:imported";
  channels: readonly Channel[];
  past: readonly HistoryPast[];
}

/** What `cmd:Open` asked for can be read as a configuration file, or `problem` says why not. `path` is absolute; `already`: it is the file in force. Said by the config watcher, once for each command. */
export interface FileOpenable {
  type: "file:openable";
  command: CommandId;
  path: string;
  already: boolean;
  problem?: Problem;
}

/** Everything has ended in order; `next` is the file to go on with. The router's last word in an epoch. The config watcher then moves the pointer. */
export interface FileClosed {
  type: "file:closed";
  next: string;
}

/** A session was opened, lost (`sessionId` absent), or its agent has seen more. `since`, where an earlier session was lost: the last message that was said by then. The agent is to be told of it and of those before it, unless it has `seen` a message in this session. `prompted`: messages after `seen` that it was sent to answer all the same. */
export interface SessionChanged {
  type: "state:session";
  channel: ChannelId;
  agent: AgentName;
  inc: number;
  sessionId?: SessionId;
  seen?: MessageId;
  since?: MessageId;
  prompted: readonly MessageId[];
}

/** A record of the router's own memory, whole; without `value` it is forgotten. `slice` and `key` say where it stands. Nobody but the router reads it. */
export interface MemoryChanged {
  type: "state:memory";
  slice: string;
  key: string;
  value?: unknown;
}

/** Start an agent; the result comes when it is ready, or says why it isn't. */
export interface Start {
  id: CommandId;
  by?: string;
  type: "cmd:Start";
  agent: AgentName;
}

/** Stop an agent; the result comes when nothing of it is left. */
export interface Stop {
  id: CommandId;
  by?: string;
  type: "cmd:Stop";
  agent: AgentName;
}

export interface Restart {
  id: CommandId;
  by?: string;
  type: "cmd:Restart";
  agent: AgentName;
}

/** Make a channel; the result's value is its id. */
export interface Create {
  id: CommandId;
  by?: string;
  type: "cmd:Create";
  name: string;
  description?: string;
}

export interface Rename {
  id: CommandId;
  by?: string;
  type: "cmd:Rename";
  channel: ChannelId;
  name: string;
  description?: string;
}

/** Remove a channel and all its history; the result comes when its answer has ended. */
export interface Delete {
  id: CommandId;
  by?: string;
  type: "cmd:Delete";
  channel: ChannelId;
}

/** Let an agent join a channel; that one who is a member already does is no error. */
export interface AddMember {
  id: CommandId;
  by?: string;
  type: "cmd:AddMember";
  channel: ChannelId;
  agent: AgentName;
}

/** Let a member leave; an answer that it is giving there ends as cancelled. */
export interface RemoveMember {
  id: CommandId;
  by?: string;
  type: "cmd:RemoveMember";
  channel: ChannelId;
  agent: AgentName;
}

/** The direct conversation with an agent, made the first time; the value is its id. */
export interface Direct {
  id: CommandId;
  by?: string;
  type: "cmd:Direct";
  agent: AgentName;
}

/** Add the user's message; the value is its id. Agents that answer start as needed. */
export interface Send {
  id: CommandId;
  by?: string;
  type: "cmd:Send";
  channel: ChannelId;
  text: Text;
}

/** Stop the answer under way, the agents still to answer, and the queued messages. */
export interface Cancel {
  id: CommandId;
  by?: string;
  type: "cmd:Cancel";
  channel: ChannelId;
}

export interface AnswerPermission {
  id: CommandId;
  by?: string;
  type: "cmd:AnswerPermission";
  permission: PermissionId;
  optionId: string;
}

/** Let a message that still waits say something else; its id and its place stay. */
export interface EditQueued {
  id: CommandId;
  by?: string;
  type: "cmd:EditQueued";
  channel: ChannelId;
  messageId: MessageId;
  text: Text;
}

/** Take back a message that still waits; its `error` then is `taken-back`. */
export interface RemoveQueued {
  id: CommandId;
  by?: string;
  type: "cmd:RemoveQueued";
  channel: ChannelId;
  messageId: MessageId;
}

/** Start the members that never announced their commands and open their sessions. The value names those who were `opened`, `skipped` (they answer elsewhere, or there is no room) and `failed`. */
export interface Prepare {
  id: CommandId;
  by?: string;
  type: "cmd:Prepare";
  channel: ChannelId;
}

/** Use another configuration file, with its own history; the result means accepted. */
export interface Open {
  id: CommandId;
  by?: string;
  type: "cmd:Open";
  path: string;
}

/** The orderly close: answers end, the queue is dropped, agents stop; then the result. */
export interface Shutdown {
  id: CommandId;
  by?: string;
  type: "cmd:shutdown";
}

export type PublicEvent =
  | ConfigChanged
  | AgentStateChanged
  | AgentLog
  | ChannelsChanged
  | MessageUpdated
  | MessageDelta
  | TurnChanged
  | PermissionRequested
  | PermissionResolved
  | UsageChanged
  | MessagesImported
  | CommandsChanged
  | ComponentStateChanged
  | CommandResult;

export type InternalEvent =
  | DoStart
  | DoSend
  | DoTurn
  | DoStop
  | FactUp
  | FactFrame
  | FactExited
  | TimerFired
  | HistoryPast
  | HistoryRestored
  | HistoryImported
  | FileOpenable
  | FileClosed
  | SessionChanged
  | MemoryChanged;

export type Command =
  | Start
  | Stop
  | Restart
  | Create
  | Rename
  | Delete
  | AddMember
  | RemoveMember
  | Direct
  | Send
  | Cancel
  | AnswerPermission
  | EditQueued
  | RemoveQueued
  | Prepare
  | Open
  | Shutdown;

export type Event = PublicEvent | InternalEvent | Command;

/** An event as pages and programs get it: its fields, but for `type`, are in `data`. */
export type Envelope<E extends { type: string } = Event> = E extends unknown
  ? { seq: number; ts: number; type: E["type"]; data: Omit<E, "type"> }
  : never;

/** What may be asked, by name. */
export interface Queries {
  Current: { arguments: Record<string, never>; returns: CurrentConfig };
  Content: { arguments: Record<string, never>; returns: ContentView };
  Validate: { arguments: { text: string; folder?: string }; returns: Checked };
  Save: { arguments: { text: string; digest: string }; returns: Checked };
  Schema: { arguments: Record<string, never>; returns: Readonly<Record<string, unknown>> };
  Recent: { arguments: Record<string, never>; returns: readonly string[] };
  Forget: { arguments: { path: string }; returns: readonly string[] };
  Icon: { arguments: { agent: AgentName }; returns: IconView };
  Folder: { arguments: { path?: string }; returns: FolderView };
  Components: { arguments: Record<string, never>; returns: readonly Component[] };
  ListAgents: { arguments: Record<string, never>; returns: readonly AgentView[] };
  Logs: { arguments: { agent: AgentName }; returns: readonly string[] };
  ListChannels: { arguments: Record<string, never>; returns: readonly Channel[] };
  Conversation: { arguments: { channel: ChannelId }; returns: ConversationView };
  Older: { arguments: { channel: ChannelId; before: MessageId }; returns: Page };
  Commands: { arguments: { agent: AgentName }; returns: readonly SlashCommand[] };
  Permissions: { arguments: Record<string, never>; returns: readonly Permission[] };
  Blob: { arguments: { sha256: string; offset?: number; limit?: number }; returns: string };
  Search: { arguments: { text?: string; agent?: AgentName; channel?: ChannelId; tool?: string; path?: string; since?: number; until?: number; after?: string; limit?: number }; returns: Hits };
  Around: { arguments: { channel: ChannelId; messageId: MessageId }; returns: AroundView };
  Newer: { arguments: { channel: ChannelId; after: MessageId }; returns: Page };
  Export: { arguments: { format: "markdown" | "jsonl"; channels?: readonly ChannelId[]; after?: string; language?: "en" | "fr" }; returns: ExportPage };
  Import: { arguments: { path: string }; returns: Imported };
  HistoryInfo: { arguments: Record<string, never>; returns: HistoryView };
  Preview: { arguments: { channel: ChannelId; text: string }; returns: PreviewView };
}
