"""Bringing an export into the history while it runs: first the whole file is read, then it is kept.

So a file with a fault changes nothing. Messages are stored here, in batches between those of the
log; then the router is told of the channels that are new to it, and shows them, and everybody of
those that have more messages now. A process that is
killed on the way leaves messages that nobody sees yet: the same import again finds and shows them.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

from sk_bus import service as harness
from sk_bus.blobs import BlobStore
from sk_bus.codec import plain
from sk_bus.errors import RefusedError, problem
from sk_bus.events import MessagesImported
from sk_bus.internal import HistoryImported, HistoryPast
from sk_bus.model import Channel
from sk_bus.queries import Imported
from sk_bus.vocabulary import Event
from sk_bus.wire import packed
from sk_history import records, restoring
from sk_history.fold import Fold
from sk_history.importing import LONGEST_LINE, NotAnExportError, Reader, Stored, numbered
from sk_history.store import Put, Store, Write

_BATCH = 1_000_000  # bytes of rows in one write
_EVENT = 150_000  # bytes of what is told of channels in one event
_TOLD_AT_ONCE = 500
_SHOWN_WITHIN = 60.0


class Intake:
    """Where imports come in, one at a time."""

    def __init__(
        self,
        service: harness.Service,
        store: Store,
        fold: Fold,
        blobs: BlobStore,
        moved: asyncio.Condition,
    ) -> None:
        self._service = service
        self._store = store
        self._fold = fold
        self._blobs = blobs
        self._moved = moved
        self._turn = asyncio.Lock()

    async def bring(self, path: str) -> Imported:
        """Import the file at ``path``.

        Raises:
            RefusedError: it can't be read, or is no export; nothing was imported.
        """
        async with self._turn:
            try:
                await asyncio.to_thread(_check, Path(path))
                return await self._bring(Path(path))
            except OSError as error:
                why = error.strerror or str(error)
                raise RefusedError(
                    problem("cannot-read-file", "{path} can't be read: {why}.", path=path, why=why)
                ) from error
            except NotAnExportError as error:
                raise RefusedError(
                    problem(
                        "not-an-export",
                        "Line {line} of {path}: {why}. Nothing was imported; give an export in "
                        "the format of JSON Lines.",
                        line=error.line,
                        path=path,
                        why=error.why,
                    )
                ) from error

    async def _bring(self, path: Path) -> Imported:
        channels: list[Channel] = []
        new_in: Counter[str] = Counter()
        kept = 0
        here = set(self._fold.channels)
        batches = _batches(path, self._blobs)
        while True:
            batch = await asyncio.to_thread(next, batches, None)
            if batch is None:
                break
            channels += [one for one in batch if isinstance(one, Channel)]
            # A channel that is deleted meanwhile doesn't come back.
            gone = here - self._fold.channels.keys()
            stored = [one for one in batch if isinstance(one, Stored) and one.channel not in gone]
            new = [one for one in stored if self._store.get(one.key) is None]
            self._store.write(write for one in new for write in _writes(one))
            new_in.update(one.channel for one in new)
            kept += len(stored) - len(new)
        await asyncio.to_thread(self._store.sync)
        unknown = [one for one in channels if one.id not in here | self._fold.channels.keys()]
        await self._tell(unknown)
        # Who has one of the other channels before them sees no message come.
        there = here & self._fold.channels.keys()
        more = sorted(there & new_in.keys())
        await self._say([[MessagesImported(channel=id_, count=new_in[id_]) for id_ in more]])
        # The index has been waiting for the channels to be there.
        self._fold.fresh.update(one.id for one in channels)
        async with self._moved:
            self._moved.notify_all()
        messages = new_in.total()
        self._service.log.info("imported %d channels, %d messages", len(unknown), messages)
        return Imported(channels=len(unknown), messages=messages, kept=kept)

    async def _tell(self, channels: list[Channel]) -> None:
        """Tell the router of channels that it doesn't know, and wait until it has taken them in."""
        if not channels:
            return
        await self._say([event] for event in self._said(self._named(channels)))
        wanted = {channel.id for channel in channels}
        try:
            async with asyncio.timeout(_SHOWN_WITHIN), self._moved:
                await self._moved.wait_for(lambda: wanted <= self._fold.channels.keys())
        except TimeoutError as error:
            raise RefusedError(
                problem(
                    "import-unfinished",
                    "What was imported is stored, but Sidekicks doesn't show it yet; "
                    "import the file again in a while.",
                )
            ) from error

    async def _say(self, batches: Iterable[list[Event]]) -> None:
        """Publish, and wait until it stands in the log."""
        producer = await self._service.bus.producer("history")
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(producer.run())
            for events in batches:
                for first in range(0, len(events), _TOLD_AT_ONCE):
                    producer.put(events[first : first + _TOLD_AT_ONCE], producer.position)
            await producer.drained()
            sending.cancel()

    def _named(self, channels: list[Channel]) -> list[Channel]:
        """The channels under names that are free; a second direct conversation gets a name too."""
        known = self._fold.channels.values()
        names = {channel.name.casefold() for channel in known if channel.name}
        directs = {channel.direct for channel in known if channel.direct}
        made = []
        for channel in sorted(channels, key=lambda one: records.id_bytes(one.id)):
            if channel.direct and channel.direct not in directs:
                directs.add(channel.direct)
                made.append(channel)
                continue
            name = numbered(channel.name or channel.direct, names)
            names.add(name.casefold())
            made.append(replace(channel, name=name, direct=""))
        return made

    def _said(self, channels: list[Channel]) -> Iterator[HistoryImported]:
        """What is told of the channels, in events of a bounded size."""
        told: list[tuple[Channel, HistoryPast]] = []
        size = 0
        for channel in channels:
            past = restoring.past(self._store, channel)
            size += len(packed(plain(past)))
            if told and size > _EVENT:
                yield _event(told)
                told, size = [], 0
            told.append((channel, past))
        yield _event(told)


def _event(told: list[tuple[Channel, HistoryPast]]) -> HistoryImported:
    return HistoryImported(
        channels=tuple(channel for channel, _ in told),
        past=tuple(past for _, past in told if past.messages),
    )


def _writes(stored: Stored) -> Iterator[Write]:
    yield Put(stored.key, stored.row)
    yield Put(records.fresh_of_row(stored.key), b"")
    for sha256 in stored.blobs:
        yield Put(records.blob_key(sha256, stored.key), b"")


def _check(path: Path) -> None:
    """Read the whole file and keep nothing of it."""
    with _opened(path) as file:
        for _ in Reader(now=_now(), keep=None).read(_lines(file)):
            pass


def _batches(path: Path, blobs: BlobStore) -> Iterator[list[Channel | Stored]]:
    """What the file holds, in stretches of about a megabyte; big texts become blobs."""
    batch: list[Channel | Stored] = []
    size = 0

    def keep(text: str) -> object:
        return plain(blobs.kept(text))

    with _opened(path) as file:
        for one in Reader(now=_now(), keep=keep).read(_lines(file)):
            batch.append(one)
            size += len(one.row) if isinstance(one, Stored) else 0
            if size > _BATCH:
                yield batch
                batch, size = [], 0
    yield batch


def _opened(path: Path) -> IO[bytes]:
    if not path.is_absolute():
        raise FileNotFoundError(None, "its path is not absolute")
    if not path.is_file():  # a pipe would never end
        raise FileNotFoundError(None, "there is no such file")
    return path.open("rb")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    while line := file.readline(LONGEST_LINE + 1):
        yield line


def _now() -> int:
    return time.time_ns() // 1_000_000
