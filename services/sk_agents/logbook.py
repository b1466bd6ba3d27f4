"""The last lines of each agent's stderr, in a file that survives us. It publishes nothing.

Each line is kept with its place in the stream, so that one that is read again after our death is
not kept twice.
"""

import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path

LINES = 200
_LARGEST = 1024 * 1024
_TOLD = 20  # lines
_LONGEST_TOLD = 1_000  # characters


@dataclass(frozen=True, slots=True)
class Entry:
    """A line; ``end`` is the offset after it in the stderr of that life."""

    inc: int
    end: int
    text: str


class Logbook:
    """One file per agent in ``directory``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._rings: dict[str, deque[Entry]] = {}
        # What a file weighed when it was last written anew, so that it is at most half rubbish and
        # seldom written: it takes tens of milliseconds, in which no other agent is heard.
        self._weights: dict[str, int] = {}

    def add(self, agent: str, entries: list[Entry]) -> None:
        """Keep what is new of ``entries``.

        Raises:
            OSError: they can't be written.
        """
        ring = self._ring(agent)
        last = (ring[-1].inc, ring[-1].end) if ring else (-1, -1)
        new = [entry for entry in entries if (entry.inc, entry.end) > last]
        ring.extend(new)
        path = self._path(agent)
        bound = max(_LARGEST, 2 * self._weights.get(agent, 0))
        if path.exists() and path.stat().st_size > bound:
            draft = path.with_suffix(".new")
            text = _lines(list(ring))
            self._weights[agent] = len(text)  # as many bytes: json.dumps writes ASCII
            draft.write_text(text, encoding="utf-8")
            draft.replace(path)
        elif new:
            with path.open("a", encoding="utf-8") as file:
                file.write(_lines(new[-LINES:]))

    def last(self, agent: str, *, inc: int | None = None, count: int = LINES) -> tuple[str, ...]:
        """The last lines, of one life only when ``inc`` is given."""
        found = [entry.text for entry in self._ring(agent) if inc is None or entry.inc == inc]
        return tuple(found[-count:])

    def last_words(self, agent: str, inc: int) -> tuple[str, ...]:
        """The last lines of a life as its end tells them: few, none at length."""
        return tuple(line[:_LONGEST_TOLD] for line in self.last(agent, inc=inc, count=_TOLD))

    def _ring(self, agent: str) -> deque[Entry]:
        ring = self._rings.get(agent)
        if ring is None:
            ring = self._rings[agent] = deque(_read(self._path(agent)), maxlen=LINES)
        return ring

    def _path(self, agent: str) -> Path:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._directory / f"{agent}.log"


def _lines(entries: list[Entry]) -> str:
    return "".join(json.dumps([one.inc, one.end, one.text]) + "\n" for one in entries)


def _read(path: Path) -> list[Entry]:
    """What a file holds; a line that a kill left half written is no line."""
    entries = []
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    for line in text.splitlines()[-2 * LINES :]:
        try:
            match json.loads(line):
                case [int(inc), int(end), str(said)]:
                    entries.append(Entry(inc, end, said))
        except ValueError:
            continue
    return entries
