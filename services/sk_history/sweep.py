"""Removing blobs that nothing names any more. Knows the rows that name blobs, and their files.

A blob that a deleted row named goes at once. One that no row ever named (a raw line of an agent,
say, which only the journal knows) goes when it is a week old: by then nobody reads that journal
for more than curiosity, and a blob just written, whose event is still on its way, is never touched.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from sk_history import records
from sk_history.store import Drop, Store, Write

UNNAMED_FOR = 7 * 24 * 3600


def stale(store: Store) -> tuple[set[str], set[str], list[Write]]:
    """(blobs that rows name, blobs that only rows now gone named, the rows to drop for those)."""
    named: set[str] = set()
    gone: set[str] = set()
    drops: list[Write] = []
    for key, _ in store.first(records.BLOBS, records.end_of(records.BLOBS)):
        sha256, row = records.blob_and_row(key)
        if store.get(row) is None:
            gone.add(sha256)
            drops.append(Drop(key))
        else:
            named.add(sha256)
    return named, gone - named, drops


def remove(directory: Path, named: set[str], gone: set[str], *, now: float | None = None) -> int:
    """Delete the files in ``blobs`` that may go; return how many went.

    ``now`` is in seconds since 1970.
    """
    oldest = (time.time() if now is None else now) - UNNAMED_FOR
    removed = 0
    for file in _files(directory / "blobs"):
        if file.name in named:
            continue
        if file.name in gone or file.stat().st_mtime < oldest:
            file.unlink(missing_ok=True)
            removed += 1
    return removed


def _files(root: Path) -> Iterator[Path]:
    if root.is_dir():
        for folder in root.iterdir():
            if folder.is_dir():
                yield from (file for file in folder.iterdir() if file.is_file())
