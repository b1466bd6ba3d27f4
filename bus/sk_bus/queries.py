"""What may be asked: a request to the process that owns the answer, which changes nothing.

Each query names its ``service`` and what it returns. ``Save`` is the one exception: it writes the
configuration file, and is no event because it carries secrets.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from sk_bus.model import (
    AgentName,
    AgentView,
    Channel,
    ChannelId,
    Component,
    ComponentName,
    Message,
    MessageId,
    Permission,
    Problem,
    SlashCommand,
    Usage,
    WaitingFor,
)

# --- sk-config ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentConfig:
    path: str
    source: Literal["flag", "env", "remembered", "default"]
    created: bool
    valid: bool
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    theme: Literal["system", "light", "dark"]
    language: Literal["system", "en", "fr"]
    historyProblem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What is to be said of a text; ``saved`` after ``Save`` only."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    saved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentView:
    """The file's text; ``digest`` goes back with ``Save``."""

    text: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = CurrentConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = ContentView


@dataclass(frozen=True, slots=True, kw_only=True)
class Validate:
    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = Checked
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """``digest`` is that of the content one started from; another on disk refuses the save."""

    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = Checked
    text: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = tuple[Component, ...]


# --- sk-agents ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAgents:
    service: ClassVar[str] = "agents"
    returns: ClassVar[Any] = tuple[AgentView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """The last 200 lines of an agent's stderr."""

    service: ClassVar[str] = "agents"
    returns: ClassVar[Any] = tuple[str, ...]
    agent: AgentName


# --- sk-history -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationView:
    """A channel with its last 100 messages, and all that is under way in it.

    ``usage`` is by agent, ``answering`` the agent whose turn it is.
    """

    channel: Channel
    messages: tuple[Message, ...]
    more: bool
    busy: bool = False
    queued: int = 0
    answering: AgentName | None = None
    waitingFor: WaitingFor | None = None
    usage: dict[str, Usage] = field(default_factory=dict)
    permissions: tuple[Permission, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    messages: tuple[Message, ...]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListChannels:
    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = tuple[Channel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = ConversationView
    channel: ChannelId


@dataclass(frozen=True, slots=True, kw_only=True)
class Older:
    """The 100 messages before ``before``."""

    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = Page
    channel: ChannelId
    before: MessageId


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = tuple[SlashCommand, ...]
    agent: AgentName


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """Every permission request that waits, over all channels."""

    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = tuple[Permission, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A big part, whole (UTF-8 text); ``offset`` and ``limit`` in bytes."""

    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = bytes
    sha256: str
    offset: int = 0
    limit: int = 1_000_000


# --- sk-router ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """One who would answer, and what that takes: joining, starting, waiting, another's stop."""

    agent: AgentName
    joins: bool = False
    starts: bool = False
    waitsFor: WaitingFor | None = None
    stops: AgentName | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewView:
    answering: tuple[Answering, ...]
    unknown: tuple[str, ...] = ()
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    service: ClassVar[str] = "router"
    returns: ClassVar[Any] = PreviewView
    channel: ChannelId
    text: str


AnyQuery = (
    Current
    | Content
    | Validate
    | Save
    | Schema
    | Recent
    | Components
    | ListAgents
    | Logs
    | ListChannels
    | Conversation
    | Older
    | Commands
    | Permissions
    | Blob
    | Preview
)

QUERIES: dict[str, type] = {kind.__name__: kind for kind in AnyQuery.__args__}
SERVICES: tuple[ComponentName, ...] = tuple(
    ComponentName(name) for name in ("bus", "config", "agents", "router", "history", "gateway")
)
