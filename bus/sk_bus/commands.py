"""What may be asked for: the calls of sections 2 to 4 that change something, one value a call.

A command is an event that its client makes and gives an ``id`` (any unique text of at most 64
characters). The same id and content again returns what the first one did; the same id with other
content is an error. ``by`` says which kind of client asks (``cli``, ``page``, a program's name).
Calls that only read are in :mod:`sk_bus.queries`.
"""

from dataclasses import dataclass
from typing import Literal

from sk_bus.model import AgentName, ChannelId, CommandId, MessageId, PermissionId, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    id: CommandId
    by: str = "cli"


# --- AgentService ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Command):
    """Start an agent; the result comes when it is ready, or says why it isn't."""

    type: Literal["cmd:Start"] = "cmd:Start"
    agent: AgentName


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Command):
    """Stop an agent; the result comes when nothing of it is left."""

    type: Literal["cmd:Stop"] = "cmd:Stop"
    agent: AgentName


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart(Command):
    type: Literal["cmd:Restart"] = "cmd:Restart"
    agent: AgentName


# --- ChannelService -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Create(Command):
    """Make a channel; the result's value is its id."""

    type: Literal["cmd:Create"] = "cmd:Create"
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename(Command):
    type: Literal["cmd:Rename"] = "cmd:Rename"
    channel: ChannelId
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(Command):
    """Remove a channel and all its history; the result comes when its answer has ended."""

    type: Literal["cmd:Delete"] = "cmd:Delete"
    channel: ChannelId


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMember(Command):
    """Let an agent join a channel; that one who is a member already does is no error."""

    type: Literal["cmd:AddMember"] = "cmd:AddMember"
    channel: ChannelId
    agent: AgentName


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMember(Command):
    """Let a member leave; an answer that it is giving there ends as cancelled."""

    type: Literal["cmd:RemoveMember"] = "cmd:RemoveMember"
    channel: ChannelId
    agent: AgentName


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct(Command):
    """The direct conversation with an agent, made the first time; the value is its id."""

    type: Literal["cmd:Direct"] = "cmd:Direct"
    agent: AgentName


@dataclass(frozen=True, slots=True, kw_only=True)
class Send(Command):
    """Add the user's message; the value is its id. Agents that answer start as needed."""

    type: Literal["cmd:Send"] = "cmd:Send"
    channel: ChannelId
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(Command):
    """Stop the answer under way, the agents still to answer, and the queued messages."""

    type: Literal["cmd:Cancel"] = "cmd:Cancel"
    channel: ChannelId


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPermission(Command):
    type: Literal["cmd:AnswerPermission"] = "cmd:AnswerPermission"
    permission: PermissionId
    optionId: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditQueued(Command):
    """Let a message that still waits say something else; its id and its place stay."""

    type: Literal["cmd:EditQueued"] = "cmd:EditQueued"
    channel: ChannelId
    messageId: MessageId
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveQueued(Command):
    """Take back a message that still waits; its ``error`` then is ``taken-back``."""

    type: Literal["cmd:RemoveQueued"] = "cmd:RemoveQueued"
    channel: ChannelId
    messageId: MessageId


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepare(Command):
    """Start the members that never announced their commands and open their sessions.

    The value names those who were ``opened``, ``skipped`` (they answer elsewhere, or there is no
    room) and ``failed``.
    """

    type: Literal["cmd:Prepare"] = "cmd:Prepare"
    channel: ChannelId


# --- ConfigService and the whole ------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Open(Command):
    """Use another configuration file, with its own history; the result means accepted."""

    type: Literal["cmd:Open"] = "cmd:Open"
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shutdown(Command):
    """The orderly close: answers end, the queue is dropped, agents stop; then the result."""

    type: Literal["cmd:shutdown"] = "cmd:shutdown"


AnyCommand = (
    Start
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
    | Shutdown
)
