"""The nouns of the specification, as frozen values.

Field names are those of the specification and of ACP, letter for letter, so that JSON, TypeScript
and Python agree without a table of names. Times are integers: milliseconds since 1970 (UTC).
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NewType

ChannelId = NewType("ChannelId", str)
MessageId = NewType("MessageId", str)
PermissionId = NewType("PermissionId", str)
CommandId = NewType("CommandId", str)
SessionId = NewType("SessionId", str)
AgentName = NewType("AgentName", str)
ComponentName = NewType("ComponentName", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that a person should know, worded in English and ready to be worded otherwise.

    ``id`` names the kind (``no-such-channel``), ``params`` fills the sentence in any language.
    ``line`` and ``column`` (from 1) stand on problems of the configuration file only.
    """

    id: str
    message: str
    params: dict[str, Any] = field(default_factory=dict)
    line: int | None = None
    column: int | None = None
    warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobRef:
    """A string too big for an event: the whole is a file named by its SHA-256.

    ``length`` counts UTF-8 bytes of the whole, ``head`` is its beginning.
    """

    sha256: str
    length: int
    head: str


Text = str | BlobRef


# --- agents ---------------------------------------------------------------------------------


class AgentState(StrEnum):
    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    BUSY = "busy"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentView:
    """One agent as a person sees it. ``memory``: bytes (PSS) of its process group."""

    name: AgentName
    title: str
    icon: str = ""
    description: str = ""
    state: AgentState = AgentState.STOPPED
    error: Problem | None = None
    outdated: bool = False
    stopping: bool = False
    memory: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    name: str
    description: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRule:
    """A request that fits ``kind`` and the globs is answered with ``answer`` without asking."""

    kind: str
    answer: str
    path: str | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """What may be said aloud of a configured agent; the rest is behind ``digest``.

    ``digest`` is the SHA-256 of the whole definition, and the name of its file in the run
    directory. ``cwd`` is absolute. ``startTimeout`` is in milliseconds. ``mcpServers`` counts the
    MCP servers, ``mcpTransports`` says of each whether it is ``stdio``, ``http`` or ``sse``.
    """

    name: AgentName
    title: str
    digest: str
    cwd: str
    icon: str = ""
    description: str = ""
    startTimeout: int = 30_000
    permissions: tuple[PermissionRule, ...] = ()
    mcpServers: int = 0
    mcpTransports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """``stopIdleAgentsAfter`` is in milliseconds; 0 means never."""

    maxRunningAgents: int = 3
    stopIdleAgentsAfter: int = 600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicConfig:
    """The configuration in force, without anything secret."""

    theme: Literal["system", "light", "dark"] = "system"
    language: Literal["system", "en", "fr"] = "system"
    limits: Limits = Limits()
    agents: tuple[AgentConfig, ...] = ()
    keepUnfinished: bool = False


# --- channels and messages ------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A conversation; ``direct`` names the only agent of a direct one, else it is empty."""

    id: ChannelId
    name: str = ""
    description: str = ""
    direct: AgentName | Literal[""] = ""
    members: tuple[AgentName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    path: str
    newText: Text
    oldText: Text | None = None
    newFile: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call. ``kind`` and ``status`` are open sets: an unknown one is kept as it came."""

    id: str
    title: str = ""
    kind: str = "other"
    status: str = "pending"
    input: Text = ""
    output: Text = ""
    locations: tuple[Location, ...] = ()
    diffs: tuple[Diff, ...] = ()
    ended: Literal["cancelled", "unreported"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    content: str
    priority: str = "medium"
    status: str = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Markdown that the author wrote."""

    type: Literal["text"] = "text"
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtPart:
    type: Literal["thought"] = "thought"
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPart:
    type: Literal["tool"] = "tool"
    tool: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPart:
    type: Literal["plan"] = "plan"
    steps: tuple[PlanStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """``data`` is base64, as in ACP."""

    type: Literal["image"] = "image"
    mimeType: str
    data: Text = ""
    uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePart:
    type: Literal["resource"] = "resource"
    uri: str
    name: str = ""
    mimeType: str | None = None
    text: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherPart:
    """A block of a kind that we don't know, kept as it came."""

    type: Literal["other"] = "other"
    raw: dict[str, Any]


Part = TextPart | ThoughtPart | ToolPart | PlanPart | ImagePart | ResourcePart | OtherPart


class Role(StrEnum):
    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. ``rev`` counts the deltas that are in ``parts`` already.

    ``code`` stands on system messages only; ``answers`` is the id of the user's message that this
    one answers, ``during`` of the one that was being answered when a system message came up that
    answers none: so it is shown beside those answers, in the order of ids.
    """

    id: MessageId
    channel: ChannelId
    createdAt: int
    role: Role
    agent: AgentName | Literal[""] = ""
    answers: MessageId | None = None
    during: MessageId | None = None
    parts: tuple[Part, ...] = ()
    done: bool = True
    queued: bool = False
    stopReason: str | None = None
    error: Problem | None = None
    code: str | None = None
    rev: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens in an agent's context window; ``size`` is 0 when unknown."""

    used: int
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionOption:
    """An option as the agent offered it; ``kind`` is a hint from an open set."""

    optionId: str
    name: str
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """A request that waits for a person's answer."""

    id: PermissionId
    channel: ChannelId
    agent: AgentName
    messageId: MessageId
    toolCall: ToolCall
    options: tuple[PermissionOption, ...]
    rejections: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingFor:
    """Whose turn keeps this channel waiting: ``agent`` is answering in ``channel``."""

    agent: AgentName
    channel: ChannelId


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """A place in the log. ``seq`` is the last one seen; 0 means before everything."""

    epoch: int
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One supervised process of Sidekicks. ``since`` in ms; ``pid`` 0 while it is down."""

    component: ComponentName
    state: Literal["running", "starting", "down", "degraded", "hung"]
    pid: int
    restarts: int = 0
    since: int = 0
