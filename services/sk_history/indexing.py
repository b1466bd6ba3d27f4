"""Taking finished messages into the index, a little after they were stored, while all runs.

A message may be amended for two seconds after its end, so the index waits for three; a search reads
by itself what is fresh. After an upgrade or an import there is much to be done, and it is done in
stretches, each of them one write: a process that is killed goes on where it was.
"""

import asyncio

from sk_bus.model import ChannelId
from sk_history import index, migrating, records
from sk_history.fold import Fold
from sk_history.store import DamagedError, Drop, Rows, Store, Write
from sk_history.texts import Whole

_SETTLED_AFTER = 3.0
_AT_ONCE = 2 * index.BLOCK


class Indexer:
    """Brings the index up to date. ``moved`` tells that more of the log has been taken in."""

    def __init__(self, store: Store, fold: Fold, whole: Whole, moved: asyncio.Condition) -> None:
        self._store = store
        self._fold = fold
        self._whole = whole
        self._moved = moved

    async def run(self) -> None:
        """Take in what comes, for ever."""
        await self.catch_up()
        while True:
            async with self._moved:
                await self._moved.wait_for(lambda: self._fold.fresh)
            await asyncio.sleep(_SETTLED_AFTER)
            await self.catch_up()

    async def catch_up(self) -> None:
        """Take in all that is fresh."""
        while True:
            for channel in sorted(self._fold.fresh):
                self._fold.fresh.discard(channel)
                while await self._some(channel):
                    pass
            writes = migrating.marked(self._store, list(self._fold.channels))
            if not writes:
                return
            self._store.write(writes)
            self._fold.fresh.update(self._fold.channels)

    async def _some(self, channel: ChannelId) -> bool:
        """Take in some messages of a channel; whether there may be more."""
        prefix = records.fresh_of(channel)
        try:
            rows = self._store.first(prefix, prefix + b"\xff", limit=_AT_ONCE)
            if not rows:
                return False
            writes = await asyncio.to_thread(self._writes, channel, rows)
        except DamagedError:
            return False  # of its index; its messages stay fresh, and are found as such
        if channel not in self._fold.channels:
            return False  # deleted meanwhile, and nothing of it is to come back
        # One that was stored again meanwhile stays fresh.
        done = [Drop(key) for key, mark in rows if self._store.get(key) == mark]
        self._store.write([*writes, *done])
        return True

    def _writes(self, channel: ChannelId, rows: Rows) -> list[Write]:
        ids = [key[-records.ID_SIZE :] for key, _ in rows]
        frozen = self._store.frozen()

        def entries(id_: bytes) -> index.Entry | None:
            try:
                data = frozen.get(records.messages_of(channel) + id_)
                return None if data is None else index.entry(records.message(data), self._whole)
            except (records.CorruptRowError, DamagedError):
                return None

        return list(index.taking_in(frozen, channel, ids, entries))
