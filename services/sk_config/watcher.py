"""Tells when a file has changed, however it was saved; what is in it is not known here.

Watched are folders, never the file: that of the path, those of the links it leads through, and the
folder above each, so that a rename over it, a link that is turned, and a folder that is replaced
all count. Where the system doesn't tell (network file systems), a look each two seconds does.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import watchfiles

from sk_config.writing import being_written

_LOOK = 2.0  # seconds between two looks when nothing is told
_ARMED = 0.1  # seconds until the folders are surely watched: one look after that
_STEP = 100  # milliseconds between two questions to the system; costs 0.1 % of a core
_POLL = 0.15  # seconds between two looks where folders can't be watched
_SETTLE = 0.04  # seconds without a change after which an editor has written all
_SETTLED = 0.2  # seconds after which it is read as it is
_WRITTEN = 10.0  # seconds after which one that somebody keeps open for writing is read as it is
_GONE = 5.0  # seconds for which a file may be missing between delete and re-create
_LINKS = 20

Signature = tuple[int, ...] | None  # of a file; None: there is none

log = logging.getLogger("sk.config")


def signature(path: Path) -> Signature:
    """What differs whenever the file that ``path`` leads to was written or replaced."""
    try:
        info = path.stat()
    except OSError:
        return None
    return (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def folders(path: Path) -> frozenset[tuple[Path, int]]:
    """The folders to watch, each with its inode."""
    found: set[tuple[Path, int]] = set()
    for _ in range(_LINKS):
        for folder in (path.parent, path.parent.parent):
            try:
                found.add((folder, folder.stat().st_ino))
            except OSError:
                continue
        try:
            path = path.parent / path.readlink()
        except OSError:
            break
    return frozenset(found)


async def changes(path: Path, known: Signature) -> AsyncIterator[Signature]:
    """The file's signature each time it is another than ``known``, then than the last one.

    ``None`` comes only when the file has been missing for five seconds.
    """
    missing_since: float | None = None
    clock = asyncio.get_running_loop().time
    async for _ in _looks(path):
        now = signature(path)
        if now == known:
            missing_since = None
            continue
        if now is None:
            missing_since = missing_since or clock()
            if clock() - missing_since < _GONE:
                continue
        else:
            now = await _settled(path, now)
            if now is None or now == known:
                continue
        missing_since = None
        known = now
        yield now


async def written(path: Path) -> None:
    """Wait while somebody has the file open for writing, within reason."""
    clock = asyncio.get_running_loop().time
    until = clock() + _WRITTEN
    while being_written(path) and clock() < until:  # noqa: ASYNC110  nobody tells when it ends
        await asyncio.sleep(_SETTLE)


async def _settled(path: Path, now: Signature) -> Signature:
    """Wait until the file is written, and, where it is written in pieces, a fifth of a second."""
    clock = asyncio.get_running_loop().time
    until = clock() + _SETTLED
    while clock() < until:
        await asyncio.sleep(_SETTLE)
        await written(path)
        before, now = now, signature(path)
        if now == before:
            break
    return now


async def _looks(path: Path) -> AsyncIterator[None]:
    """Something moved in a folder of ``path``, or it is time for a look anyway."""
    while True:
        watched = folders(path)
        stop = asyncio.Event()
        told = watchfiles.awatch(
            *(folder for folder, _ in watched),
            watch_filter=None,
            debounce=_STEP,
            step=_STEP,
            stop_event=stop,
            recursive=False,
            ignore_permission_denied=True,
        )
        next_: asyncio.Future[object] = asyncio.ensure_future(anext(told, None))
        patience = _ARMED
        try:
            while folders(path) == watched:
                await asyncio.wait({next_}, timeout=patience)
                patience = _LOOK
                if next_.done():
                    if next_.result() is None:  # it ends by itself on Ctrl-C only
                        break
                    next_ = asyncio.ensure_future(anext(told, None))
                yield
        except OSError as error:
            # No watches left, or a folder that vanished: looking often works everywhere.
            log.warning("folders can't be watched (%s); looking every %s s", error, _POLL)
            await asyncio.sleep(_POLL)
            yield
        finally:
            stop.set()
            next_.cancel()
            await asyncio.wait({next_})
        yield
