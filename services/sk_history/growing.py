"""A message that is still growing: deltas go in, the message so far comes out.

Text is kept in pieces and joined when somebody looks, so that a long answer costs what it is long
and not its square. Nothing here knows of rows.
"""

from dataclasses import replace
from typing import Any

from sk_bus.codec import plain, value_of
from sk_bus.events import MessageDelta
from sk_bus.model import Message, Part, TextPart, ThoughtPart

# What a stretch of deltas holds for each part that it touched: [index, kind, text, part]
Step = list[Any]


class Growing:
    """One message between its beginning and its end."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self._parts: list[Part] = list(message.parts)
        self._pieces: dict[int, list[str]] = {}
        self.rev = message.rev

    def add(self, delta: MessageDelta) -> None:
        """Take in one delta. A delta that is in already changes nothing."""
        if delta.rev <= self.rev:
            return
        self.rev = delta.rev
        self._step(delta.index, delta.kind, delta.text, delta.part)

    def take(self, stretch: "Stretch") -> None:
        """Take in a whole stretch, read back from its row."""
        self.rev = stretch.rev
        for index, kind, text, part in stretch.steps:
            self._step(index, kind, text, None if part is None else _part(part))

    def message(self) -> Message:
        """The message so far."""
        for index, pieces in self._pieces.items():
            self._parts[index] = _grown(self._parts[index], "".join(pieces))
        self._pieces.clear()
        return replace(self._message, parts=tuple(self._parts), rev=self.rev)

    def _step(self, index: int, kind: str, text: str | None, part: Part | None) -> None:
        if part is not None:
            self._pieces.pop(index, None)
            if index < len(self._parts):
                self._parts[index] = part
            else:
                self._parts.append(part)
            return
        if index >= len(self._parts):
            self._parts.append(ThoughtPart(text="") if kind == "thought" else TextPart(text=""))
        self._pieces.setdefault(index, []).append(text or "")


class Stretch:
    """Deltas that follow each other, in as few steps as possible; one row in the store.

    ``first`` and ``rev`` are the revs of its first and its last delta.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.rev = first
        self.steps: list[Step] = []
        self._pieces: list[str] = []

    def add(self, delta: MessageDelta) -> None:
        self.rev = delta.rev
        if delta.part is not None:
            self._join()
            if self.steps and self.steps[-1][0] == delta.index and self.steps[-1][3] is not None:
                self.steps.pop()  # replaced before anybody wrote it down
            self.steps.append([delta.index, delta.kind, None, plain(delta.part)])
            return
        same = self._pieces and self.steps[-1][0] == delta.index
        if not same:
            self._join()
            self.steps.append([delta.index, delta.kind, "", None])
        self._pieces.append(delta.text or "")

    def plain(self) -> list[Any]:
        """The stretch as it is stored."""
        self._join()
        return [self.rev, self.steps]

    @classmethod
    def stored(cls, first: int, value: list[Any]) -> "Stretch":
        made = cls(first)
        made.rev, made.steps = value
        return made

    def _join(self) -> None:
        if self._pieces:
            self.steps[-1][2] = "".join(self._pieces)
            self._pieces = []


def _part(data: dict[str, Any]) -> Part:
    part: Part = value_of(Part, data)  # type: ignore[arg-type]  # a union is no type
    return part


def _grown(part: Part, text: str) -> Part:
    match part:
        case TextPart(text=str(before)):
            return TextPart(text=before + text)
        case ThoughtPart(text=str(before)):
            return ThoughtPart(text=before + text)
        case _:
            # A fault of the writer; the message when done, which comes whole, mends it.
            return part
