"""What has happened, said to everyone: section 5 of the specification, one value an event.

``type`` is the tag on the wire. ``Kind`` sorts events into classes, so that a follower can skip a
whole batch by one byte. Internal events stand in :mod:`sk_bus.internal`.
"""

from dataclasses import dataclass
from enum import IntFlag
from typing import Any, Literal

from sk_bus.model import (
    AgentName,
    AgentState,
    Channel,
    ChannelId,
    CommandId,
    ComponentName,
    Message,
    MessageId,
    Part,
    PermissionId,
    PermissionOption,
    Problem,
    PublicConfig,
    SlashCommand,
    ToolCall,
    Usage,
    WaitingFor,
)


class Kind(IntFlag):
    """The class of an event: one bit each, or-ed over a batch."""

    PUBLIC = 1
    DELTA = 2
    COMMAND = 4
    RESULT = 8
    DO = 16
    FACT = 32
    INTERNAL = 64
    LOG = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChanged:
    """The configuration file was saved and read again, valid or not."""

    type: Literal["config:changed"] = "config:changed"
    path: str
    valid: bool
    problems: tuple[Problem, ...] = ()
    config: PublicConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStateChanged:
    """An agent's state or definition changed."""

    type: Literal["agent:state"] = "agent:state"
    agent: AgentName
    state: AgentState
    error: Problem | None = None
    outdated: bool = False
    stopping: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLog:
    """A line on an agent's stderr, or one on its stdout that isn't ACP."""

    type: Literal["agent:log"] = "agent:log"
    agent: AgentName
    line: str
    stream: Literal["stderr", "stdout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelsChanged:
    """A channel was made, renamed or deleted, or its members changed; ``channels`` are all."""

    type: Literal["channels:changed"] = "channels:changed"
    channels: tuple[Channel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageUpdated:
    """A message was added, queued, edited, dropped, begun, finished or amended."""

    type: Literal["message:updated"] = "message:updated"
    channel: ChannelId
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDelta:
    """A message grew: ``text`` is appended to part ``index``, or ``part`` replaces it.

    ``index`` equal to the number of parts makes a new part of ``kind``. ``rev`` is the message's
    revision after this delta, one more than before it.
    """

    type: Literal["message:delta"] = "message:delta"
    channel: ChannelId
    messageId: MessageId
    index: int
    kind: str
    rev: int
    text: str | None = None
    part: Part | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnChanged:
    """A channel began or stopped answering, the turn went on, or the queue changed length.

    ``answering`` is the agent whose turn it is, ``then`` those after it, ``queued`` how many
    messages wait.
    """

    type: Literal["turn:changed"] = "turn:changed"
    channel: ChannelId
    busy: bool
    queued: int = 0
    answering: AgentName | None = None
    then: tuple[AgentName, ...] = ()
    answers: MessageId | None = None
    waitingFor: WaitingFor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRequested:
    """An agent asks to use a tool; ``rejections`` counts the refusals given in this turn."""

    type: Literal["permission:requested"] = "permission:requested"
    id: PermissionId
    channel: ChannelId
    agent: AgentName
    messageId: MessageId
    toolCall: ToolCall
    options: tuple[PermissionOption, ...]
    rejections: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionResolved:
    """It was answered, or cancelled: then ``optionId`` is absent.

    ``by``: the client that answered (``page``, ``cli``, …), ``rule``, ``stop``, ``agent``.
    ``delivered`` is false when the agent ended before the answer could reach it.
    """

    type: Literal["permission:resolved"] = "permission:resolved"
    id: PermissionId
    channel: ChannelId
    by: str
    optionId: str | None = None
    delivered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesImported:
    """An import put so many messages among those of a channel: ask for its conversation anew."""

    type: Literal["messages:imported"] = "messages:imported"
    channel: ChannelId
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageChanged:
    """An agent said how full its context window is."""

    type: Literal["usage:changed"] = "usage:changed"
    channel: ChannelId
    agent: AgentName
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandsChanged:
    """An agent announced its slash commands."""

    type: Literal["commands:changed"] = "commands:changed"
    agent: AgentName
    commands: tuple[SlashCommand, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentStateChanged:
    """A component of Sidekicks came up, went down, or was restarted."""

    type: Literal["component:state"] = "component:state"
    component: ComponentName
    state: Literal["running", "starting", "down", "degraded", "hung"]
    pid: int
    restarts: int
    since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """How a command ended: the last event of the batch that holds its effects."""

    type: Literal["cmd:result"] = "cmd:result"
    id: CommandId
    ok: bool
    value: Any = None
    problem: Problem | None = None


PublicEvent = (
    ConfigChanged
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
    | CommandResult
)
