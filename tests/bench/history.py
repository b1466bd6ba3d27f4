"""How fast the history answers at a million messages, beside raw range reads of the same rows.

``python -m tests.bench.history [--messages N]`` prints one JSON object; times are milliseconds. A
page is measured as a service answers it, bytes for the wire included; raw is the range read alone,
by rocksdict and nothing of ours. The rows are made by direct batch writes in a temporary directory.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from rocksdict import AccessType, Rdict, ReadOptions

from sk_bus import ids
from sk_bus.codec import plain
from sk_bus.events import ChannelsChanged, MessageDelta, MessageUpdated
from sk_bus.model import AgentName, Channel, Cursor, Message, MessageId, Role, TextPart
from sk_bus.vocabulary import Event, decoded
from sk_bus.wire import Batch, answer, body_of, packed_events
from sk_history import pages, records
from sk_history.fold import READ, Fold
from sk_history.rocks import RocksStore, options
from sk_history.store import Put

ALICE = AgentName("alice")
HERE = ids.channel_id(1)
ASKS = 300
DELTAS = 100_000
BATCH = 50  # deltas in a batch, as they come from a fast agent
TEXT = "The quick brown fox jumps over the lazy dog, and **says so** in `code`.\n" * 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    choose = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="skb") as directory:
        store = RocksStore(Path(directory) / "history")
        filled = _filled(store, arguments.messages)
        fold = Fold(store)
        # A handle of its own, with a cache of its own: neither reads what the other has warmed.
        raw = Rdict(
            str(Path(directory) / "history"), options=options(), access_type=AccessType.read_only()
        )
        seqs = [choose.randrange(200, arguments.messages) for _ in range(ASKS)]
        print(
            json.dumps(
                {
                    "messages": arguments.messages,
                    "written per second": round(arguments.messages / filled),
                    "conversation": _conversation(store, fold, raw),
                    "older": _older(store, fold, raw, seqs),
                    "deltas folded per second": _deltas(store, fold),
                },
                indent=2,
            )
        )
        raw.close()
        store.close()


def _filled(store: RocksStore, count: int) -> float:
    """Seconds that it took to write ``count`` messages."""
    fold = Fold(store)
    fold.apply(ChannelsChanged(channels=(Channel(id=HERE, direct=ALICE, members=(ALICE,)),)))
    store.write(fold.writes(Cursor(epoch=1, seq=1)))
    began = time.perf_counter()
    for first in range(0, count, 1000):
        store.write(
            Put(
                records.message_key(HERE, ids.message_id(seq)),
                records.sealed(plain(_message(seq))),
            )
            for seq in range(first, min(first + 1000, count))
        )
        if first % 100_000 == 0:
            print(f"{first} messages", file=sys.stderr)
    store.compact(*records.everything_of(HERE))
    return time.perf_counter() - began


def _message(seq: int, *, done: bool = True) -> Message:
    return Message(
        id=ids.message_id(seq),
        channel=HERE,
        createdAt=1_700_000_000_000 + seq,
        role=Role.AGENT if seq % 2 else Role.USER,
        agent=ALICE if seq % 2 else "",
        parts=(TextPart(text=TEXT),) if done else (),
        done=done,
        stopReason="end_turn" if done and seq % 2 else None,
    )


def _read(rows: Rdict, end: bytes) -> list[Any]:
    """The rows of a page before ``end``, and one more, as a page is read."""
    before = ReadOptions()
    before.set_iterate_upper_bound(end)
    return list(islice(rows.items(backwards=True, read_opt=before), pages.PAGE + 1))


def _conversation(store: RocksStore, fold: Fold, rows: Rdict) -> dict[str, Any]:
    end = records.end_of(records.messages_of(HERE))

    def raw() -> None:
        _read(rows, end)

    def asked() -> None:
        answer(1, [plain(pages.conversation(store, fold, HERE)), 1, 1])

    return _compared([raw] * ASKS, [asked] * ASKS)


def _older(store: RocksStore, fold: Fold, rows: Rdict, seqs: list[int]) -> dict[str, Any]:
    def raw(seq: int) -> None:
        _read(rows, records.message_key(HERE, ids.message_id(seq)))

    def asked(seq: int) -> None:
        before = MessageId(ids.message_id(seq))
        answer(1, [plain(pages.older(store, fold, HERE, before)), 1, 1])

    return _compared(
        [lambda seq=seq: raw(seq) for seq in seqs], [lambda seq=seq: asked(seq) for seq in seqs]
    )


def _compared(raw: list[Callable[[], None]], asked: list[Callable[[], None]]) -> dict[str, Any]:
    times: dict[str, list[float]] = {"raw": [], "asked": []}
    for n, pair in enumerate(zip(raw, asked, strict=True)):
        both = list(zip(("raw", "asked"), pair, strict=True))
        for name, call in both if n % 2 else both[::-1]:
            began = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - began) * 1000)
    made: dict[str, Any] = {}
    for name, taken in times.items():
        taken.sort()
        made[name] = {
            "p50": round(statistics.median(taken), 3),
            "p99": round(taken[int(len(taken) * 0.99)], 3),
        }
    made["times raw (p50)"] = round(made["asked"]["p50"] / made["raw"]["p50"], 2)
    return made


def _deltas(store: RocksStore, fold: Fold) -> int:
    """Deltas a second from a batch's bytes into the database, one write for each batch."""
    seq = 10_000_000
    message = _message(seq + 1, done=False)
    batches = [_batch([MessageUpdated(channel=HERE, message=message)], seq)]
    for first in range(0, DELTAS, BATCH):
        deltas: list[Event] = [
            MessageDelta(
                channel=HERE, messageId=message.id, index=0, kind="text", rev=rev + 1, text="word "
            )
            for rev in range(first, first + BATCH)
        ]
        batches.append(_batch(deltas, seq + 1 + first))
    began = time.perf_counter()
    for batch in batches:
        for data in batch.raw():
            if data["type"] in READ:
                event = decoded(data)
                assert event is not None
                fold.apply(event)
        store.write(fold.writes(Cursor(epoch=1, seq=batch.last)))
    taken = time.perf_counter() - began
    grown = fold.so_far(message.id)
    assert grown is not None
    assert grown.rev == DELTAS
    return round(DELTAS / taken)


def _batch(events: list[Event], first: int) -> Batch:
    data, kinds = packed_events(events)
    return Batch(1, first, len(events), kinds, body_of(1, 1, "router", first, data))


if __name__ == "__main__":
    main()
