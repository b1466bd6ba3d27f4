"""How fast the history finds, how much it weighs, and what storing a finished message costs.

``python -m tests.bench.search [--messages N]`` prints one JSON object; times are milliseconds. The
text is natural: Python's own manual, a sentence at a time in a seeded order, in messages of 50 to
3,000 characters. A search's yardstick is one that reads and compares every message; that of a
stored message is a raw write batch of the same rows.
"""

import argparse
import asyncio
import json
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

from rocksdict import AccessType, Options, Rdict, WriteBatch

from sk_bus import ids
from sk_bus.events import ChannelsChanged, MessageUpdated
from sk_bus.model import AgentName, Channel, Cursor, Message, Role, TextPart
from sk_bus.queries import Search
from sk_history import records
from sk_history.asked import asked
from sk_history.finding import found
from sk_history.fold import Fold
from sk_history.indexing import Indexer
from sk_history.matching import hit
from sk_history.rocks import RocksStore
from sk_history.store import Put, Write

CHANNELS = [ids.channel_id(n) for n in range(1, 21)]
AGENTS = [AgentName("alice"), AgentName("bob")]
RARE = "Heliotrope"  # in one message of the oldest hundred
ASKS = 40
STORES = 20_000  # enough that neither database is empty
SEARCHES = {
    "a frequent word": {"text": "the"},
    "the beginning of many words": {"text": "s"},
    "a rare word": {"text": RARE},
    "a frequent and a rare word": {"text": f"the {RARE}"},
    "two frequent words": {"text": "value object"},
    "a phrase": {"text": '"the same object"'},
    "a word that nobody said": {"text": "zyzzyva"},
    "a frequent word and one that nobody said": {"text": "the zyzzyva"},
    "an agent alone": {"agent": "bob"},
    "a word in a channel": {"text": "class", "channel": CHANNELS[3]},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sks") as directory:
        folder = Path(directory) / "history"
        store = RocksStore(folder)
        fold = Fold(store)
        size = _filled(store, fold, arguments.messages, random.Random(arguments.seed))
        began = time.perf_counter()
        asyncio.run(Indexer(store, fold, _whole, asyncio.Condition()).catch_up())
        indexed = time.perf_counter() - began
        store.compact(b"", b"\xff")
        figures: dict[str, Any] = {
            "messages": arguments.messages,
            "bytes of text": size,
            "database / text": round(_weight(folder) / size, 2),
            "indexed per second": round(arguments.messages / indexed),
            "first page": {what: _asked(store, fold, query) for what, query in SEARCHES.items()},
            "reading every message": _read(store, {"text": RARE}),
            "stored": _stored(store, fold, Path(directory) / "raw", random.Random(2)),
        }
        store.close()
    print(json.dumps(figures, indent=2))


def _sentences() -> list[str]:
    whole = "\n\n".join(topics.values())
    return [one for one in re.split(r"(?<=[.:])\s{1,2}(?=[A-Z\n])", whole) if len(one) > 20]


def _messages(count: int, choose: random.Random) -> Iterator[Message]:
    sentences = _sentences()
    for n in range(count):
        text = " ".join(choose.choices(sentences, k=choose.choice((1, 2, 3, 5, 9))))[:3000]
        if n == min(50, count - 1):
            text += f" {RARE}."
        agent = choose.choice(AGENTS) if n % 2 else ""
        yield Message(
            id=ids.message_id(1_700_000_000_000_000 + n * 137),
            channel=choose.choice(CHANNELS),
            createdAt=1_700_000_000_000 + n * 1000,
            role=Role.AGENT if agent else Role.USER,
            agent=agent,
            parts=(TextPart(text=text),),
            stopReason="end_turn" if agent else None,
            rev=len(text) // 5 if agent else 0,
        )


def _filled(store: RocksStore, fold: Fold, count: int, choose: random.Random) -> int:
    """Bytes of the text that was written."""
    channels = tuple(Channel(id=id_, name=id_, members=tuple(AGENTS)) for id_ in CHANNELS)
    fold.apply(ChannelsChanged(channels=channels))
    size = 0
    for n, message in enumerate(_messages(count, choose)):
        fold.apply(MessageUpdated(channel=message.channel, message=message))
        size += sum(len(part.text.encode()) for part in message.parts)  # type: ignore[union-attr]
        if n % 500 == 499:
            store.write(fold.writes(Cursor(epoch=1, seq=n)))
            if n % 20_000 == 19_999:
                print(f"{n + 1} messages", file=sys.stderr)
    store.write(fold.writes(Cursor(epoch=1, seq=count)))
    return size


def _whole(reference: dict[str, Any]) -> str:
    return str(reference["head"])


def _weight(folder: Path) -> int:
    """Bytes of the rows as they lie in files; the log before them is of a fixed size."""
    return sum(file.stat().st_size for file in folder.glob("*.sst"))


def _timed(call: Callable[[], object], times: int) -> dict[str, float]:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    taken.sort()
    return {"p50": round(statistics.median(taken), 2), "worst": round(taken[-1], 2)}


def _asked(store: RocksStore, fold: Fold, query: dict[str, Any]) -> dict[str, float]:
    def page() -> dict[str, Any]:
        return found(store.frozen(), list(fold.channels), asked(Search(**query)), _whole)

    return {**_timed(page, ASKS), "hits": len(page()["hits"])}


def _read(store: RocksStore, query: dict[str, Any]) -> dict[str, float]:
    search = asked(Search(**query))

    def read() -> None:
        for channel in CHANNELS:
            begin = records.messages_of(channel)
            for _, data in store.first(begin, records.end_of(begin)):
                hit(records.message(data), search, _whole)

    return _timed(read, 1)


def _stored(store: RocksStore, fold: Fold, folder: Path, choose: random.Random) -> dict[str, Any]:
    """A finished message, from the event to the store, beside its rows alone in a raw batch."""
    raw = Rdict(str(folder), options=_raw_options(), access_type=AccessType.read_write())
    times: dict[str, list[float]] = {"raw": [], "stored": []}

    def alone(writes: list[Write]) -> float:
        began = time.perf_counter()
        batch = WriteBatch(raw_mode=True)
        for one in writes:
            assert isinstance(one, Put)
            batch.put(one.key, one.value)
        raw.write(batch)
        return time.perf_counter() - began

    for n, message in enumerate(_messages(STORES, choose)):
        event = MessageUpdated(channel=message.channel, message=message)
        cursor = Cursor(epoch=1, seq=10**7 + n)
        began = time.perf_counter()
        fold.apply(event)
        writes = fold.writes(cursor)
        made = time.perf_counter() - began
        # Who writes second finds the rows warm: each does so by turns.
        first = alone(writes) if n % 2 else 0.0
        began = time.perf_counter()
        store.write(writes)
        written = time.perf_counter() - began
        times["stored"].append((made + written) * 1000)
        times["raw"].append((first or alone(writes)) * 1000)
    raw.close()
    figures: dict[str, Any] = {
        name: {"p50": round(statistics.median(taken), 4)} for name, taken in times.items()
    }
    figures["times raw (p50)"] = round(figures["stored"]["p50"] / figures["raw"]["p50"], 2)
    return figures


def _raw_options() -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)  # noqa: FBT003  the library's way
    return options


if __name__ == "__main__":
    main()
