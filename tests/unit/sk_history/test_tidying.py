"""After a deletion: blobs that only the journal named go too, be they ever so young."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sk_bus import ids
from sk_bus.blobs import BlobStore
from sk_bus.contract import Heartbeat, Hello
from sk_bus.events import ChannelsChanged
from sk_bus.model import BlobRef, Channel, Cursor
from sk_bus.paths import Instance
from sk_bus.service import Service
from sk_bus.wire import Batch
from sk_history import sweep
from sk_history.fold import Fold
from sk_history.store import MemoryStore
from sk_history.tidying import Tidying
from tests.support.patience import PATIENCE

EPOCH, HEAD = 1_000_000, 1_000_009
HERE = ids.channel_id(1)


class Pruned:
    """A bus whose journal needs nothing any more; ``named`` is what a line in it names."""

    def __init__(self, named: str) -> None:
        self.prunes = 0
        self._named = named

    async def prune(self, *, timeout: float = 0) -> int:
        self.prunes += 1
        return HEAD + 1

    async def hello(self, *, timeout: float = 0) -> Hello:
        return Hello(epoch=EPOCH, head=HEAD, floor=HEAD, directory="", config="", open=True)

    async def follow(self, after: Cursor) -> AsyncIterator[Batch | Heartbeat]:
        yield Batch(EPOCH, HEAD, 1, 0, self._named.encode())  # type: ignore[arg-type]
        yield Heartbeat(epoch=EPOCH, head=HEAD)


class Deleted:
    """A history in which a channel was just deleted, and the blobs of its data directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.blobs = BlobStore(directory)
        self.line, self.told = self.blobs.put("x" * 20_000), self.blobs.put("y" * 20_000)
        self.store = MemoryStore()
        self.fold = Fold(self.store)
        self.fold.apply(ChannelsChanged(channels=(Channel(id=HERE, name="here"),)))
        self.fold.apply(ChannelsChanged(channels=()))
        self.store.write(self.fold.writes(Cursor(epoch=EPOCH, seq=HEAD)))
        self.bus = Pruned(named=self.told.sha256)

    def tidying(self) -> Tidying:
        hello = Hello(
            epoch=EPOCH, head=HEAD, floor=HEAD, directory=str(self.directory), config="", open=True
        )
        instance = Instance(name="test", state=self.directory, run=self.directory)
        bus: Any = self.bus
        service = Service("history", instance, bus, hello)
        return Tidying(service, self.store, self.fold, asyncio.Event())

    def there(self, blob: BlobRef) -> bool:
        return self.blobs.path(blob.sha256).exists()

    async def until_tidy(self) -> None:
        task = asyncio.ensure_future(self.tidying().run())
        async with asyncio.timeout(PATIENCE):
            while self.fold.dropped:  # noqa: ASYNC110  it says nothing when it is done
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_a_blob_that_was_too_young_to_go_goes_when_it_is_not_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "gone_for", lambda: 0.3)
    deleted = Deleted(tmp_path)
    asyncio.run(deleted.until_tidy())
    assert not deleted.there(deleted.line)
    assert deleted.there(deleted.told)
    assert deleted.bus.prunes == 1


def test_until_then_the_deletion_is_remembered_also_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "gone_for", lambda: 3600.0)
    deleted = Deleted(tmp_path)

    async def killed() -> None:
        task = asyncio.ensure_future(deleted.tidying().run())
        async with asyncio.timeout(PATIENCE):
            while not deleted.bus.prunes:  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(killed())
    assert deleted.there(deleted.line)
    deleted.store.write(deleted.fold.writes(Cursor(epoch=EPOCH, seq=HEAD)))
    deleted.fold = Fold(deleted.store)
    assert deleted.fold.dropped == (HERE,)
    monkeypatch.setattr(sweep, "gone_for", lambda: 0.0)
    asyncio.run(deleted.until_tidy())
    assert not deleted.there(deleted.line)
