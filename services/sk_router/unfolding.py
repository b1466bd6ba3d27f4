"""Long strings of a frame, put back where a decision needs them whole.

The executor takes every string over 16 KB out of a frame. The text of an answer travels whole in
deltas, and a tool's output may be several texts told as one: those are read again, nothing else.
"""

from collections.abc import Callable
from typing import Any

import orjson

_CHUNKS = ("agent_message_chunk", "agent_thought_chunk")


def unfolded(line: str, text_of: Callable[[str], str]) -> str:
    """``line`` with the texts of its update whole; ``text_of`` reads a blob by its hash."""
    try:
        data = orjson.loads(line)
        update = data["params"]["update"]
        kind = update["sessionUpdate"]
    except (ValueError, KeyError, TypeError):
        return line
    if kind in _CHUNKS:
        _put_back(update.get("content"), text_of)
    elif isinstance(update.get("content"), list) and len(update["content"]) > 1:
        for item in update["content"]:
            if isinstance(item, dict) and item.get("type") == "content":
                _put_back(item.get("content"), text_of)
    else:
        return line
    try:
        return orjson.dumps(data).decode()
    except TypeError:
        return line  # deeper than can be written, and than is taken anyway


def _put_back(content: Any, text_of: Callable[[str], str]) -> None:
    match content:
        case {"text": {"$blob": {"sha256": str(sha256)}}}:
            content["text"] = (
                text_of(sha256).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            )
        case _:
            pass
