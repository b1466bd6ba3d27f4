"""The router's records: frozen values that are replaced whole, each in one ``state:memory`` event.

A record holds what later decisions need and nothing that can be worked out. A new field needs a
default, so that a log of older code is still read.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from sk_bus.internal import PastMessage
from sk_bus.model import (
    AgentName,
    AgentState,
    ChannelId,
    CommandId,
    MessageId,
    PermissionId,
    PermissionOption,
    Problem,
    PublicConfig,
    SessionId,
    Text,
    ToolCall,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Another file is to be opened. ``closes``: accepted, all ends; ``closed``: all has ended."""

    command: CommandId
    path: str
    closes: bool = False
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What holds for everything: the configuration in force, and who asked for a close."""

    config: PublicConfig | None = None
    closing: tuple[CommandId, ...] = ()
    opening: Opening | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request of ours that an agent hasn't answered. ``n`` is its line and its JSON-RPC id.

    Nobody waits for one that was given up, or that only tells the agent something.
    """

    n: int
    method: str
    channel: ChannelId | None = None
    waited: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthMethod:
    """A way to log in that an agent names."""

    id: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer to a permission request, on line ``n``, in case the agent ends before it."""

    n: int
    permission: PermissionId
    channel: ChannelId
    by: str
    optionId: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """An agent, from its configuration to the end of its process.

    ``alive``: from ``do:start`` to ``fact:exited``; ``up``: its process runs. ``wanted`` is the seq
    of the input that asked for a start which waits for room, or for the end of the life before.
    ``ending`` says why it is being stopped, ``halted`` that a stop waits for the start to end.
    ``claimed`` is the channel it answers in. ``idle`` is when (mono) it was last used.
    ``starters`` and ``stoppers`` are the commands to be answered when it runs, or is gone.
    """

    state: AgentState = AgentState.STOPPED
    error: Problem | None = None
    outdated: bool = False
    stopping: bool = False
    inc: int = 0
    digest: str = ""
    cwd: str = ""
    servers: int = 0
    transports: tuple[str, ...] = ()
    alive: bool = False
    up: bool = False
    halted: bool = False
    ending: Literal["", "asked", "idle", "evicted", "removed", "failed", "deaf", "closing"] = ""
    failure: Problem | None = None
    wanted: int = 0
    n: int = 0
    calls: tuple[Call, ...] = ()
    answered: tuple[Answered, ...] = ()
    capabilities: dict[str, Any] = field(default_factory=dict)
    methods: tuple[AuthMethod, ...] = ()
    claimed: ChannelId | None = None
    idle: int = 0
    starters: tuple[CommandId, ...] = ()
    stoppers: tuple[CommandId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A user's message that nobody has begun to answer; ``shown`` as queued, or not yet at all.

    It has a record of its own, so that a long queue is not told again with each message.
    ``barred``: who was stopped by hand or has left the configuration since, and why; the message
    doesn't start them again.
    """

    messageId: MessageId
    seq: int
    createdAt: int
    text: Text
    shown: bool = True
    barred: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A user's message that several answer: who is still to, after the turn under way.

    ``text`` is what each is sent, ``seq`` the message's place in the order of acceptance.
    """

    messageId: MessageId
    seq: int
    text: Text
    command: bool
    then: tuple[AgentName, ...]
    barred: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """Members of a channel that are being prepared, and who waits for it.

    ``outcome`` says who was ``opened``, ``skipped`` or ``failed``, ``problem`` why the first one
    failed.
    """

    commands: tuple[CommandId, ...] = ()
    awaited: tuple[AgentName, ...] = ()
    outcome: dict[str, tuple[AgentName, ...]] = field(default_factory=dict)
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """A channel that is removed once its answer has ended, and who asked for it."""

    commands: tuple[CommandId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One agent answering one prompt.

    ``phase``: it waits for the agent to run, for its session, or for the prompt's response.
    ``inc`` is the life it is bound to (0 before there is one), ``messageId`` the agent's message
    once it has begun, ``chunk`` the ACP message id of its last piece of text. ``text`` is what
    the agent is to be sent, and empty when it has been. A ``command`` is sent alone, and what was
    said before it stays unseen. ``told`` is the last message of the channel at the time of the
    prompt: so far the agent has seen when it answers.
    """

    agent: AgentName
    answers: MessageId
    text: Text
    phase: Literal["agent", "session", "prompt"] = "agent"
    inc: int = 0
    messageId: MessageId | None = None
    cancelled: bool = False
    rejections: int = 0
    chunk: str = ""
    command: bool = False
    told: MessageId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A channel at work: the answer under way, and the messages that wait (in ``waiting``)."""

    turn: Turn | None = None
    queue: tuple[MessageId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """What may yet come outside a turn, to a message that is over or that nobody asked for.

    Until ``until`` (mono) an update belongs to ``messageId``; the next prompt waits for ``quiet``.
    ``unasked``: the message began outside a turn and is still growing.
    """

    channel: ChannelId
    agent: AgentName
    messageId: MessageId
    quiet: int
    until: int
    unasked: bool = False
    chunk: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A permission request that waits. ``requestId`` is the agent's JSON-RPC id, of any type."""

    requestId: Any = None
    channel: ChannelId
    agent: AgentName
    inc: int
    messageId: MessageId
    toolCall: ToolCall
    options: tuple[PermissionOption, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    """Updates of sessions whose ``session/new`` isn't answered yet, as they came."""

    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The ACP session of (channel, agent), open in the life ``inc``, or last open in it.

    Where an earlier one was lost, it knows nothing of what was said up to ``since``, until its
    agent has ``seen`` a message. ``prompted`` are messages after that which it was sent to answer
    all the same: commands, and those whose answer failed before it began.
    """

    sessionId: SessionId | None = None
    inc: int = 0
    seen: MessageId | None = None
    since: MessageId | None = None
    prompted: tuple[MessageId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A session that is being taken up again: what it tells of the past is not shown.

    Open from the request by ``method`` until, after its answer, nothing has come up to ``quiet``
    (mono; ``until`` at the latest). ``replayed``: something of the past did come.
    """

    channel: ChannelId
    agent: AgentName
    inc: int
    method: str
    replayed: bool = False
    answered: bool = False
    quiet: int = 0
    until: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The last messages of a channel, for agents that haven't seen them or lost their memory.

    They stand in the order in which they were said: one that waited in the queue is said when it
    leaves it, an answer when it ends. What an agent has seen is everything up to a place in here.
    """

    messages: tuple[PastMessage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerers:
    """Who has answered in a channel with a text, the last one first."""

    agents: tuple[AgentName, ...] = ()
