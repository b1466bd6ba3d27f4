"""What the sequencer asks to be done, and the values it speaks in.

Pure. Whoever performs them (:mod:`sk_bus.broker`, :mod:`sk_bus.memory`) does so in order.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from sk_bus.model import Problem
from sk_bus.wire import Batch, Position

To = Hashable  # who is to be answered: opaque, the performer's


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known under a command's id; ``seq`` is the command's, ``end`` its result's."""

    digest: bytes
    seq: int
    end: int = 0
    result: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """The time of a request in milliseconds, by the wall and by CLOCK_MONOTONIC."""

    ts: int
    mono: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a producer stands: the number of its last batch, and the position after it."""

    n: int = 0
    position: Position = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """Append, then publish. Batch, place and outcomes are written together or not at all."""

    batch: Batch
    producer: str
    place: Place
    outcomes: tuple[tuple[str, Known], ...] = ()
    opens: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    to: To
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    to: To
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Answer with :func:`replayed` of the records after ``after``, at most ``limit`` bytes."""

    to: To
    after: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """Drop what nobody needs any more, the reserve as well, and compact; then answer."""

    to: To
    below: int


Instruction = Commit | Reply | Refuse | Read | Prune
