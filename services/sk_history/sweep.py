"""Removing blobs that nothing names any more. Knows the rows that name blobs, and their files.

A blob whose naming rows are all deleted goes a minute later. One that no row ever named (a raw
line of an agent, say, which only the journal knows) goes when it is a week old: by then nobody
reads that journal for more than curiosity. Whoever writes a blob again makes its file young again,
so that one whose event is still on its way is never touched.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from sk_bus.tuning import tuned
from sk_history import records
from sk_history.store import Drop, Store, Write

# Seconds since a blob was written last.
GONE_FOR = 60
UNNAMED_FOR = 7 * 24 * 3600


def names(store: Store) -> tuple[set[str], set[str]]:
    """(blobs that rows name, blobs that only deleted rows named)."""
    named: set[str] = set()
    gone: set[str] = set()
    for sha256, row in _names(store):
        (gone if store.get(row) is None else named).add(sha256)
    return named, gone - named


def remove(directory: Path, named: set[str], gone: set[str], *, now: float | None = None) -> int:
    """Delete the files in ``blobs`` that may go; return how many went.

    ``now`` is in seconds since 1970.
    """
    now = time.time() if now is None else now
    removed = 0
    for file in _files(directory / "blobs"):
        if file.name in named:
            continue
        if file.stat().st_mtime < now - (gone_for() if file.name in gone else UNNAMED_FOR):
            file.unlink(missing_ok=True)
            removed += 1
    return removed


def gone_for() -> float:
    """Seconds that a blob stays which only deleted rows named."""
    return tuned("blob-gone", GONE_FOR)


def unnamed(directory: Path, named: set[str]) -> set[str]:
    """The blobs that are there and not in ``named``."""
    return {file.name for file in _files(directory / "blobs")} - named


def there(directory: Path, sha256: str) -> bool:
    """Whether the file of a blob is still there."""
    return (directory / "blobs" / sha256[:2] / sha256).exists()


def forgotten(directory: Path, store: Store) -> list[Write]:
    """The writes that forget the deleted rows' names of blobs whose files are gone."""
    there = {file.name for file in _files(directory / "blobs")}
    return [
        Drop(records.blob_key(sha256, row))
        for sha256, row in _names(store)
        if sha256 not in there and store.get(row) is None
    ]


def _names(store: Store) -> Iterator[tuple[str, bytes]]:
    for key, _ in store.first(records.BLOBS, records.end_of(records.BLOBS)):
        yield records.blob_and_row(key)


def _files(root: Path) -> Iterator[Path]:
    if root.is_dir():
        for folder in root.iterdir():
            if folder.is_dir():
                yield from (file for file in folder.iterdir() if file.is_file())
