"""An export as JSON Lines: one canonical line for each channel and message, and back.

The first line says what it is and of which version. A channel's line comes before those of its
messages. Texts stand whole in their lines, big ones too. The same values make the same bytes,
whichever history they come from.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from sk_bus.codec import plain, value_of
from sk_bus.model import Channel, Message
from sk_history.texts import Plain, Whole

VERSION = 1
HEADER: Plain = {"type": "sidekicks-export", "version": VERSION}

# JSON may hold half of a surrogate pair; UTF-8 may not.
_HALVES = re.compile("[\ud800-\udfff]")
_REFERENCE = {"sha256", "length", "head"}


def line(value: Plain) -> str:
    """A value as a line, its end included."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text) + "\n"


def without_halves(value: Any) -> Any:
    """``value`` with each half of a surrogate pair replaced."""
    match value:
        case str():
            return value if value.isascii() else _HALVES.sub("\ufffd", value)
        case dict():
            return {key: without_halves(item) for key, item in value.items()}
        case list():
            return [without_halves(item) for item in value]
        case _:
            return value


def channel_line(channel: Channel) -> str:
    return line({"type": "channel", **plain(channel)})


def message_line(stored: Plain, whole: Whole) -> str:
    """A stored message as a line; ``whole`` reads a big text."""
    # By way of the value, so that fields stand in one order and none is of older code.
    message = plain(value_of(Message, stored))
    return line({"type": "message", **_mapped(message, whole)})


def kept(message: Plain, keep: Callable[[str], Any]) -> Plain:
    """A message as it is stored; ``keep`` returns a text itself, or the reference to it."""
    parts = [_kept_part(part, keep) for part in message["parts"]]
    return {**message, "parts": parts}


def _kept_part(part: Plain, keep: Callable[[str], Any]) -> Plain:
    match part:
        case {"type": "tool", "tool": tool}:
            diffs = [_with_kept(diff, ("oldText", "newText"), keep) for diff in tool["diffs"]]
            made = _with_kept(tool, ("input", "output"), keep)
            return {**part, "tool": {**made, "diffs": diffs}}
        case {"type": "other"}:
            return {**part, "raw": _kept_raw(part["raw"], keep)}
        case _:
            return _with_kept(part, ("text", "data"), keep)


def _with_kept(value: Plain, names: tuple[str, ...], keep: Callable[[str], Any]) -> Plain:
    texts = {name: keep(value[name]) for name in names if isinstance(value.get(name), str)}
    return {**value, **texts}


def _kept_raw(value: Any, keep: Callable[[str], Any]) -> Any:
    match value:
        case str():
            made = keep(value)
            return {"$blob": made} if isinstance(made, dict) else made
        case dict():
            return {key: _kept_raw(item, keep) for key, item in value.items()}
        case list():
            return [_kept_raw(item, keep) for item in value]
        case _:
            return value


def _mapped(value: Any, whole: Whole) -> Any:
    """``value`` with each reference to a big text replaced by that text."""
    match value:
        case {"$blob": dict(reference)} if len(value) == 1 and reference.keys() == _REFERENCE:
            return whole(reference)
        case dict():
            if value.keys() == _REFERENCE:
                return whole(value)
            return {key: _mapped(item, whole) for key, item in value.items()}
        case list():
            return [_mapped(item, whole) for item in value]
        case _:
            return value
