"""How batches and requests look as bytes. Everything that travels is msgpack.

A **batch** is the unit of the log: what one producer appended in one step, or one command. On the
PUB socket it is two frames: a header of fixed size, and the body, a msgpack list
``[ts, mono, producer, position, [event, ...]]``. ``ts`` is wall time and ``mono`` CLOCK_MONOTONIC,
both in milliseconds, stamped at append. In the journal a record is the header and the body in one.
A batch may be empty: it only moves its producer's position, has no number and is not journaled.

A **request** is one frame ``[version, request id, verb, argument]`` from a DEALER, a **reply**
``[request id, ok, value]``, where a value that is not ok is a Problem as a map.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgpack

from sk_bus.codec import plain, value_of
from sk_bus.errors import MalformedError
from sk_bus.events import Kind
from sk_bus.model import Problem
from sk_bus.vocabulary import Event, decoded, encoded, kind_of

VERSION = 1
LARGEST_REQUEST = 64 * 2**20  # bytes; the bus hangs up on whoever sends more
BATCH = 0x42
HEARTBEAT = 0x48
# what, kinds, epoch, first seq, number of events
_HEADER = struct.Struct(">BBQQI")
HEADER_SIZE = _HEADER.size

Position = Any  # opaque to the bus: None, an int, or lists and maps of them


@dataclass(slots=True)
class Batch:
    """A stretch of the log. Events are unpacked when somebody looks at them."""

    epoch: int
    first: int
    count: int
    kinds: Kind
    body: bytes
    _body: list[Any] | None = None

    @property
    def last(self) -> int:
        """The seq of the last event; of an empty batch, the one before ``first``."""
        return self.first + self.count - 1

    def _unpacked(self) -> list[Any]:
        if self._body is None:
            self._body = unpacked(self.body)
        return self._body

    @property
    def ts(self) -> int:
        return int(self._unpacked()[0])

    @property
    def mono(self) -> int:
        return int(self._unpacked()[1])

    @property
    def producer(self) -> str:
        """The producer's name; for a command ``""``."""
        return str(self._unpacked()[2])

    @property
    def position(self) -> Position:
        """The producer's position after this batch."""
        return self._unpacked()[3]

    def raw(self) -> list[dict[str, Any]]:
        """The events as maps, in order; the first has seq ``first``."""
        events: list[dict[str, Any]] = self._unpacked()[4]
        return events

    def events(self) -> list[tuple[int, Event]]:
        """(seq, event) in order; events that newer code invented are left out."""
        made = []
        for seq, data in enumerate(self.raw(), self.first):
            event = decoded(data)
            if event is not None:
                made.append((seq, event))
        return made

    def header(self) -> bytes:
        return _HEADER.pack(BATCH, self.kinds, self.epoch, self.first, self.count)

    def record(self) -> bytes:
        """The batch as one journal record."""
        return self.header() + self.body


def batch_from(header: bytes, body: bytes) -> Batch:
    """The batch of two frames.

    Raises:
        MalformedError: the header is not one of ours.
    """
    try:
        what, kinds, epoch, first, count = _HEADER.unpack(header)
    except struct.error as error:
        raise MalformedError("a batch header of another size") from error
    if what != BATCH:
        raise MalformedError("a frame that is no batch")
    return Batch(epoch, first, count, Kind(kinds), body)


def batch_from_record(record: bytes) -> Batch:
    return batch_from(record[:HEADER_SIZE], record[HEADER_SIZE:])


def body_of(ts: int, mono: int, producer: str, position: Position, events: bytes) -> bytes:
    """A batch body around ``events``, which are packed already (a list of maps)."""
    head = packed([ts, mono, producer, position])
    # A list of four becomes one of five: the length stands in the first byte (fixarray).
    return bytes((head[0] + 1,)) + head[1:] + events


def packed_events(events: list[Event]) -> tuple[bytes, Kind]:
    """Events as a packed list, and the classes in it."""
    kinds = Kind(0)
    for event in events:
        kinds |= kind_of(event)
    return packed([encoded(event) for event in events]), kinds


def packed(value: Any) -> bytes:
    # JSON may hold half of a surrogate pair: an agent that sends one must not end a service.
    made: bytes = msgpack.packb(value, use_bin_type=True, unicode_errors="surrogatepass")
    return made


def packer() -> Callable[[Any], bytes]:
    """:func:`packed` in two thirds of the time, for the use of one thread."""
    made: Callable[[Any], bytes] = msgpack.Packer(
        use_bin_type=True, unicode_errors="surrogatepass"
    ).pack
    return made


def unpacked(data: bytes) -> Any:
    """The value that ``data`` stands for.

    Raises:
        MalformedError: it is not msgpack, or there is more than one value.
    """
    try:
        return msgpack.unpackb(
            data, raw=False, strict_map_key=False, unicode_errors="surrogatepass"
        )
    except (ValueError, TypeError, msgpack.UnpackException, RecursionError) as error:
        # TypeError: a map with a list for a key
        raise MalformedError("a frame that is not msgpack") from error


def heartbeat(epoch: int, head: int, reports: dict[str, Any]) -> list[bytes]:
    """A heartbeat as its two frames on the PUB socket; ``reports`` are plain maps by service."""
    return [bytes((HEARTBEAT,)), packed([epoch, head, reports])]


def heartbeat_from(body: bytes) -> tuple[int, int, dict[str, Any]]:
    """(epoch, head, reports by service).

    Raises:
        MalformedError: it is no heartbeat of ours.
    """
    match unpacked(body):
        case [int(epoch), int(head), dict(reports)]:
            return epoch, head, reports
        case _:
            raise MalformedError("a frame that is no heartbeat")


def request(request_id: int, verb: str, argument: Any) -> bytes:
    return packed([VERSION, request_id, verb, argument])


def request_from(data: bytes) -> tuple[int, str, Any]:
    """(request id, verb, argument).

    Raises:
        MalformedError: it is no request of ours.
    """
    match unpacked(data):
        case [version, int(request_id), str(verb), argument] if version == VERSION:
            return request_id, verb, argument
        case _:
            raise MalformedError("a frame that is no request of this version")


def salvaged(data: bytes) -> int | None:
    """The id of a request that is otherwise unreadable, so that its sender can be told."""
    try:
        match unpacked(data):
            case [_, int(request_id), *_]:
                return request_id
    except MalformedError:
        return None
    return None


def answer(request_id: int, value: Any) -> bytes:
    return packed([request_id, True, value])


def refusal(request_id: int, problem: Problem) -> bytes:
    return packed([request_id, False, plain(problem)])


def reply_from(data: bytes) -> tuple[int, Any | None, Problem | None]:
    """(request id, value, problem).

    Raises:
        MalformedError: it is no reply of ours.
    """
    match unpacked(data):
        case [int(request_id), True, value]:
            return request_id, value, None
        case [int(request_id), False, {"id": str(), "message": str()} as refused]:
            return request_id, None, value_of(Problem, refused)
        case _:
            raise MalformedError("a frame that is no reply")
