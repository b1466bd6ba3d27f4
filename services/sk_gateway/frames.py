"""What the browsers are sent, as text: each event is encoded once, however many browsers there are.

Events pass through as they came off the bus, without becoming values of ours in between. Nothing
here knows who is sent what, or when.
"""

import json
from dataclasses import dataclass
from typing import Any

import orjson

from sk_bus.codec import plain
from sk_bus.events import Kind
from sk_bus.model import Cursor, Problem
from sk_bus.vocabulary import KINDS, kind_of_tag
from sk_bus.wire import Batch

MOST_EVENTS = 64

WANTS: dict[str, Kind] = {
    "public": Kind.PUBLIC,
    "delta": Kind.DELTA,
    "log": Kind.LOG,
    "result": Kind.RESULT,
    "internal": Kind.COMMAND | Kind.DO | Kind.FACT | Kind.INTERNAL,
}
EVERYTHING = Kind(sum(Kind))


@dataclass(frozen=True, slots=True)
class Piece:
    """One event, encoded."""

    seq: int
    data: bytes


class Bundle:
    """A batch of the bus, as pieces for those who want some classes of events."""

    __slots__ = ("_batch", "_pieces", "epoch", "first", "last")

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._pieces: dict[Kind, tuple[Piece, ...]] = {}
        self.epoch = batch.epoch
        self.first = batch.first
        self.last = batch.last

    def pieces(self, want: Kind) -> tuple[Piece, ...]:
        """The events of the wanted classes, encoded for the first who asks."""
        want &= self._batch.kinds
        found = self._pieces.get(want)
        if found is None:
            found = self._pieces[want] = _pieces(self._batch, want) if want else ()
        return found


def _pieces(batch: Batch, want: Kind) -> tuple[Piece, ...]:
    ts = batch.ts
    made = []
    for seq, event in enumerate(batch.raw(), batch.first):
        tag = event["type"]
        if (KINDS.get(tag) or kind_of_tag(tag)) & want:
            data = {key: item for key, item in event.items() if key != "type"}
            made.append(Piece(seq, encoded({"seq": seq, "ts": ts, "type": tag, "data": data})))
    return tuple(made)


def encoded(value: Any) -> bytes:
    """``value`` as JSON in UTF-8."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # Half of a surrogate pair, which an agent may send and JSON may escape.
        return json.dumps(value, separators=(",", ":")).encode()


def events(epoch: int, pieces: list[Piece]) -> str:
    """One frame of events."""
    joined = b",".join([piece.data for piece in pieces])
    return f'{{"t":"ev","epoch":{epoch},"e":[{joined.decode()}]}}'


def lines(epoch: int, pieces: tuple[Piece, ...]) -> bytes:
    """Events as lines of JSON, for programs."""
    head = f'{{"epoch":{epoch},'.encode()
    return b"".join([head + piece.data[1:] + b"\n" for piece in pieces])


def at(seq: int) -> str:
    return f'{{"t":"at","seq":{seq}}}'


def resync(cursor: Cursor) -> str:
    return f'{{"t":"resync","epoch":{cursor.epoch},"seq":{cursor.seq}}}'


def pong(id_: int, seq: int) -> str:
    return f'{{"t":"pong","id":{id_},"seq":{seq}}}'


def welcome(cursor: Cursor, *, resumed: bool, version: str, instance: str, config: str) -> str:
    return encoded(
        {
            "t": "welcome",
            "v": 1,
            "epoch": cursor.epoch,
            "seq": cursor.seq,
            "resumed": resumed,
            "version": version,
            "instance": instance,
            "config": config,
        }
    ).decode()


def result(id_: int, **fields: Any) -> str:
    """How a call ended well; ``fields`` as the protocol names them."""
    return encoded({"t": "result", "id": id_, "ok": True, **fields}).decode()


def failure(id_: int | None, problem: Problem, **fields: Any) -> str:
    """How a call ended badly; without an ``id_`` when the frame was none that has one."""
    return encoded(
        {"t": "result", "id": id_, "ok": False, "problem": plain(problem), **fields}
    ).decode()
