"""What the components say to each other: events that people see only when they ask.

``do:*`` is an order of the router to the executor, ``fact:*`` what the executor saw, ``timer:*``
the passing of time, ``history:*`` the history's word (in a new epoch, after an import), ``file:*``
the way to another configuration file, ``state:*`` the router's own memory, so that its state is the
fold of what it published and nothing else.
"""

from dataclasses import dataclass
from typing import Any, Literal

from sk_bus.model import (
    AgentName,
    BlobRef,
    Channel,
    ChannelId,
    CommandId,
    MessageId,
    Problem,
    SessionId,
    SlashCommand,
)

# --- orders to the executor -----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DoStart:
    """Start this life of an agent. ``digest`` names its definition's file in the run directory."""

    type: Literal["do:start"] = "do:start"
    agent: AgentName
    inc: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DoSend:
    """Write one line to an agent's stdin: the ``n``-th of this life, from 1, without a hole.

    ``line`` has no line end. ``{"$def": "<sha256>#/pointer"}`` in it is filled in from the
    definition file, ``{"$blob": "<sha256>"}`` by the text of the blob, while it is written.
    """

    type: Literal["do:send"] = "do:send"
    agent: AgentName
    inc: int
    n: int
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DoTurn:
    """Tell the holder whether a turn is open: its patience depends on it."""

    type: Literal["do:turn"] = "do:turn"
    agent: AgentName
    inc: int
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DoStop:
    """Run the stop ladder: stdin closed, 5 s, SIGTERM, 3 s, SIGKILL."""

    type: Literal["do:stop"] = "do:stop"
    agent: AgentName
    inc: int


# --- facts ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FactUp:
    """The agent's process runs."""

    type: Literal["fact:up"] = "fact:up"
    agent: AgentName
    inc: int
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FactFrame:
    """A line of JSON that the agent wrote, without its line end.

    ``end`` is the offset in its stdout after the line. A line with strings over the bound has
    them replaced by ``{"$blob": {sha256, length, head}}``; ``raw`` then is the whole line.
    """

    type: Literal["fact:frame"] = "fact:frame"
    agent: AgentName
    inc: int
    end: int
    line: str
    raw: BlobRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactExited:
    """This life is over, after its last frame; nothing of its process group is left.

    Exactly one of ``code``, ``signal`` and ``problem`` is set (``problem``: it couldn't start, or
    its holder was lost). ``taken`` is the last line that its stdin took, ``stderr`` its last
    lines, ``asked`` whether a stop had been ordered.
    """

    type: Literal["fact:exited"] = "fact:exited"
    agent: AgentName
    inc: int
    taken: int
    asked: bool
    code: int | None = None
    signal: int | None = None
    problem: Problem | None = None
    stderr: tuple[str, ...] = ()


# --- time -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerFired:
    """A deadline of the router's state has passed."""

    type: Literal["timer:fired"] = "timer:fired"
    id: str


# --- the history's word ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession:
    """An ACP session of (channel, agent), and the last message that the agent has seen there."""

    channel: ChannelId
    agent: AgentName
    sessionId: SessionId | None = None
    seen: MessageId | None = None
    since: MessageId | None = None
    prompted: tuple[MessageId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCommands:
    agent: AgentName
    commands: tuple[SlashCommand, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastMessage:
    """A message as those are told of it who haven't seen it; without ``author`` it is a person's.

    ``text`` is its beginning (:mod:`sk_bus.excerpt`).
    """

    id: MessageId
    text: str
    author: AgentName | Literal[""] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPast:
    """Before ``history:restored``, for each channel: the last messages that were said in it."""

    type: Literal["history:past"] = "history:past"
    channel: ChannelId
    messages: tuple[PastMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRestored:
    """Opens a new epoch: what the history kept replaces the router's state."""

    type: Literal["history:restored"] = "history:restored"
    channels: tuple[Channel, ...] = ()
    sessions: tuple[StoredSession, ...] = ()
    commands: tuple[StoredCommands, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryImported:
    """An import brought channels that the router doesn't know; their messages are stored already.

    Names are free at the time: a taken one came with a number behind it.
    """

    type: Literal["history:imported"] = "history:imported"
    channels: tuple[Channel, ...]
    past: tuple[HistoryPast, ...] = ()


# --- another file ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOpenable:
    """What ``cmd:Open`` asked for can be read as a configuration file, or ``problem`` says why not.

    ``path`` is absolute; ``already``: it is the file in force. Said by the config watcher, once for
    each command.
    """

    type: Literal["file:openable"] = "file:openable"
    command: CommandId
    path: str
    already: bool = False
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileClosed:
    """Everything has ended in order; ``next`` is the file to go on with.

    The router's last word in an epoch. The config watcher then moves the pointer.
    """

    type: Literal["file:closed"] = "file:closed"
    next: str


# --- the router's own memory ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChanged:
    """A session was opened, lost (``sessionId`` absent), or its agent has seen more.

    ``since``, where an earlier session was lost: the last message that was said by then. The agent
    is to be told of it and of those before it, unless it has ``seen`` a message in this session.
    ``prompted``: messages after ``seen`` that it was sent to answer all the same.
    """

    type: Literal["state:session"] = "state:session"
    channel: ChannelId
    agent: AgentName
    inc: int
    sessionId: SessionId | None = None
    seen: MessageId | None = None
    since: MessageId | None = None
    prompted: tuple[MessageId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChanged:
    """A record of the router's own memory, whole; without ``value`` it is forgotten.

    ``slice`` and ``key`` say where it stands. Nobody but the router reads it.
    """

    type: Literal["state:memory"] = "state:memory"
    slice: str
    key: str
    value: Any = None
