"""Which database the history uses: that of the data directory, or one that lasts until the close.

The log decides what is right. An epoch that was begun without the database is gone through without
it: that epoch's log knows nothing of the channels in it, and read into it would delete them. An
epoch that was begun with it waits for it: the journal keeps what it misses.
"""

import asyncio
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from sk_bus import service as harness
from sk_bus.opening import IN_MEMORY
from sk_history import migrating, records
from sk_history.fold import Fold
from sk_history.migrating import NewerSchemaError
from sk_history.rocks import RocksStore
from sk_history.store import Put, Store, StoreError

_CURSOR = records.meta("cursor")
_LIFE = records.meta("life")
_REBUILT = records.meta("rebuilt")
_AGAIN = 2.0


class _ElsewhereError(StoreError):
    """The database is whole, and of no use in this epoch."""


class Opened(NamedTuple):
    """A store, and the folder that it lies in."""

    store: Store
    folder: Path


async def opened(service: harness.Service) -> Opened:
    """The store of this epoch; where it can't be had now but is needed, wait for it."""
    directory = Path(service.hello.directory)
    memory = service.instance.run / "history"
    fallback = _fallback(memory, service.hello.epoch)
    if fallback is not None:
        say(service, _reason(memory))
        return Opened(fallback, memory.parent)
    while True:
        try:
            store = _store(directory / "history")
            await _check(service, store)
        except StoreError as error:
            if not isinstance(error, _ElsewhereError) and await _begun(service):
                service.log.error("%s; trying again", error)  # noqa: TRY400
                say(service, f"{error}; it is tried again every {_AGAIN:g} s")
                await service.report_now()
                await asyncio.sleep(_AGAIN)
                continue
            service.log.error("%s; what is said now lasts until the close", error)  # noqa: TRY400
            made = _made(memory, f"{error}; {IN_MEMORY}")
            say(service, _reason(memory))
            return Opened(made, memory.parent)
        _unsay(service)
        return Opened(store, directory)


async def lost(service: harness.Service, store: Store) -> bool:
    """Whether the database is a new one in an epoch that was begun with another; that is said.

    It is said until the epoch ends: what the journal no longer had is missing.
    """
    epoch = service.hello.epoch
    now = store.get(_CURSOR) is None and await _begun(service)
    if now:
        store.write([Put(_REBUILT, records.row(epoch))])
    rebuilt = store.get(_REBUILT)
    if rebuilt is not None and records.value(rebuilt) == epoch:
        service.log.error("the database was lost, and made anew from the journal")
        say(
            service,
            f"the history in {service.hello.directory} was lost and made anew from what the "
            "journal still had: older messages are missing; bring back a copy of it, or an export",
        )
    return now


def _store(folder: Path) -> Store:
    store = RocksStore(folder)
    try:
        # Room for one row: a disk that is full is found before anybody counts on it.
        store.write([*migrating.migrated(store), Put(_LIFE, records.row(os.getpid()))])
        store.sync()
        Fold(store)  # what it reads at its start can be read
    except NewerSchemaError as error:
        store.close()
        raise StoreError(str(error)) from error
    except StoreError:
        store.close()
        raise
    return store


async def _check(service: harness.Service, store: Store) -> None:
    """Let a database pass that may take in this epoch's log.

    Raises:
        StoreError: the epoch was begun without it.
    """
    cursor = store.get(_CURSOR)
    if cursor is None or records.value(cursor)[0] == service.hello.epoch:
        return
    if await _begun(service):
        store.close()
        raise _ElsewhereError(
            f"epoch {service.hello.epoch} was begun without the database, and what was kept in "
            "its place is gone"
        )


async def _begun(service: harness.Service) -> bool:
    producer = await service.bus.producer("history")
    return bool(producer.position == service.hello.epoch)


def _fallback(memory: Path, epoch: int) -> Store | None:
    """The database in the run directory, if it is that of this epoch."""
    if not memory.is_dir():
        return None
    try:
        store = RocksStore(memory)
        cursor = store.get(_CURSOR)
        if cursor is not None and records.value(cursor)[0] == epoch:
            return store
        store.close()
    except StoreError:
        pass  # it is made anew, or not needed at all
    shutil.rmtree(memory, ignore_errors=True)
    return None


def _made(memory: Path, reason: str) -> Store:
    shutil.rmtree(memory, ignore_errors=True)
    store = RocksStore(memory)
    (memory.with_name("history.why")).write_text(reason, encoding="utf-8")
    return store


def _reason(memory: Path) -> str:
    try:
        return memory.with_name("history.why").read_text(encoding="utf-8")
    except OSError:
        return "the history lives in memory until the close"


def say(service: harness.Service, trouble: str) -> None:
    """Let people know what is wrong with the history."""
    service.details["historyProblem"] = trouble
    service.state = "degraded"


def _unsay(service: harness.Service) -> None:
    if service.details.pop("historyProblem", None) is not None:
        service.state = "running"
