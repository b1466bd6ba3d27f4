"""Runs of deltas as one line: what a person wants to see of an answer that grows.

Pure: entries in, entries out, in order; what is held back comes with the next other event, or
when :meth:`Folding.flush` says that it has waited long enough.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One event, or a run of ``count`` deltas that begins with it and lasted ``lasted`` ms."""

    epoch: int
    seq: int
    ts: int
    event: dict[str, Any]
    count: int = 1
    lasted: int = 0
    characters: int = 0


class Folding:
    """Joins neighbouring deltas of one part of one message."""

    def __init__(self) -> None:
        self._held: Entry | None = None

    def add(self, entry: Entry) -> list[Entry]:
        """What can be shown now that ``entry`` has come."""
        if entry.event.get("type") != "message:delta":
            return [*self.flush(), entry]
        held = self._held
        text = entry.event.get("text") or ""
        if held is None or _run_of(held) != _run_of(entry):
            shown = self.flush()
            self._held = Entry(
                epoch=entry.epoch,
                seq=entry.seq,
                ts=entry.ts,
                event=entry.event,
                characters=len(text),
            )
            return shown
        self._held = Entry(
            epoch=held.epoch,
            seq=held.seq,
            ts=held.ts,
            event=held.event,
            count=held.count + 1,
            lasted=entry.ts - held.ts,
            characters=held.characters + len(text),
        )
        return []

    def flush(self) -> list[Entry]:
        """What is held back."""
        held, self._held = self._held, None
        return [] if held is None else [held]


def _run_of(entry: Entry) -> tuple[Any, ...]:
    event = entry.event
    return entry.epoch, event.get("messageId"), event.get("index"), event.get("kind")
