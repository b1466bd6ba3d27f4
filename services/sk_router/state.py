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
    Channel,
    ChannelId,
    CommandId,
    Message,
    Part,
    PublicConfig,
    TextPart,
    ThoughtPart,
    ToolPart,
)
from sk_router.records import (
    Answerers,
    Ask,
    Basis,
    Deletion,
    Early,
    Gate,
    Life,
    Opening,
    Past,
    Preparation,
    Queued,
    Round,
    Session,
    Tail,
    Talk,
)

# A snapshot of another version is not read: the state is then folded from the journal alone.
VERSION = 1


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
    rounds: dict[str, Round] = field(default_factory=dict)
    deletions: dict[str, Deletion] = field(default_factory=dict)
    preparations: dict[str, Preparation] = field(default_factory=dict)
    announced: dict[str, bool] = field(default_factory=dict)
    tails: dict[str, Tail] = field(default_factory=dict)
    asks: dict[str, Ask] = field(default_factory=dict)
    early: dict[str, Early] = field(default_factory=dict)
    gates: dict[str, Gate] = field(default_factory=dict)
    past: dict[str, Past] = field(default_factory=dict)
    answerers: dict[str, Answerers] = field(default_factory=dict)
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

    @property
    def opening(self) -> Opening | None:
        return self.basis.get("", Basis()).opening


# What `state:memory` may speak of, and what its values are.
SLICES: dict[str, Any] = {
    "basis": Basis,
    "lives": Life,
    "talks": Talk,
    "waiting": Queued,
    "rounds": Round,
    "deletions": Deletion,
    "preparations": Preparation,
    "announced": bool,
    "tails": Tail,
    "asks": Ask,
    "early": Early,
    "gates": Gate,
    "past": Past,
    "answerers": Answerers,
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
