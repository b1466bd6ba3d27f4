"""What a producer sends: all that was put while its last batch was in flight, as one batch.

Pure. A batch in flight is frozen: it is sent again, byte for byte, until the bus has settled it.
Batches of one producer are numbered, so that a batch that leaves the position where it was is
still told from its own repetition.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any

import msgpack

from sk_bus.codec import plain
from sk_bus.errors import TooLargeError
from sk_bus.events import CommandResult, Kind
from sk_bus.internal import HistoryRestored
from sk_bus.vocabulary import Event, encoded, kind_of
from sk_bus.wire import LARGEST_REQUEST, Batch, Position, body_of, packed, unpacked

_MOST_EVENTS = 1000
_MOST_BYTES = 512 * 1024
_LARGEST_PUT = LARGEST_REQUEST - 2**20  # there is more in a request than events


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """One batch on its way: accepted if the bus stands at (``n - 1``, ``previous``).

    ``results`` are (index in the batch, ``cmd:result`` as a map), ``opens`` tells that
    ``history:restored`` is in it: the bus never looks into ``events``.
    """

    producer: str
    epoch: int
    n: int
    previous: Position
    position: Position
    kinds: int
    count: int
    events: bytes
    results: tuple[tuple[int, dict[str, Any]], ...] = ()
    opens: bool = False

    def argument(self) -> list[Any]:
        """As it travels in a request."""
        return [
            self.producer,
            self.epoch,
            self.n,
            self.previous,
            self.position,
            self.kinds,
            self.count,
            self.events,
            self.results,
            self.opens,
        ]


@dataclass(slots=True)
class _Put:
    events: list[bytes]
    size: int
    kinds: Kind
    results: list[tuple[int, dict[str, Any]]]
    opens: bool
    position: Position


class Assembly:
    """Puts go in, frozen batches come out, one at a time."""

    def __init__(self, producer: str, epoch: int, n: int, position: Position) -> None:
        self._producer = producer
        self._epoch = epoch
        self._n = n
        self._waiting: deque[_Put] = deque()
        self._flying: Append | None = None
        self.position: Position = position

    @property
    def empty(self) -> bool:
        """Nothing waits and nothing is in flight."""
        return self._flying is None and not self._waiting

    def put(self, events: list[Event], position: Position) -> None:
        """Queue events and the position after them.

        Raises:
            TooLargeError: the bus would hang up on them again and again; nothing was queued.
        """
        self._waiting.append(_packed(events, position))

    def next(self) -> Append | None:
        """The batch to send: the one in flight, or what waits."""
        if self._flying is None and self._waiting:
            self._flying = self._cut()
        return self._flying

    def settled(self) -> None:
        """The bus has the batch in flight."""
        assert self._flying is not None
        self.position = self._flying.position
        self._n = self._flying.n
        self._flying = None

    def _cut(self) -> Append:
        events: list[bytes] = []
        size = 0
        kinds = Kind(0)
        results: list[tuple[int, dict[str, Any]]] = []
        opens = False
        position: Position = None
        while self._waiting:
            put = self._waiting[0]
            # One put is never cut: its position is true only after the last of its events.
            if events and (
                len(events) + len(put.events) > _MOST_EVENTS or size + put.size > _MOST_BYTES
            ):
                break
            self._waiting.popleft()
            results += [(len(events) + index, data) for index, data in put.results]
            events += put.events
            size += put.size
            kinds |= put.kinds
            opens = opens or put.opens
            position = put.position
        return Append(
            producer=self._producer,
            epoch=self._epoch,
            n=self._n + 1,
            previous=self.position,
            position=plain(position),
            kinds=int(kinds),
            count=len(events),
            events=array_of(events),
            results=tuple(results),
            opens=opens,
        )


def check(events: list[Event]) -> None:
    """See that the events can be put at once.

    Raises:
        TooLargeError: they can't.
    """
    _packed(events, None)


def _packed(events: list[Event], position: Position) -> _Put:
    made = _Put([], 0, Kind(0), [], opens=False, position=position)
    size = 0
    for index, event in enumerate(events):
        data = encoded(event)
        raw = packed(data)
        made.events.append(raw)
        made.size += len(raw)
        made.kinds |= kind_of(event)
        if isinstance(event, CommandResult):
            made.results.append((index, data))
            size += len(raw)  # it travels twice
        elif isinstance(event, HistoryRestored):
            made.opens = True
    size += made.size
    if size > _LARGEST_PUT:
        largest = max(range(len(events)), key=lambda index: len(made.events[index]))
        raise TooLargeError(size, _LARGEST_PUT, encoded(events[largest])["type"])
    return made


def array_of(items: list[bytes]) -> bytes:
    """A msgpack list of values that are packed already."""
    header: bytes = msgpack.Packer().pack_array_header(len(items))
    return header + b"".join(items)


def array_header(count: int) -> bytes:
    """How a msgpack list of ``count`` values begins."""
    header: bytes = msgpack.Packer().pack_array_header(count)
    return header


def rest_of(batch: Batch, after: int) -> Batch:
    """``batch`` without its events up to ``after``, for a follower whose cursor lies inside it."""
    ts, mono, producer, position, events = unpacked(batch.body)
    left = events[after + 1 - batch.first :]
    body = body_of(ts, mono, producer, position, packed(left))
    return Batch(batch.epoch, after + 1, len(left), batch.kinds, body)
