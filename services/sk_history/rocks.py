"""The store in RocksDB: raw keys and values, one WriteBatch a write.

A write error (a full disk) breaks RocksDB's handle for good: it is raised, and the process ends
and opens the store anew.
"""

import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import cast

from rocksdict import (
    AccessType,
    BlockBasedOptions,
    BottommostLevelCompaction,
    Cache,
    CompactOptions,
    DBCompressionType,
    Options,
    Rdict,
    RdictIter,
    ReadOptions,
    WriteBatch,
)

from sk_history.store import DamagedError, Drop, Put, Reading, Rows, StoreError, Write

_KB = 1 << 10
_MB = 1 << 20
_AT_ONCE = 51  # rows that a walk backwards takes before it looks whether it has gone too far


class RocksStore:
    """An ordered map in a folder of its own, which one process at a time may open."""

    def __init__(self, folder: Path, *, patience: float = 2.0) -> None:
        """Open the folder, waiting ``patience`` seconds for a process that is letting go of it.

        Raises:
            StoreError: it is in use elsewhere, damaged, or can't be written.
        """
        self.trouble = ""
        self._folder = folder
        deadline = time.monotonic() + patience
        while True:
            try:
                self._rows = Rdict(
                    str(folder), options=options(), access_type=AccessType.read_write()
                )
            except Exception as error:  # rocksdict raises plain exceptions
                if "lock" not in str(error).lower() or time.monotonic() > deadline:
                    raise StoreError(f"{folder} can't be opened: {error}") from error
                time.sleep(0.05)
            else:
                return

    def get(self, key: bytes) -> bytes | None:
        with self.reading():
            found: bytes | None = self._rows.get(key)
            return found

    def first(self, begin: bytes, end: bytes, *, limit: int | None = None) -> Rows:
        if limit == 0:
            return []
        rows = self._rows.items(from_key=begin, read_opt=_before(end))
        made = cast("Rows", list(islice(rows, limit)))
        if len(made) != limit:
            self._check(made[-1][0] if made else begin)
        return made

    def last(self, begin: bytes, end: bytes, *, limit: int) -> Rows:
        if limit == 0:
            return []
        rows = self._rows.items(backwards=True, read_opt=_before(end))
        made: Rows = []
        while len(made) < limit:
            # Asking each row whether it is the last would cost a fifth more.
            some = cast("Rows", list(islice(rows, min(limit - len(made), _AT_ONCE))))
            made += some
            if not some:
                self._check(made[-1][0] if made else end, forward=False)
                return made
            if some[-1][0] < begin:
                return made[: bisect_left(made, 1, key=lambda row: row[0] < begin)]
        return made

    def _check(self, key: bytes, *, forward: bool = True) -> None:
        """Make sure that a walk which ended at ``key`` has come to the end of the rows.

        One that meets damage ends as if there were no more (rocksdict 0.3.29).

        Raises:
            DamagedError: it has not.
        """
        rows = self._rows.iter()
        with self.reading():
            if forward:
                rows.seek(key)
                if rows.valid():
                    rows.next()
            else:
                rows.seek_for_prev(key)
                if rows.valid():
                    rows.prev()
            if not rows.valid():
                rows.status()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What goes wrong within is damage, and is remembered.

        Raises:
            DamagedError: something went wrong.
        """
        try:
            yield
        except Exception as error:  # rocksdict raises plain exceptions
            self.trouble = f"{self._folder} is damaged: {error}"
            raise DamagedError(self.trouble) from error

    def frozen(self) -> Reading:
        return _Frozen(self, self._rows.iter())

    def write(self, writes: Iterable[Write]) -> None:
        batch = WriteBatch(raw_mode=True)
        put = batch.put
        for write in writes:
            if isinstance(write, Put):  # nearly all are; a match takes longer than the put
                put(write.key, write.value)
            elif isinstance(write, Drop):
                batch.delete(write.key)
            else:
                batch.delete_range(write.begin, write.end)
        try:
            self._rows.write(batch)
        except Exception as error:  # rocksdict raises plain exceptions
            raise StoreError(f"{self._folder} can't be written: {error}") from error

    def sync(self) -> None:
        try:
            self._rows.flush_wal(sync=True)
        except Exception as error:
            raise StoreError(f"{self._folder} can't be written: {error}") from error

    def compact(self, begin: bytes, end: bytes) -> None:
        options = CompactOptions()
        options.set_bottommost_level_compaction(BottommostLevelCompaction.force())
        self._rows.flush(wait=True)
        self._rows.compact_range(begin, end, options)

    def close(self) -> None:
        self._rows.close()


class _Frozen:
    """The rows of one moment, for one thread.

    One iterator sees one moment, wherever it is sent; those of a snapshot don't (rocksdict 0.3.29).
    """

    def __init__(self, store: RocksStore, rows: RdictIter) -> None:
        self._store = store
        self._rows = rows

    def get(self, key: bytes) -> bytes | None:
        self._rows.seek(key)
        if not self._here():
            return None
        return self._rows.value() if self._rows.key() == key else None

    def first(self, begin: bytes, end: bytes, *, limit: int | None = None) -> Rows:
        made: Rows = []
        self._rows.seek(begin)
        while self._here() and self._rows.key() < end and len(made) != limit:
            made.append((self._rows.key(), self._rows.value()))
            self._rows.next()
        return made

    def last(self, begin: bytes, end: bytes, *, limit: int) -> Rows:
        made: Rows = []
        self._rows.seek_for_prev(end)
        if self._here() and self._rows.key() == end:
            self._rows.prev()
        while self._here() and self._rows.key() >= begin and len(made) != limit:
            made.append((self._rows.key(), self._rows.value()))
            self._rows.prev()
        return made

    def _here(self) -> bool:
        """Whether there is a row; a read error must not look like the end of the rows."""
        if self._rows.valid():
            return True
        with self._store.reading():
            self._rows.status()
        return False


def _before(end: bytes) -> ReadOptions:
    # rocksdict's lower bound doesn't hold (0.3.29): backwards, the loop itself looks for its end.
    options = ReadOptions()
    options.set_iterate_upper_bound(end)
    return options


def options() -> Options:
    """How the files are written and read."""
    made = Options(raw_mode=True)
    made.create_if_missing(True)  # noqa: FBT003  the library's way
    made.set_compression_type(DBCompressionType.lz4())
    # Most of it lies at the bottom: there a third less for a few microseconds a read.
    made.set_bottommost_compression_type(DBCompressionType.zstd())
    table = BlockBasedOptions()
    table.set_block_size(16 * _KB)  # a page of messages is 50 kB
    # What is read again is what people look at now; the rest is for the system's cache to keep.
    table.set_block_cache(Cache(8 * _MB))
    made.set_block_based_table_factory(table)
    made.set_write_buffer_size(4 * _MB)
    made.set_max_total_wal_size(64 * _MB)
    made.set_keep_log_file_num(2)
    made.set_max_log_file_size(_MB // 4)  # each deletion adds to it
    made.set_max_open_files(128)
    # A list of the files names the first key of each: one that is gone isn't to be named longer.
    made.set_max_manifest_file_size(1)
    made.set_max_background_jobs(2)
    return made
