"""The process of the history: follows the log into the store, and answers what is asked of it.

It decides nothing. Effect and cursor of a stretch of the log are one write; what waits is taken
together, so that a history that is late catches up. It never keeps anybody waiting: nothing that
another process does depends on its speed.
"""

import asyncio
from pathlib import Path

from sk_bus import service as harness
from sk_bus.blobs import BlobStore
from sk_bus.contract import Heartbeat, Resync
from sk_bus.events import ChannelsChanged, Kind
from sk_bus.model import Cursor
from sk_bus.seconds import until_next
from sk_bus.vocabulary import decoded
from sk_bus.wire import Batch
from sk_history import answers, restoring
from sk_history.fold import READ, Fold
from sk_history.indexing import Indexer
from sk_history.intake import Intake
from sk_history.opening import lost, opened, say
from sk_history.roster import Roster
from sk_history.store import Store, StoreError
from sk_history.tidying import Tidying

# Deltas and public events, commands (for the end of things) and the router's memory.
_KINDS = Kind.PUBLIC | Kind.DELTA | Kind.COMMAND | Kind.RESULT | Kind.INTERNAL
_WAITING = 256  # batches read ahead of the store
_TOGETHER = 64  # batches in one write


class _Signals:
    """What the parts of this process tell each other."""

    def __init__(self) -> None:
        self.moved = asyncio.Condition()  # more of the log has been taken in
        self.deleted = asyncio.Event()  # a channel is gone, its text not yet


def main() -> None:
    harness.run("history", _history)


async def _history(service: harness.Service) -> None:
    store, folder = await opened(service)
    fold = Fold(store)
    roster = Roster(folder)
    if await lost(service, store):
        fold.apply(ChannelsChanged(channels=roster.read()))
    cursor = _present(service, store, fold)
    roster.write(tuple(fold.channels.values()))
    service.advance(cursor.seq)
    blobs = BlobStore(Path(service.hello.directory))
    signals = _Signals()
    head = (await service.bus.hello()).head

    async def answer() -> None:
        await _caught_up(service, head, signals.moved)
        intake = Intake(service, store, fold, blobs, signals.moved)
        answers.register(service, store, fold, blobs, intake)

    await _announce(service, store, fold)
    waiting: asyncio.Queue[Batch | Resync] = asyncio.Queue(_WAITING)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_read(service, cursor, waiting))
            tasks.create_task(_write(service, store, fold, waiting, signals))
            tasks.create_task(answer())
            tasks.create_task(_enroll(fold, roster, signals.moved))
            tasks.create_task(_sync(service, store, fold))
            whole = answers.beginning(blobs)
            tasks.create_task(Indexer(store, fold, whole, signals.moved).run())
            tasks.create_task(Tidying(service, store, fold, signals.deleted).run())
    except* StoreError as group:
        # RocksDB's handle is of no use any more: the next process opens it anew, and what this one
        # hadn't written is in the journal.
        say(service, f"{group.exceptions[0]}; make room, or give the right to write there")
        await service.report_now()
        raise


def _present(service: harness.Service, store: Store, fold: Fold) -> Cursor:
    """Bring the rows into the present epoch; where the history stands in it."""
    epoch = service.hello.epoch
    if fold.cursor is None or fold.cursor.epoch != epoch:
        fold.new_epoch()
        cursor = Cursor(epoch=epoch, seq=0)
        store.write(fold.writes(cursor))
        store.sync()
        return cursor
    return fold.cursor


async def _announce(service: harness.Service, store: Store, fold: Fold) -> None:
    """In a new epoch, say what was kept."""
    epoch = service.hello.epoch
    producer = await service.bus.producer("history")
    if producer.position != epoch:
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(producer.run())
            *pasts, restored = restoring.word(store, fold)
            for past in pasts:
                producer.put([past], producer.position)
            producer.put([restored], epoch)
            await producer.drained()
            sending.cancel()
        service.log.info("restored %d conversations in epoch %d", len(fold.channels), epoch)
    service.position = epoch


async def _caught_up(service: harness.Service, head: int, moved: asyncio.Condition) -> None:
    """Wait until everything is taken in that was said before we began, up to ``head``.

    Nothing is answered before: whoever asks in the moment of a restart gets an answer that is late,
    not one that is old, and finds the rows in the present epoch.
    """
    begin = service.hello.epoch  # where nothing has been said yet, the head stands here
    async with moved:
        await moved.wait_for(lambda: max(service.cursor, begin) >= head)


async def _read(
    service: harness.Service, cursor: Cursor, waiting: asyncio.Queue[Batch | Resync]
) -> None:
    async for item in service.bus.follow(cursor):
        if item.epoch != service.hello.epoch:
            return  # the harness is about to end this process; the next one begins that epoch
        if not isinstance(item, Heartbeat):
            await waiting.put(item)


async def _write(
    service: harness.Service,
    store: Store,
    fold: Fold,
    waiting: asyncio.Queue[Batch | Resync],
    signals: _Signals,
) -> None:
    while True:
        items = [await waiting.get()]
        while len(items) < _TOGETHER and not waiting.empty():
            items.append(waiting.get_nowait())
        cursor, dropped = fold.cursor, fold.dropped
        for item in items:
            if isinstance(item, Resync):
                cursor = _resynchronised(service, fold, item)
            elif item.count:
                _apply(fold, item)
                cursor = Cursor(epoch=item.epoch, seq=item.last)
        if cursor is None or cursor == fold.cursor:
            continue
        store.write(fold.writes(cursor))
        service.advance(cursor.seq)
        async with signals.moved:
            signals.moved.notify_all()
        if fold.dropped != dropped:
            signals.deleted.set()


def _resynchronised(service: harness.Service, fold: Fold, item: Resync) -> Cursor:
    if fold.cursor is not None and fold.cursor.seq:
        # Below the floor: the bus keeps what the history hasn't read, so something is wrong.
        service.log.error(
            "the journal no longer has what follows %d; answers between it and %d are lost",
            fold.cursor.seq,
            item.head,
        )
    return Cursor(epoch=item.epoch, seq=item.head)


def _apply(fold: Fold, batch: Batch) -> None:
    if not batch.kinds & _KINDS:
        return
    fold.at = batch.last
    for data in batch.raw():
        if data.get("type") in READ:
            event = decoded(data)
            if event is not None:
                fold.apply(event)


async def _enroll(fold: Fold, roster: Roster, moved: asyncio.Condition) -> None:
    """Keep the list of channels beside the database, too."""
    while True:
        async with moved:
            await moved.wait()
        roster.write(tuple(fold.channels.values()))


async def _sync(service: harness.Service, store: Store, fold: Fold) -> None:
    """A power cut costs no more than the last second. Damage that was met is said."""
    synced: Cursor | None = None
    while True:
        await asyncio.sleep(until_next(asyncio.get_running_loop().time()))
        if store.trouble and "historyProblem" not in service.details:
            service.log.error("%s", store.trouble)
            say(service, f"{store.trouble}; bring back a copy of it, or an export")
        if fold.cursor != synced:
            synced = fold.cursor
            await asyncio.to_thread(store.sync)


if __name__ == "__main__":
    main()
