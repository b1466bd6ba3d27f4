"""The process of the history: follows the log into the store, and answers what is asked of it.

It decides nothing. Effect and cursor of a stretch of the log are one write; what waits is taken
together, so that a history that is late catches up. It never keeps anybody waiting: nothing that
another process does depends on its speed.
"""

import asyncio
import contextlib
from pathlib import Path

from sk_bus import service as harness
from sk_bus.blobs import BlobStore
from sk_bus.contract import Heartbeat, Resync
from sk_bus.errors import RefusedError, problem
from sk_bus.events import Kind
from sk_bus.model import ChannelId, Cursor
from sk_bus.queries import (
    Around,
    Blob,
    Commands,
    Conversation,
    HistoryInfo,
    HistoryView,
    ListChannels,
    Newer,
    Older,
    Permissions,
    Search,
)
from sk_bus.seconds import until_next
from sk_bus.vocabulary import decoded
from sk_bus.wire import Batch
from sk_history import pages, records, restoring, sweep
from sk_history.asked import asked
from sk_history.finding import found
from sk_history.fold import READ, Fold
from sk_history.rocks import RocksStore
from sk_history.store import Store, StoreError
from sk_history.texts import MOST, Plain, Whole

# Deltas and public events, commands (for the end of things) and the router's memory.
_KINDS = Kind.PUBLIC | Kind.DELTA | Kind.COMMAND | Kind.RESULT | Kind.INTERNAL
_WAITING = 256  # batches read ahead of the store
_TOGETHER = 64  # batches in one write
_SWEEP_EVERY = 3600.0


def main() -> None:
    harness.run("history", _history)


async def _history(service: harness.Service) -> None:
    store = _opened(service)
    fold = Fold(store)
    directory = Path(service.hello.directory)
    cursor = _present(service, store, fold)
    # No await up to here: a query that came early finds the rows in the present epoch.
    service.advance(cursor.seq)
    _answer(service, store, fold, BlobStore(directory))
    await _announce(service, store, fold)
    waiting: asyncio.Queue[Batch | Resync] = asyncio.Queue(_WAITING)
    deleted = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_read(service, cursor, waiting))
        tasks.create_task(_write(service, store, fold, waiting, deleted))
        tasks.create_task(_sync(store, fold))
        tasks.create_task(_tidy(service, store, fold, directory, deleted))


def _opened(service: harness.Service) -> Store:
    """The store in the data directory, or where it can't be, in the run directory."""
    try:
        return RocksStore(Path(service.hello.directory) / "history")
    except StoreError as error:
        service.log.error("%s; what is said now lasts until the close", error)  # noqa: TRY400
        service.details["historyProblem"] = str(error)
        service.state = "degraded"
        return RocksStore(service.instance.run / "history")


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
    deleted: asyncio.Event,
) -> None:
    while True:
        items = [await waiting.get()]
        while len(items) < _TOGETHER and not waiting.empty():
            items.append(waiting.get_nowait())
        cursor = fold.cursor
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
        if fold.dropped:
            deleted.set()


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
    for data in batch.raw():
        if data.get("type") in READ:
            event = decoded(data)
            if event is not None:
                fold.apply(event)


async def _sync(store: Store, fold: Fold) -> None:
    """A power cut costs no more than the last second."""
    synced: Cursor | None = None
    while True:
        await asyncio.sleep(until_next(asyncio.get_running_loop().time()))
        if fold.cursor != synced:
            synced = fold.cursor
            await asyncio.to_thread(store.sync)


async def _tidy(
    service: harness.Service, store: Store, fold: Fold, directory: Path, deleted: asyncio.Event
) -> None:
    """Take deleted channels out of the files, and blobs that nothing names out of the folder."""
    while True:
        dropped = fold.dropped
        for channel in dropped:
            await asyncio.to_thread(store.compact, *records.everything_of(channel))
        fold.compacted(dropped)
        named, gone = sweep.names(store)
        removed = await asyncio.to_thread(sweep.remove, directory, named, gone)
        store.write(sweep.forgotten(directory, store))
        if removed or dropped:
            service.log.info("%d deleted channels, %d blobs removed", len(dropped), removed)
        deleted.clear()
        if not fold.dropped:
            await _until(deleted, sweep.GONE_FOR + 1 if gone else _SWEEP_EVERY)


async def _until(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


def _answer(service: harness.Service, store: Store, fold: Fold, blobs: BlobStore) -> None:
    async def channels(_: ListChannels) -> object:
        return pages.channels(fold)

    async def conversation(query: Conversation) -> object:
        return pages.conversation(store, fold, query.channel)

    async def older(query: Older) -> object:
        return pages.older(store, fold, query.channel, query.before)

    async def newer(query: Newer) -> object:
        return pages.newer(store, fold, query.channel, query.after)

    async def around(query: Around) -> object:
        return pages.around(store, fold, query.channel, query.messageId)

    async def search(query: Search) -> object:
        ready = asked(query)
        channels: list[str] = list(fold.channels)
        return await asyncio.to_thread(found, store, channels, ready, _whole(blobs))

    async def info(_: HistoryInfo) -> object:
        return await asyncio.to_thread(_info, service, store, list(fold.channels))

    async def commands(query: Commands) -> object:
        return pages.commands(store, query.agent)

    async def permissions(_: Permissions) -> object:
        return pages.permissions(fold)

    async def blob(query: Blob) -> bytes:
        return await asyncio.to_thread(_piece, blobs, query)

    service.answers(ListChannels, channels)
    service.answers(Conversation, conversation)
    service.answers(Older, older)
    service.answers(Newer, newer)
    service.answers(Around, around)
    service.answers(Search, search)
    service.answers(HistoryInfo, info)
    service.answers(Commands, commands)
    service.answers(Permissions, permissions)
    service.answers(Blob, blob)


def _whole(blobs: BlobStore) -> Whole:
    def whole(reference: Plain) -> str:
        try:
            with blobs.path(reference["sha256"]).open("rb") as file:
                return file.read(MOST).decode("utf-8", "ignore")
        except (ValueError, FileNotFoundError):
            return str(reference["head"])  # swept away under our feet, or never written

    return whole


def _info(service: harness.Service, store: Store, channels: list[ChannelId]) -> HistoryView:
    directory = Path(service.hello.directory)
    return HistoryView(
        path=str(directory),
        size=sum(_size(directory / name) for name in ("history", "blobs")),
        channels=len(channels),
        messages=sum(pages.count(store, channel) for channel in channels),
    )


def _size(folder: Path) -> int:
    """Bytes of the files in a folder, some of which may go while they are counted."""
    size = 0
    for file in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            size += file.stat().st_size
    return size


def _piece(blobs: BlobStore, query: Blob) -> bytes:
    try:
        with blobs.path(query.sha256).open("rb") as file:
            file.seek(max(query.offset, 0))
            return file.read(max(query.limit, 0))
    except (ValueError, FileNotFoundError) as error:
        raise RefusedError(
            problem("no-such-blob", "There is no blob {sha256}.", sha256=query.sha256)
        ) from error


if __name__ == "__main__":
    main()
