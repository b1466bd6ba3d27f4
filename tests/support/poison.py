"""What a stranger writes to run where it is shown: in each field that an agent or a file can fill.

Script for a page, sequences for a terminal, and marks that turn text around, in one string.
"""

import json
from pathlib import Path
from typing import Any

MARK = "poison"
SCRIPT = "<img src=x onerror=alert(1)><svg onload=alert(2)>\"'`"
TERMINAL = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m\x08\x7f\r\u202e"
POISON = f"{MARK}{SCRIPT}{TERMINAL}"
ADDRESS = f"javascript:alert(3)//{MARK}"

# What says which kind of update, block or answer it is: with another value it is another thing.
_KEPT = {"sessionUpdate", "type", "optionId"}

_TEXT = {"type": "text", "text": "said"}
_CALL: dict[str, Any] = {
    "title": "Run",
    "kind": "execute",
    "status": "completed",
    "rawInput": {"command": ["rm", "-rf"], "note": "why"},
    "rawOutput": {"out": "done"},
    "locations": [{"path": "/x", "line": 3}],
    "content": [
        {"type": "content", "content": _TEXT},
        {"type": "diff", "path": "/x", "oldText": "old", "newText": "new"},
        {"type": "terminal", "terminalId": "term"},
    ],
}
_UPDATES: tuple[dict[str, Any], ...] = (
    {"sessionUpdate": "agent_thought_chunk", "content": _TEXT},
    {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "x", "description": "y", "input": {"hint": "z"}}],
    },
    {"sessionUpdate": "plan", "entries": [{"content": "s", "priority": "high", "status": "done"}]},
    {"sessionUpdate": "tool_call", "toolCallId": "t", **_CALL},
    {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "resource_link", "uri": "file:///x", "name": "x", "title": "x"},
    },
    {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "resource", "resource": {"uri": "x", "mimeType": "y", "text": "z"}},
    },
    {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zy8+", "uri": "x"},
    },
    {"sessionUpdate": "session_info_update", "title": "t"},
    {"sessionUpdate": "agent_message_chunk", "content": _TEXT},
)


def poisoned(value: Any, poison: str = POISON) -> Any:
    """``value`` with every text in it replaced."""
    match value:
        case str():
            return poison
        case dict():
            return {
                key: item if key in _KEPT else poisoned(item, poison) for key, item in value.items()
            }
        case list():
            return [poisoned(item, poison) for item in value]
        case _:
            return value


def updates() -> list[dict[str, Any]]:
    """Updates of every kind whose every field is poison; addresses are scripts."""
    strange = {"sessionUpdate": POISON, POISON: {POISON: POISON}}
    links = [poisoned(one, ADDRESS) for one in _UPDATES[4:7]]
    call = {**poisoned(_CALL), "kind": "execute", "status": "completed"}
    tools = [{"sessionUpdate": "tool_call", "toolCallId": "t2", **call}]
    return [*map(poisoned, _UPDATES[:-1]), *links, *tools, strange, poisoned(_UPDATES[-1])]


def permission() -> dict[str, Any]:
    """The params of a permission request whose every field is poison."""
    options = [
        {"optionId": "yes", "name": POISON, "kind": "allow_once"},
        {"optionId": POISON, "name": POISON, "kind": POISON},
    ]
    return {"toolCall": {"toolCallId": POISON, **poisoned(_CALL)}, "options": options}


def written(folder: Path) -> tuple[Path, Path]:
    """Files for the scripted agent: what it says (``!play``), and what it asks (``!ask``)."""
    said, asked = folder / "updates.jsonl", folder / "permission.json"
    said.write_text("".join(json.dumps(one) + "\n" for one in updates()), encoding="utf-8")
    asked.write_text(json.dumps(permission()), encoding="utf-8")
    return said, asked
