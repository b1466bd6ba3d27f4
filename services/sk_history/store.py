"""What the history asks of a store, and the store in memory that unit tests use.

A store is an ordered map of bytes that takes several writes as one. It knows nothing of what it
keeps.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple, Protocol


class Put(NamedTuple):
    key: bytes
    value: bytes


class Drop(NamedTuple):
    key: bytes


class DropRange(NamedTuple):
    """Every key from ``begin`` on and before ``end``."""

    begin: bytes
    end: bytes


Write = Put | Drop | DropRange
Rows = list[tuple[bytes, bytes]]


class StoreError(Exception):
    """The store can't be opened, or can't go on; a person can do something about it."""


class DamagedError(StoreError):
    """A stretch of the store's files can't be read; other rows can."""


class Reading(Protocol):
    """Rows as they are, or as they were at one moment."""

    def get(self, key: bytes) -> bytes | None:
        """The value under ``key``.

        Raises:
            DamagedError: it can't be read.
        """

    def first(self, begin: bytes, end: bytes, *, limit: int | None = None) -> Rows:
        """The first rows from ``begin`` on and before ``end``, in order.

        Raises:
            DamagedError: some of them can't be read.
        """

    def last(self, begin: bytes, end: bytes, *, limit: int) -> Rows:
        """The last rows from ``begin`` on and before ``end``, the last one first."""


class Store(Reading, Protocol):
    trouble: str
    """What a person should know of its files; empty as long as they are whole."""

    def frozen(self) -> Reading:
        """The rows as they are now, whatever is written later. Also from another thread."""

    def write(self, writes: Iterable[Write]) -> None:
        """All of ``writes``, in their order, or none of them."""

    def sync(self) -> None:
        """Make what was written outlive a power cut. May be called from another thread."""

    def compact(self, begin: bytes, end: bytes) -> None:
        """Take what was dropped in that range out of the files. Also from another thread."""

    def close(self) -> None:
        """Let go of the files."""


class MemoryStore:
    """A store that nothing outlives; for tests."""

    def __init__(self) -> None:
        self.trouble = ""
        self._keys: list[bytes] = []
        self._values: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        return self._values.get(key)

    def first(self, begin: bytes, end: bytes, *, limit: int | None = None) -> Rows:
        low, high = self._between(begin, end)
        if limit is not None:
            high = min(high, low + limit)
        return [(key, self._values[key]) for key in self._keys[low:high]]

    def last(self, begin: bytes, end: bytes, *, limit: int) -> Rows:
        low, high = self._between(begin, end)
        low = max(low, high - limit)
        return [(key, self._values[key]) for key in reversed(self._keys[low:high])]

    def frozen(self) -> Reading:
        made = MemoryStore()
        made._keys, made._values = list(self._keys), dict(self._values)
        return made

    def write(self, writes: Iterable[Write]) -> None:
        for write in writes:
            match write:
                case Put(key, value):
                    if key not in self._values:
                        self._keys.insert(bisect_left(self._keys, key), key)
                    self._values[key] = value
                case Drop(key):
                    if self._values.pop(key, None) is not None:
                        del self._keys[bisect_left(self._keys, key)]
                case DropRange(begin, end):
                    low, high = self._between(begin, end)
                    for key in self._keys[low:high]:
                        del self._values[key]
                    del self._keys[low:high]

    def sync(self) -> None:
        """Nothing outlives this store."""

    def compact(self, begin: bytes, end: bytes) -> None:
        """What was dropped is gone already."""

    def close(self) -> None:
        """There are no files."""

    def _between(self, begin: bytes, end: bytes) -> tuple[int, int]:
        return bisect_left(self._keys, begin), bisect_left(self._keys, end)
