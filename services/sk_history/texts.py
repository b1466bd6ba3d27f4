"""What of a message can be found: a text for each of its parts, read from the plain values of rows.

A tool call's text is its title, input, output, paths and diffs, one after the other on lines of
their own; a plan's are its steps. What an agent sent of a kind that nobody knows isn't searched.
"""

from collections.abc import Callable, Iterator
from typing import Any

Plain = dict[str, Any]
# Reads the whole of a text that is kept elsewhere; takes the plain value of its reference.
Whole = Callable[[Plain], str]

# Characters of a part that are searched: an answer is far shorter, a tool's output may not be.
MOST = 1_000_000


def text_of(part: Plain, whole: Whole) -> str:
    """What a search looks at of one part."""
    match part:
        case {"type": "text" | "thought", "text": text}:
            found = _text(text, whole)
        case {"type": "tool", "tool": tool}:
            found = "\n".join(text for text in _of_tool(tool, whole) if text)
        case {"type": "plan", "steps": steps}:
            found = "\n".join(step["content"] for step in steps)
        case {"type": "resource", **rest}:
            named = (rest.get("name") or "", rest.get("uri") or "")
            found = "\n".join(text for text in (*named, _text(rest.get("text"), whole)) if text)
        case {"type": "image", **rest}:
            found = rest.get("uri") or ""
        case _:
            found = ""
    return found[:MOST]


def tools_of(message: Plain) -> Iterator[tuple[int, Plain]]:
    """(index of the part, tool call) of a message's tool calls."""
    for index, part in enumerate(message.get("parts", ())):
        if part.get("type") == "tool":
            yield index, part["tool"]


def paths_of(tool: Plain) -> Iterator[str]:
    """The paths that a tool call names."""
    for one in (*tool.get("locations", ()), *tool.get("diffs", ())):
        yield one["path"]


def _of_tool(tool: Plain, whole: Whole) -> Iterator[str]:
    yield tool.get("title") or ""
    yield _text(tool.get("input"), whole)
    yield _text(tool.get("output"), whole)
    yield from dict.fromkeys(paths_of(tool))
    for diff in tool.get("diffs", ()):
        yield _text(diff.get("oldText"), whole)
        yield _text(diff.get("newText"), whole)


def _text(text: Any, whole: Whole) -> str:
    match text:
        case str():
            return text
        case {"sha256": _}:
            return whole(text)
        case _:
            return ""
