"""Writes a history as fast as it can, and notes what was acknowledged: a victim for tests.

``python -m tests.support.history_writer FOLDER NOTE``: the database, and a file of eight bytes that
holds the seq up to which everything is written. Now and then files are flushed and rewritten, and
the index is brought up to date, so that a look at any moment meets all of that half done.
"""

import asyncio
import mmap
import sys
from pathlib import Path

from sk_bus import ids
from sk_bus.events import ChannelsChanged, MessageDelta, MessageUpdated
from sk_bus.model import AgentName, Channel, Cursor, Message, Role, TextPart
from sk_history.fold import Fold
from sk_history.indexing import Indexer
from sk_history.rocks import RocksStore

ALICE = AgentName("alice")
CHANNEL = ids.channel_id(1)
TEXT = "The quick brown fox jumps over the lazy dog. " * 12


def message(seq: int, *, done: bool) -> Message:
    """The message that is written at ``seq``."""
    return Message(
        id=ids.message_id(seq),
        channel=CHANNEL,
        createdAt=seq,
        role=Role.AGENT,
        agent=ALICE,
        parts=(TextPart(text=f"{TEXT}{seq}"),) if done else (),
        done=done,
        rev=1 if done else 0,
    )


def main() -> None:
    store = RocksStore(Path(sys.argv[1]))
    fold = Fold(store)
    fold.apply(ChannelsChanged(channels=(Channel(id=CHANNEL, direct=ALICE, members=(ALICE,)),)))
    store.write(fold.writes(Cursor(epoch=1, seq=1)))
    indexer = Indexer(store, fold, lambda reference: str(reference["head"]), asyncio.Condition())
    with Path(sys.argv[2]).open("r+b") as file, mmap.mmap(file.fileno(), 8) as note:
        for seq in range(2, sys.maxsize):
            growing = message(seq, done=False)
            fold.apply(MessageUpdated(channel=CHANNEL, message=growing))
            text = f"{TEXT}{seq}"
            fold.apply(
                MessageDelta(
                    channel=CHANNEL, messageId=growing.id, index=0, kind="text", text=text, rev=1
                )
            )
            store.write(fold.writes(Cursor(epoch=1, seq=seq)))
            fold.apply(MessageUpdated(channel=CHANNEL, message=message(seq, done=True)))
            store.write(fold.writes(Cursor(epoch=1, seq=seq)))
            note[:8] = seq.to_bytes(8, "big")
            if seq % 50 == 0:
                store.sync()
            if seq % 300 == 0:
                asyncio.run(indexer.catch_up())
                store.compact(b"", b"\xff")


if __name__ == "__main__":
    main()
