"""What the router remembers: records that are replaced whole, and the messages that grow.

Every record is a frozen value that travels in one ``state:memory`` event; messages grow by the
deltas that everybody sees. So the state is the fold of what the router published, and a snapshot
is only a cache of that fold. Nothing here decides anything.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from sk_bus.codec import plain, value_of
from sk_bus.events import TurnChanged
from sk_bus.model import (
    AgentName,
    AgentState,
    Channel,
    ChannelId,
    CommandId,
    Message,
    MessageId,
    Part,
    PermissionId,
    PermissionOption,
    Problem,
    PublicConfig,
    SessionId,
    Text,
    TextPart,
    ThoughtPart,
    ToolCall,
    ToolPart,
)

# A snapshot of another version is not read: the state is then folded from the journal alone.
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What holds for everything: the configuration in force, and who asked for the close."""

    config: PublicConfig | None = None
    closing: tuple[CommandId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request of ours that an agent hasn't answered. ``n`` is its line and its JSON-RPC id."""

    n: int
    method: str
    channel: ChannelId | None = None


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
    claimed: ChannelId | None = None
    idle: int = 0
    starters: tuple[CommandId, ...] = ()
    stoppers: tuple[CommandId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A user's message that nobody has begun to answer; ``shown`` as queued, or not yet at all.

    It has a record of its own, so that a long queue is not told again with each message.
    """

    messageId: MessageId
    seq: int
    createdAt: int
    text: Text
    shown: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One agent answering one prompt.

    ``phase``: it waits for the agent to run, for its session, or for the prompt's response.
    ``inc`` is the life it is bound to (0 before there is one), ``messageId`` the agent's message
    once it has begun, ``chunk`` the ACP message id of its last piece of text. ``text`` is what
    the agent is to be sent, and empty when it has been.
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
    """The ACP session of (channel, agent); it lives as long as the life ``inc``."""

    sessionId: SessionId | None = None
    inc: int = 0
    seen: MessageId | None = None


@dataclass(slots=True)
class Run:
    """Text that grows, in the pieces that came."""

    kind: Literal["text", "thought"]
    pieces: list[str]

    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return self.kind == other.kind and self.text() == other.text()


@dataclass(slots=True)
class Growing:
    """A message of an agent with all that has come of it; ``message`` is how it began or ended."""

    message: Message
    parts: list[Part | Run] = field(default_factory=list)
    rev: int = 0

    def tool(self, tool_id: str) -> int | None:
        """Where the tool call stands among the parts."""
        for index in range(len(self.parts) - 1, -1, -1):
            part = self.parts[index]
            if isinstance(part, ToolPart) and part.tool.id == tool_id:
                return index
        return None


@dataclass(slots=True)
class State:
    """Everything. ``routes`` is worked out from ``sessions``."""

    basis: dict[str, Basis] = field(default_factory=dict)
    lives: dict[str, Life] = field(default_factory=dict)
    talks: dict[str, Talk] = field(default_factory=dict)
    waiting: dict[str, Queued] = field(default_factory=dict)
    tails: dict[str, Tail] = field(default_factory=dict)
    asks: dict[str, Ask] = field(default_factory=dict)
    early: dict[str, Early] = field(default_factory=dict)
    timers: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    shown: dict[str, TurnChanged] = field(default_factory=dict)
    messages: dict[str, Growing] = field(default_factory=dict)
    routes: dict[tuple[str, int, str], ChannelId] = field(default_factory=dict, compare=False)

    @property
    def config(self) -> PublicConfig:
        return self.basis.get("", Basis()).config or PublicConfig()

    @property
    def closing(self) -> tuple[CommandId, ...]:
        return self.basis.get("", Basis()).closing


# What `state:memory` may speak of, and what its values are.
SLICES: dict[str, Any] = {
    "basis": Basis,
    "lives": Life,
    "talks": Talk,
    "waiting": Queued,
    "tails": Tail,
    "asks": Ask,
    "early": Early,
    "timers": int,
}
_WHOLE: dict[str, Any] = {**SLICES, "sessions": Session, "channels": Channel, "shown": TurnChanged}


def place(channel: ChannelId, agent: AgentName) -> str:
    """The key of what belongs to an agent in a channel."""
    return f"{channel}/{agent}"


def route(state: State, key: str, session: Session) -> None:
    """Know the session by the id that its agent's frames carry."""
    channel, _, agent = key.partition("/")
    if session.sessionId is not None:
        state.routes[agent, session.inc, session.sessionId] = ChannelId(channel)


def snapshot(state: State) -> dict[str, Any]:
    """The state as plain data."""
    made: dict[str, Any] = {"version": VERSION}
    for name in _WHOLE:
        made[name] = plain(getattr(state, name))
    made["messages"] = {
        key: {
            "message": plain(growing.message),
            "rev": growing.rev,
            "parts": [_plain_part(part) for part in growing.parts],
        }
        for key, growing in state.messages.items()
    }
    return made


def restored(data: dict[str, Any]) -> State | None:
    """The state that ``snapshot`` made plain; ``None`` when other code wrote it."""
    if data.get("version") != VERSION:
        return None
    state = State()
    for name, kind in _WHOLE.items():
        getattr(state, name).update(
            {key: value_of(kind, value) for key, value in data.get(name, {}).items()}
        )
    for key, kept in data.get("messages", {}).items():
        parts = [_part(part) for part in kept["parts"]]
        state.messages[key] = Growing(
            message=value_of(Message, kept["message"]), parts=parts, rev=kept["rev"]
        )
    for key, session in state.sessions.items():
        route(state, key, session)
    return state


def _plain_part(part: Part | Run) -> dict[str, Any]:
    if isinstance(part, Run):
        return {"run": part.kind, "text": part.text()}
    made: dict[str, Any] = plain(part)
    return made


def _part(data: dict[str, Any]) -> Part | Run:
    if "run" in data:
        return Run(kind=data["run"], pieces=[data["text"]])
    part: Part = value_of(Part, data)  # type: ignore[arg-type]
    return part


def run_of(part: Part) -> Part | Run:
    """A part as it is kept while it may grow."""
    match part:
        case TextPart(text=str(text)):
            return Run(kind="text", pieces=[text])
        case ThoughtPart(text=str(text)):
            return Run(kind="thought", pieces=[text])
        case _:
            return part
