"""The messages of a log as a plain client makes them, map by map; shares no code with the history.

Also tells what of it doesn't fit: a delta that skips a revision, a done message that says something
else than its deltas did.
"""

from collections.abc import Callable
from typing import Any

from tests.chaos.evidence import Event, Seen

Whole = Callable[[Any], str]


class Folded:
    """Every message by its id, after all events. ``whole`` gives the text of a Text."""

    def __init__(self, whole: Whole) -> None:
        self._whole = whole
        self.messages: dict[str, Event] = {}
        self.problems: list[str] = []

    def fold(self, seen: list[Seen]) -> "Folded":
        for one in seen:
            event = one.event
            if event["type"] == "message:updated":
                self._updated(one.seq, event["message"])
            elif event["type"] == "message:delta":
                self._delta(one.seq, event)
        return self

    def text(self, message: Event, kind: str = "text") -> str:
        return "".join(
            self._whole(part["text"]) for part in message.get("parts", ()) if part["type"] == kind
        )

    def _updated(self, seq: int, message: Event) -> None:
        before = self.messages.get(message["id"])
        if before is not None and not before["done"] and message["done"]:
            for kind in ("text", "thought"):
                said, done = self.text(before, kind), self.text(message, kind)
                if said != done:
                    self.problems.append(
                        f"{seq}: {message['id']} is done with other {kind} than its deltas had"
                        f" ({differ(said, done)})"
                    )
        self.messages[message["id"]] = message

    def _delta(self, seq: int, delta: Event) -> None:
        message = self.messages.get(delta["messageId"])
        if message is None:
            self.problems.append(f"{seq}: a delta of {delta['messageId']}, which never began")
            return
        if delta["rev"] != message.get("rev", 0) + 1:
            self.problems.append(
                f"{seq}: {delta['messageId']} went from rev {message.get('rev', 0)} to "
                f"{delta['rev']}"
            )
        parts = list(message.get("parts", ()))
        index = delta["index"]
        if delta.get("part") is not None:
            parts[index : index + 1] = [delta["part"]]
        elif index == len(parts):
            parts.append({"type": delta["kind"], "text": delta.get("text", "")})
        elif index > len(parts):
            self.problems.append(f"{seq}: a delta of part {index}, and there are {len(parts)}")
            return
        else:
            grown = self._whole(parts[index]["text"]) + delta.get("text", "")
            parts[index] = {**parts[index], "text": grown}
        self.messages[message["id"]] = {**message, "parts": parts, "rev": delta["rev"]}


def differ(one: str, other: str) -> str:
    """Where two texts part, for a person to read."""
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    at = min(len(one), len(other)) if at is None else at
    return f"from {at} on: {one[at : at + 30]!r} and {other[at : at + 30]!r}"
