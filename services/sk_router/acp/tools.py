"""How a tool call follows from the patches that an agent sends of it.

Lenient: an absent or null field means unchanged, a bad item is left out of its list. Which call of
which message is meant is decided elsewhere.
"""

from dataclasses import replace
from typing import Any

import orjson

from sk_bus.model import Diff, Location, Text, ToolCall
from sk_router.acp.messages import objects, string, text
from sk_router.texts import head

_FINAL = ("completed", "failed")
_MOST_LOCATIONS = 200
_MOST_DIFFS = 50


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
        final = made.status in _FINAL
        made = replace(made, ended=None) if final else replace(made, status=before.status)
    if patch.get("rawInput") is not None:
        made = replace(made, input=_compact(patch["rawInput"]))
    if isinstance(patch.get("locations"), list):
        made = replace(made, locations=_locations(patch["locations"]))
    if isinstance(patch.get("content"), list):
        made = replace(made, output=_output(patch["content"]), diffs=_diffs(patch["content"]))
    if patch.get("rawOutput") is not None:
        raw = _compact(patch["rawOutput"])
        if _goes_on(made.output, raw, beside=isinstance(patch.get("content"), list)):
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


def _goes_on(output: Text, raw: Text, *, beside: bool) -> bool:
    """Whether ``raw`` says what ``output`` does, or more; readable output is kept otherwise.

    What came ``beside`` it as content is for people, also where it happens to be JSON.
    """
    before, after = head(output), head(raw)
    same_kind = not beside and before[:1] in ("{", "[") and after[:1] == before[:1]
    return not before or after.startswith(before) or same_kind


def _compact(value: Any) -> Text:
    """JSON without spaces; a string, or what stands for one, as it is."""
    found = text(value)
    return orjson.dumps(value).decode() if found is None else found


def _locations(listed: list[Any]) -> tuple[Location, ...]:
    made = []
    for item in objects(listed)[:_MOST_LOCATIONS]:
        line = item.get("line")
        if path := string(item.get("path")):
            made.append(Location(path=path, line=line if isinstance(line, int) else None))
    return tuple(made)


def _diffs(listed: list[Any]) -> tuple[Diff, ...]:
    made = []
    for item in objects(listed):
        new = text(item.get("newText"))
        if item.get("type") == "diff" and new is not None:
            old = text(item.get("oldText"))
            path = string(item.get("path"))
            made.append(Diff(path=path, oldText=old, newText=new, newFile=old is None))
    return tuple(made[:_MOST_DIFFS])


def _output(listed: list[Any]) -> Text:
    """The readable text among a tool's content, ANSI sequences kept."""
    said: list[Text] = []
    for item in objects(listed):
        # The wrapper is missing in an example of the protocol's own documentation.
        inner = item.get("content") if item.get("type") == "content" else item
        if isinstance(inner, dict):
            found = text(inner.get("text"))
            if found is not None:
                said.append(found)
    if len(said) == 1:
        return said[0]
    return "\n".join(head(one) for one in said)
