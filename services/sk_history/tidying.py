"""After a deletion no trace: the text goes out of the database's files, the journal, the blobs.

Dropped rows still stand in files until these are rewritten, and what was said stands in the bus's
journal until nobody needs that stretch any more. So this asks, again and again, until both are
done; a process that is killed on the way finds the deleted channels' ids and goes on.
"""

import asyncio
import re
from contextlib import aclosing
from pathlib import Path

from sk_bus import service as harness
from sk_bus.contract import Resync
from sk_bus.model import ChannelId, Cursor
from sk_bus.wire import Batch
from sk_history import records, sweep
from sk_history.fold import Fold
from sk_history.store import DamagedError, Store

_EVERY = 3600.0
# The others say each second how far they have come, and the router makes its snapshots at once;
# where somebody lags behind, the journal isn't rewritten over and over.
_AGAIN, _LATER = 1.0, 60.0
_SHA256 = re.compile(rb"[0-9a-f]{64}")


class Tidying:
    """Takes deleted channels out of all files, and blobs that nothing names."""

    def __init__(
        self, service: harness.Service, store: Store, fold: Fold, deleted: asyncio.Event
    ) -> None:
        self._service = service
        self._store = store
        self._fold = fold
        self._deleted = deleted
        self._directory = Path(service.hello.directory)

    async def run(self) -> None:
        """Tidy whenever there is reason to, for ever."""
        rewritten: set[ChannelId] = set()
        while True:
            self._deleted.clear()
            dropped = self._fold.dropped
            if not rewritten.issuperset(dropped):
                await self._rewrite(dropped)
                rewritten.update(dropped)
            try:
                waits = await self._sweep(deleted=bool(dropped))
            except DamagedError as error:
                # Who can't read what is named removes nothing.
                self._service.log.error("no blobs are removed: %s", error)  # noqa: TRY400
                waits = False
            if not waits:
                # Up to here a process that is killed does it all once more.
                self._fold.compacted(dropped)
                rewritten.difference_update(dropped)
            if rewritten.issuperset(self._fold.dropped):
                await self._until_deleted(sweep.gone_for() + 1 if waits else _EVERY)

    async def _rewrite(self, dropped: tuple[ChannelId, ...]) -> None:
        """Rewrite the files in which deleted rows stand, and have the journal do the same."""
        seq = self._fold.dropped_at
        for channel in dropped:
            await asyncio.to_thread(self._store.compact, *records.everything_of(channel))
        pause = _AGAIN
        floor = await self._service.bus.prune()
        while floor <= seq:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LATER)
            floor = await self._service.bus.prune()
        self._service.log.info("%d deleted channels are out of all files", len(dropped))

    async def _sweep(self, *, deleted: bool) -> bool:
        """Remove blobs; whether some are to go that are too young yet."""
        named, gone = sweep.names(self._store)
        if deleted:
            # Lines of agents that were too long for an event: only the journal named them.
            gone |= sweep.unnamed(self._directory, named | await self._in_journal())
        removed = await asyncio.to_thread(sweep.remove, self._directory, named, gone)
        self._store.write(sweep.forgotten(self._directory, self._store))
        if removed:
            self._service.log.info("%d blobs removed", removed)
        return any(sweep.there(self._directory, sha256) for sha256 in gone)

    async def _in_journal(self) -> set[str]:
        """What may be the name of a blob, in all that the journal has."""
        found: set[str] = set()
        hello = await self._service.bus.hello()
        start = Cursor(epoch=hello.epoch, seq=0)
        async with aclosing(self._service.bus.follow(start)) as follow:
            async for item in follow:
                if isinstance(item, Batch):
                    found.update(name.decode() for name in _SHA256.findall(item.body))
                last = item.last if isinstance(item, Batch) else item.head
                if last >= hello.head or (isinstance(item, Resync) and item.epoch != hello.epoch):
                    break
        return found

    async def _until_deleted(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._deleted.wait()
        except TimeoutError:
            return
