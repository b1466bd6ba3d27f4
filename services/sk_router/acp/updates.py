"""What a ``session/update`` says, as a change to a message.

Lenient: an unknown kind is kept raw, a bad item is left out of its list. Which message changes, and
whether the change is shown, is decided elsewhere.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Any

from sk_bus.model import (
    ImagePart,
    OtherPart,
    Part,
    PlanPart,
    PlanStep,
    ResourcePart,
    SlashCommand,
    Text,
    Usage,
)
from sk_router.acp.messages import objects, short, string, text
from sk_router.texts import size

# Lists told whole in one event: each as long as it may be, with strings as long as they may be (in
# bytes), is less than 256 KB.
_MOST_STEPS = 200
_LONGEST_STEP = 1_000
_MOST_COMMANDS = 300
_LONGEST_NAME = 100
_LONGEST_DESCRIPTION = 500
_LABEL = 50

# Known, and not part of a message: a session's title, its modes and options, notices, and what
# only a client that asks for it is sent.
_PASSED_OVER = frozenset(
    {
        "session_info_update",
        "current_mode_update",
        "config_option_update",
        "notice",
        "compaction_update",
        "compaction_summary_chunk",
        "plan_update",
        "plan_removed",
        "subagent_update",
        "session_message",
        "session_message_chunk",
    }
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """More text of the answer or of a thought; ``message`` is ACP's messageId."""

    kind: str
    text: Text
    message: str


@dataclass(frozen=True, slots=True)
class Block:
    """A part that comes whole."""

    part: Part


@dataclass(frozen=True, slots=True)
class ToolPatch:
    id: str
    patch: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlanSaid:
    part: PlanPart


@dataclass(frozen=True, slots=True)
class UsageSaid:
    usage: Usage


@dataclass(frozen=True, slots=True)
class CommandsSaid:
    commands: tuple[SlashCommand, ...]


@dataclass(frozen=True, slots=True)
class UserSaid:
    """The user's words: ours come back from some agents, others begin a turn of the agent's own."""

    text: Text
    message: str


@dataclass(frozen=True, slots=True)
class PassedOver:
    kind: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A kind that nobody told us of, as it came."""

    raw: dict[str, Any]


Change = (
    Chunk
    | Block
    | ToolPatch
    | PlanSaid
    | UsageSaid
    | CommandsSaid
    | UserSaid
    | PassedOver
    | Unknown
)


def change(update: Any) -> Change:
    """What an update says."""
    if not isinstance(update, dict):
        return PassedOver("no object")
    kind = update.get("sessionUpdate")
    match kind:
        case "agent_message_chunk" | "agent_thought_chunk":
            return _chunk("text" if kind == "agent_message_chunk" else "thought", update)
        case "user_message_chunk":
            content = update.get("content")
            said = text(content.get("text")) if isinstance(content, dict) else None
            return UserSaid(said or "", string(update.get("messageId")))
        case "tool_call" | "tool_call_update":
            tool_id = string(update.get("toolCallId"))
            return ToolPatch(tool_id, update) if tool_id else Unknown(update)
        case "plan":
            return PlanSaid(PlanPart(steps=_steps(update.get("entries"))))
        case "usage_update":
            return _usage(update)
        case "available_commands_update":
            return CommandsSaid(_commands(update.get("availableCommands")))
        case str() if kind in _PASSED_OVER:
            return PassedOver(kind)
        case _:
            return Unknown(update)


def _chunk(kind: str, update: dict[str, Any]) -> Change:
    content = update.get("content")
    if not isinstance(content, dict):
        return Unknown(update)
    said = text(content.get("text"))
    if content.get("type", "text") == "text" and said is not None:
        return Chunk(kind, said, string(update.get("messageId")))
    return Block(block(content))


def block(content: dict[str, Any]) -> Part:
    """A content block that isn't text."""
    match content.get("type"):
        case "image" if (data := text(content.get("data"))) is not None:
            mime = string(content.get("mimeType"), "application/octet-stream")
            uri = string(content.get("uri")) or None
            return ImagePart(mimeType=mime, data=data, uri=uri)
        case "resource_link" if uri := string(content.get("uri")):
            return ResourcePart(
                uri=uri,
                name=string(content.get("title")) or string(content.get("name")),
                mimeType=string(content.get("mimeType")) or None,
            )
        case "resource" if isinstance(content.get("resource"), dict):
            inner = content["resource"]
            return ResourcePart(
                uri=string(inner.get("uri")),
                mimeType=string(inner.get("mimeType")) or None,
                text=text(inner.get("text")),
            )
        case _:
            return OtherPart(raw=content)


def _steps(entries: Any) -> tuple[PlanStep, ...]:
    told = (entry for entry in objects(entries) if text(entry.get("content")) is not None)
    return tuple(
        PlanStep(
            content=short(entry["content"], _LONGEST_STEP),
            priority=short(entry.get("priority"), _LABEL, "medium"),
            status=short(entry.get("status"), _LABEL, "pending"),
        )
        for entry in islice(told, _MOST_STEPS)
    )


def _usage(update: dict[str, Any]) -> Change:
    used, size = update.get("used"), update.get("size")
    if not isinstance(used, int | float):
        return PassedOver("usage_update without used")
    return UsageSaid(Usage(used=_count(used), size=_count(size)))


def _count(value: Any) -> int:
    """Tokens: never negative, and never more than a number on a page can be."""
    return int(min(max(value, 0), 2**53)) if isinstance(value, int | float) else 0


def _commands(listed: Any) -> tuple[SlashCommand, ...]:
    made = []
    for item in objects(listed):
        name = string(item.get("name"))
        hint = item.get("input")
        # Cut, a name would be another's.
        if not name or size(name) > _LONGEST_NAME:
            continue
        made.append(
            SlashCommand(
                name=name,
                description=short(item.get("description"), _LONGEST_DESCRIPTION),
                hint=short(hint.get("hint"), _LONGEST_NAME) if isinstance(hint, dict) else "",
            )
        )
        if len(made) == _MOST_COMMANDS:
            break
    return tuple(made)
