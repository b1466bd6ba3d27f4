"""What a ``session/update`` says, as a change to a message; and how tool calls are patched.

Lenient: an unknown kind is kept raw, a bad item is left out of its list, an absent or null field
means unchanged. Which message changes, and whether the change is shown, is decided elsewhere.
"""

from dataclasses import dataclass, replace
from typing import Any

import orjson

from sk_bus.model import (
    Diff,
    ImagePart,
    Location,
    OtherPart,
    Part,
    PlanPart,
    PlanStep,
    ResourcePart,
    SlashCommand,
    Text,
    ToolCall,
    Usage,
)
from sk_router.acp.messages import string, text
from sk_router.texts import head

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
_FINAL = ("completed", "failed")
_MOST_LOCATIONS = 200
_MOST_DIFFS = 50


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


def _items(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _steps(entries: Any) -> tuple[PlanStep, ...]:
    return tuple(
        PlanStep(
            content=string(entry["content"]),
            priority=string(entry.get("priority"), "medium"),
            status=string(entry.get("status"), "pending"),
        )
        for entry in _items(entries)
        if text(entry.get("content")) is not None
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
    for item in _items(listed):
        name = string(item.get("name"))
        hint = item.get("input")
        if name:
            made.append(
                SlashCommand(
                    name=name,
                    description=string(item.get("description")),
                    hint=string(hint.get("hint")) if isinstance(hint, dict) else "",
                )
            )
    return tuple(made)


def patched(tool: ToolCall | None, tool_id: str, patch: dict[str, Any]) -> ToolCall:
    """The tool call after a patch; a call that nobody announced begins with it.

    Once the turn has ended it, only its own end revives it.
    """
    before = tool or ToolCall(id=tool_id)
    made = replace(
        before,
        title=string(patch.get("title")) or before.title,
        kind=string(patch.get("kind")) or before.kind,
        status=string(patch.get("status")) or before.status,
    )
    if before.ended is not None:
        final = made.status in _FINAL and patch.get("status") is not None
        made = replace(made, ended=None) if final else replace(made, status=before.status)
    if patch.get("rawInput") is not None:
        made = replace(made, input=_compact(patch["rawInput"]))
    if isinstance(patch.get("locations"), list):
        made = replace(made, locations=_locations(patch["locations"]))
    if isinstance(patch.get("content"), list):
        made = replace(made, output=_output(patch["content"]), diffs=_diffs(patch["content"]))
    if patch.get("rawOutput") is not None:
        raw = _compact(patch["rawOutput"])
        if _goes_on(made.output, raw):
            made = replace(made, output=raw)
    streamed = _streamed(patch.get("_meta"))
    if streamed and isinstance(made.output, str):
        made = replace(made, output=made.output + streamed)
    return made


def _streamed(meta: Any) -> str:
    """More output of a terminal of the agent's own, as codex-acp and claude-agent-acp send it."""
    if not isinstance(meta, dict):
        return ""
    more = meta.get("terminal_output_delta") or meta.get("terminal_output")
    return string(more.get("data")) if isinstance(more, dict) else ""


def unfinished(tool: ToolCall) -> bool:
    return tool.status not in _FINAL and tool.ended is None


def _goes_on(output: Text, raw: Text) -> bool:
    """Whether ``raw`` says what ``output`` does, or more; readable output is kept otherwise."""
    before, after = head(output), head(raw)
    same_kind = before[:1] in ("{", "[") and after[:1] == before[:1]
    return not before or after.startswith(before) or same_kind


def _compact(value: Any) -> Text:
    """JSON without spaces; a string, or what stands for one, as it is."""
    found = text(value)
    return orjson.dumps(value).decode() if found is None else found


def _locations(listed: list[Any]) -> tuple[Location, ...]:
    made = []
    for item in _items(listed)[:_MOST_LOCATIONS]:
        line = item.get("line")
        if path := string(item.get("path")):
            made.append(Location(path=path, line=line if isinstance(line, int) else None))
    return tuple(made)


def _diffs(listed: list[Any]) -> tuple[Diff, ...]:
    made = []
    for item in _items(listed):
        new = text(item.get("newText"))
        if item.get("type") == "diff" and new is not None:
            old = text(item.get("oldText"))
            path = string(item.get("path"))
            made.append(Diff(path=path, oldText=old, newText=new, newFile=old is None))
    return tuple(made[:_MOST_DIFFS])


def _output(listed: list[Any]) -> Text:
    """The readable text among a tool's content, ANSI sequences kept."""
    said: list[Text] = []
    for item in _items(listed):
        # The wrapper is missing in an example of the protocol's own documentation.
        inner = item.get("content") if item.get("type") == "content" else item
        if isinstance(inner, dict) and inner.get("type") != "diff":
            found = text(inner.get("text"))
            if found is not None:
                said.append(found)
    if len(said) == 1:
        return said[0]
    return "\n".join(head(one) for one in said)
