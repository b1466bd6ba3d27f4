"""The log on disk: batches, positions and outcomes in one RocksDB, each commit one WriteBatch.

Keys: ``b<seq>`` a record, by the first of its numbers; ``p<name>`` a producer's place; ``c<id>`` a
command's outcome, ``t<seq>`` its id and time again, so that old ones are found; ``s<seq>`` the end
of a stretch and its size; ``m<name>`` the epoch and what belongs to it. RocksDB is in raw mode.
"""

import contextlib
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rocksdict
from rocksdict import (
    AccessType,
    BlockBasedOptions,
    Cache,
    Options,
    Rdict,
    ReadOptions,
    WriteBatch,
)

from sk_bus.instructions import Commit, Known, Place
from sk_bus.retention import Segment, Segments
from sk_bus.tuning import tuned
from sk_bus.wire import batch_from_record, packed, unpacked

_WEEK = 7 * 24 * 3600 * 1000


class JournalError(Exception):
    """RocksDB said no. After a failed write its handle is of no more use: exit and begin anew."""


class Journal:
    """The journal of one data directory.

    ``read_only`` looks at one that nobody has open, and leaves every byte as it is.
    """

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        if not read_only:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        access = AccessType.read_only() if read_only else AccessType.read_write()
        with _rocks("open the journal"):
            self._db = Rdict(str(directory), options=_options(), access_type=access)
        self.epoch = int(self._meta("epoch", 0))
        self.open = bool(self._meta("open", default=False))
        self.segments = _segments()
        self._measure()
        newest = next(self._records(backwards=True), None)
        self.head = self.epoch if newest is None else batch_from_record(newest).last
        self.floor = self._first()

    # --- reading --------------------------------------------------------------------------

    def places(self) -> dict[str, Place]:
        """Every producer's place."""
        made = {}
        for key, value in self._range(b"p", b"q"):
            n, position = unpacked(value)
            made[key[1:].decode()] = Place(n=n, position=position)
        return made

    def outcome(self, id_: str) -> Known | None:
        with _rocks("read an outcome"):
            value = self._db.get(b"c" + id_.encode("utf-8", "surrogatepass"))
        if value is None:
            return None
        digest, seq, end, result = unpacked(value)
        return Known(digest=digest, seq=seq, end=end, result=result)

    def replay(self, after: int, limit: int) -> list[bytes]:
        """The records that hold what comes after ``after``: about ``limit`` bytes, at least one."""
        records: list[bytes] = []
        size = 0
        for record in self._records(from_seq=after):
            if batch_from_record(record).last <= after:
                continue
            records.append(record)
            size += len(record)
            if size >= limit:
                break
        return records

    # --- writing --------------------------------------------------------------------------

    def commit(self, commit: Commit) -> None:
        """Write batch, place and outcomes together."""
        batch = commit.batch
        write = WriteBatch(raw_mode=True)
        segment: Segment | None = None
        if batch.count:
            record = batch.record()
            write.put(_at(b"b", batch.first), record)
            segment = self.segments.added(batch.last, len(record))
        if segment is not None:
            write.put(_at(b"s", segment.last), packed(segment.size))
        if commit.producer:
            place = commit.place
            write.put(b"p" + commit.producer.encode(), packed([place.n, place.position]))
        for id_, known in commit.outcomes:
            value = packed([known.digest, known.seq, known.end, known.result])
            write.put(b"c" + id_.encode("utf-8", "surrogatepass"), value)
            write.put(_at(b"t", known.end or known.seq), packed([id_, batch.ts]))
        if commit.opens:
            write.put(b"mopen", packed(True))  # noqa: FBT003  a value, not a flag
        with _rocks("append to the journal"):
            self._db.write(write)
        self.head = batch.last
        self.open = self.open or commit.opens

    def begin(self, epoch: int) -> None:
        """Begin an epoch: batches and positions go, outcomes stay."""
        write = WriteBatch(raw_mode=True)
        for letter in (b"b", b"p", b"s"):
            write.delete_range(letter, bytes((letter[0] + 1,)))
        write.put(b"mepoch", packed(epoch))
        write.put(b"mopen", packed(False))  # noqa: FBT003  a value, not a flag
        with _rocks("begin an epoch"):
            self._db.write(write)
            self._db.flush_wal(sync=True)
        self.epoch, self.open = epoch, False
        self.head, self.floor = epoch, epoch + 1
        self.segments = _segments()

    def sync(self) -> None:
        """Make everything so far survive a power cut."""
        with _rocks("sync the journal"):
            self._db.flush_wal(sync=True)

    def prune(self, below: int, *, keep: int, ts: int) -> bool:
        """Drop what lies below ``below`` but for the newest ``keep`` bytes; whether any went."""
        floor = self.segments.removable(below, keep)
        if not floor:
            return False
        write = WriteBatch(raw_mode=True)
        write.delete_range(b"b", _at(b"b", floor))
        write.delete_range(b"s", _at(b"s", floor))
        kept = tuned("journal-outcomes", _WEEK)
        for key, value in self._range(b"t", _at(b"t", floor)):
            id_, written = unpacked(value)
            if written < ts - kept:
                write.delete(key)
                self._forget(write, id_, int.from_bytes(key[1:], "big"))
        with _rocks("prune the journal"):
            self._db.write(write)
        self.segments.removed(floor)
        self.floor = self._first()
        return True

    def drop(self, below: int, *, ts: int) -> None:
        """Drop everything below ``below`` and rewrite the files, so that no byte of it is left."""
        self.prune(below, keep=0, ts=ts)
        write = WriteBatch(raw_mode=True)
        gone = [
            record
            for record in self._records(to_seq=below)
            if batch_from_record(record).last < below
        ]
        if gone:
            write.delete_range(b"b", _at(b"b", batch_from_record(gone[-1]).last + 1))
            self.segments.tail -= sum(len(record) for record in gone)
        with _rocks("compact the journal"):
            self._db.write(write)
            self._db.flush(wait=True)
            self._db.compact_range(None, None)
        self.floor = self._first()

    def close(self) -> None:
        self._db.close()

    # --- inside ---------------------------------------------------------------------------

    def _forget(self, write: WriteBatch, id_: str, seq: int) -> None:
        known = self.outcome(id_)
        if known is not None and seq in (known.seq, known.end) and seq >= known.end:
            write.delete(b"c" + id_.encode("utf-8", "surrogatepass"))

    def _meta(self, name: str, default: Any) -> Any:
        with _rocks("read the journal"):
            value = self._db.get(b"m" + name.encode())
        return default if value is None else unpacked(value)

    def _first(self) -> int:
        for record in self._records():
            return batch_from_record(record).first
        return self.head + 1

    def _measure(self) -> None:
        for key, value in self._range(b"s", b"t"):
            last = int.from_bytes(key[1:], "big")
            self.segments.done.append(Segment(last, unpacked(value)))
        after = self.segments.done[-1].last if self.segments.done else 0
        self.segments.tail = sum(len(record) for record in self._records(from_seq=after + 1))

    def _records(
        self, *, from_seq: int = 0, to_seq: int = 2**63, backwards: bool = False
    ) -> Iterator[bytes]:
        """The records from the one that holds ``from_seq``, or the next."""
        if backwards:
            options = _bounds(b"b", b"c")
            with _rocks("read the journal"):
                newest = next(iter(self._db.values(backwards=True, read_opt=options)), None)
            if newest is not None:
                yield newest
            return
        start = _at(b"b", from_seq)
        if from_seq:
            with _rocks("read the journal"):
                keys = self._db.keys(backwards=True, from_key=start, read_opt=_bounds(b"b", b"c"))
                start = typing.cast("bytes", next(iter(keys), start))
        for _, value in self._range(start, _at(b"b", to_seq)):
            yield value

    def _range(self, begin: bytes, end: bytes) -> Iterator[tuple[bytes, bytes]]:
        with _rocks("read the journal"):
            yield from self._db.items(from_key=begin, read_opt=_bounds(begin, end))


def _at(letter: bytes, seq: int) -> bytes:
    return letter + seq.to_bytes(8, "big")


def _bounds(begin: bytes, end: bytes) -> ReadOptions:
    options = ReadOptions()
    options.set_iterate_lower_bound(begin)
    options.set_iterate_upper_bound(end)
    return options


def _options() -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)  # noqa: FBT003  as its C++ original is called
    # Small on purpose: what is read is nearly always still in the write buffer, and what is read
    # from a file is read once, so that RocksDB's own cache of 32 MB would only hold memory.
    table = BlockBasedOptions()
    table.set_block_cache(Cache(2 * 2**20))
    options.set_block_based_table_factory(table)
    options.set_write_buffer_size(4 * 2**20)
    options.set_max_write_buffer_number(2)
    options.set_max_total_wal_size(32 * 2**20)
    options.set_max_open_files(48)
    options.set_keep_log_file_num(2)
    options.set_max_log_file_size(2**18)
    # It notes each file that came and went, for good unless it may be begun anew.
    options.set_max_manifest_file_size(2**16)
    options.set_compression_type(rocksdict.DBCompressionType.lz4())
    return options


def _segments() -> Segments:
    return Segments(length=int(tuned("journal-segment", 2**20)))


@contextlib.contextmanager
def _rocks(what: str) -> Iterator[None]:
    try:
        yield
    except GeneratorExit:
        raise
    except Exception as error:  # RocksDB's errors have no class of their own
        raise JournalError(f"could not {what}: {error}") from error
