"""What a log's line says of itself: when, and how grave. Pure; the files are others' business."""

import datetime as dt
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

LEVELS = ("debug", "info", "warning", "error")

# Ours and supervisord's lines begin alike; it writes WARN and CRIT.
_HEAD = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3} (\w+)")
_WORDS = {"warn": "warning", "crit": "error", "critical": "error", "trac": "debug", "blat": "debug"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a record: local time in seconds since 1970, and a level of LEVELS."""

    at: float
    level: str


def head(line: str) -> Head | None:
    """What stands before the message; ``None`` for a line that goes on with the one before."""
    match = _HEAD.match(line)
    if match is None:
        return None
    word = match[2].lower()
    level = _WORDS.get(word, word)
    at = dt.datetime.fromisoformat(match[1]).astimezone().timestamp()
    return Head(at=at, level=level if level in LEVELS else "info")


class Chosen:
    """Picks records at least as grave as ``level``, not before ``since``, and all their lines."""

    def __init__(self, *, level: str | None, since: float | None, text: re.Pattern[str]) -> None:
        self._least = LEVELS.index(level) if level else 0
        self._since = since or 0.0
        self._text = text
        self._within = level is None and since is None

    def holds(self, line: str) -> bool:
        """Whether ``line``, the next one of its file, is wanted."""
        begins = head(line)
        if begins is not None:
            grave = LEVELS.index(begins.level) >= self._least
            self._within = grave and begins.at >= self._since
        return self._within and self._text.search(line) is not None


def last(lines: Iterable[str], chosen: Chosen, count: int) -> list[str]:
    """The last ``count`` of the ``lines`` that are wanted, however far back they stand."""
    return list(deque(filter(chosen.holds, lines), maxlen=count))
