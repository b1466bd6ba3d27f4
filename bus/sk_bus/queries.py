"""What may be asked: a request to the process that owns the answer, which changes nothing.

Each query names its ``service`` and what it returns. Three change something all the same: ``Save``
writes the configuration file, and is no event because it carries secrets; ``Import`` reads a file
into the history, and is none because of its size; ``Forget`` shortens a list that is no instance's
own. They may be asked twice without harm.
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
    Role,
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
    """Of a text as it would stand in ``folder`` (absolute; default: that of the file in force)."""

    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = Checked
    text: str
    folder: str = ""


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
class Forget:
    """Take a file off the list of the recent ones, and say the list; the file itself stays."""

    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = tuple[str, ...]
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IconView:
    """An image: ``data`` in base64."""

    mimeType: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Icon:
    """The image that is an agent's icon."""

    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = IconView
    agent: AgentName


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """``hidden``: its name begins with a dot."""

    name: str
    path: str
    folder: bool
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderView:
    """A folder's subfolders and YAML files: folders first, hidden ones last of their kind.

    ``parent`` is absent where one can't go further up. ``more``: there are others than these.
    """

    path: str
    parent: str | None = None
    entries: tuple[FolderEntry, ...]
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """For a file dialog. Only below the home directory and the configuration's folder.

    Without ``path`` it is the folder of the configuration in force.
    """

    service: ClassVar[str] = "config"
    returns: ClassVar[Any] = FolderView
    path: str = ""


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

    ``usage`` is by agent, ``answering`` the agent whose turn it is, ``then`` those after it.
    """

    channel: Channel
    messages: tuple[Message, ...]
    more: bool
    busy: bool = False
    queued: int = 0
    answering: AgentName | None = None
    then: tuple[AgentName, ...] = ()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanView:
    """A place in a text, in Unicode code points."""

    start: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A message that matches: where, and the words around the place.

    ``part`` is the index of the message's part, ``kind`` that part's type, ``at`` where in its
    text the first match begins (a tool call's text is its title, input, output, paths and diffs,
    each on lines of its own). ``spans`` are the matches within ``excerpt``, one line of that text.
    """

    channel: ChannelId
    messageId: MessageId
    createdAt: int
    role: Role
    agent: AgentName | Literal[""]
    part: int
    kind: str
    at: int
    excerpt: str
    spans: tuple[SpanView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """A page of hits, newest first; ``next`` goes back as ``after`` for the next one.

    ``complete`` is false while the index is being made (after an upgrade or an import): a later
    search may find more.
    """

    hits: tuple[Hit, ...]
    next: str | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Messages in which every word of ``text`` stands (a word's beginning suffices).

    ``"two words"`` in quotes are whole words that stand side by side, and so do the words of
    ``snake_case``. Words are compared by NFKC and casefold. An answer that is still arriving isn't
    found yet. ``agent`` is
    the author, ``tool`` a tool call's kind or a part of its title, ``path`` a part of a tool's
    location or diff; ``since`` and ``until`` are in milliseconds. ``text`` may be empty where a
    filter is given.
    """

    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = Hits
    text: str = ""
    agent: AgentName | None = None
    channel: ChannelId | None = None
    tool: str | None = None
    path: str | None = None
    since: int | None = None
    until: int | None = None
    after: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AroundView:
    """``more`` older ones, ``later`` newer ones than these."""

    messages: tuple[Message, ...]
    more: bool
    later: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """A message in its place: up to 50 before it, itself, and up to 49 after."""

    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = AroundView
    channel: ChannelId
    messageId: MessageId


@dataclass(frozen=True, slots=True, kw_only=True)
class Newer:
    """The 100 messages after ``after``; ``more`` newer ones than these."""

    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = Page
    channel: ChannelId
    after: MessageId


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportPage:
    """A piece of an export; ``next`` goes back as ``after`` until it is absent."""

    text: str
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Channels (all, when none is named) as a text, in pieces of about 500 kB.

    The pieces one after the other are the whole. Messages that wait or still arrive are left out.
    ``language`` is that of the words around the messages in Markdown.
    """

    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = ExportPage
    format: Literal["markdown", "jsonl"]
    channels: tuple[ChannelId, ...] = ()
    after: str | None = None
    language: Literal["en", "fr"] = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import brought; ``kept`` counts the messages that were here already."""

    channels: int
    messages: int
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """Read an export as JSON Lines into this history, ids kept; what exists is left alone.

    ``path`` is absolute, and a file that this user may read.
    """

    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = Imported
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryView:
    """Where the history lies, and how much it is; ``size`` in bytes on disk."""

    path: str
    size: int
    channels: int
    messages: int
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryInfo:
    service: ClassVar[str] = "history"
    returns: ClassVar[Any] = HistoryView


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
class Mentioned:
    """Where a mention stands, in UTF-16 units; without ``agent`` it is a name that nobody has."""

    start: int
    length: int
    agent: AgentName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewView:
    """Who would answer, in order, or the ``problem`` that nobody does.

    ``command`` is what they would be sent, where the text is a command. ``mentions`` are 100 at
    most, ``unknown`` the names among them that nobody has.
    """

    answering: tuple[Answering, ...]
    unknown: tuple[str, ...] = ()
    problem: Problem | None = None
    command: str | None = None
    mentions: tuple[Mentioned, ...] = ()


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
    | Forget
    | Icon
    | Folder
    | Components
    | ListAgents
    | Logs
    | ListChannels
    | Conversation
    | Older
    | Commands
    | Permissions
    | Blob
    | Search
    | Around
    | Newer
    | Export
    | Import
    | HistoryInfo
    | Preview
)

QUERIES: dict[str, type] = {kind.__name__: kind for kind in AnyQuery.__args__}
SERVICES: tuple[ComponentName, ...] = tuple(
    ComponentName(name) for name in ("bus", "config", "agents", "router", "history", "gateway")
)
