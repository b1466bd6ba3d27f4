"""What was seen while everything was being killed: plain values for the checker."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sk_bus.commands import AnyCommand
from tests.chaos.records import Life

Event = dict[str, Any]

_INTERNAL = ("do:", "fact:", "timer:", "history:", "state:")


@dataclass(frozen=True, slots=True)
class Seen:
    """One event as a follower got it; ``at`` in seconds of the monotonic clock."""

    seq: int
    event: Event
    at: float


@dataclass(frozen=True, slots=True)
class Gap:
    """A page was told to begin anew at ``until``; the journal began at ``floor`` by then."""

    after: int
    until: int
    floor: int


@dataclass(slots=True)
class Witness:
    """What one follower saw, in the order in which it came."""

    name: str
    whole: bool  # follows every event; otherwise the public ones only
    began: int = 0  # the seq after which it follows
    seen: list[Seen] = field(default_factory=list)
    resyncs: int = 0
    gaps: list[Gap] = field(default_factory=list)
    reconnects: int = 0


@dataclass(slots=True)
class Asked:
    """A command, and what each time that it was sent came back."""

    command: AnyCommand
    outcomes: list[Any] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Kill:
    """Who was killed, from when until when it was not whole again (seconds, monotonic)."""

    targets: tuple[str, ...]
    at: float
    until: float


@dataclass(slots=True)
class Evidence:
    """All of it. ``lives`` are the agents' own records, ``views`` the conversations at the end.

    ``data`` is the data directory, ``left`` what still ran after the close.
    """

    data: Path
    lives: list[Life] = field(default_factory=list)
    epochs: set[int] = field(default_factory=set)
    witnesses: list[Witness] = field(default_factory=list)
    asked: dict[str, Asked] = field(default_factory=dict)
    kills: list[Kill] = field(default_factory=list)
    views: dict[str, list[Event]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    left: dict[int, str] = field(default_factory=dict)
    floor: int = 0

    @property
    def log(self) -> list[Seen]:
        """The log as the first witness saw it."""
        return self.witnesses[0].seen


def is_public(event: Event) -> bool:
    """Whether a page is shown an event of this type unasked."""
    tag = event["type"]
    if tag.startswith("cmd:"):
        return bool(tag == "cmd:result")
    return tag != "agent:log" and not tag.startswith(_INTERNAL)
