"""A stream of bytes on disk, by offset: written at the end, read anywhere, reclaimed in front.

Segment files named by the offset of their first byte, so that nothing but the folder itself has to
be true after a crash. It knows nothing of what the bytes mean. (Standard library: the holder's.)
"""

# pathlib would cost each holder another megabyte.
# ruff: noqa: PTH108, PTH116, PTH208

from __future__ import annotations

import os

SEGMENT = 1024 * 1024


class Spool:
    """One stream; ``prefix`` names its files in ``folder``.

    A ``lossy`` one drops its oldest bytes over ``cap``; any other says that it is :attr:`full`,
    and whoever writes must wait.
    """

    def __init__(
        self, folder: str, prefix: str, *, cap: int, segment: int = SEGMENT, lossy: bool = False
    ) -> None:
        self._folder = folder
        self._prefix = prefix
        self._cap = cap
        self._segment = segment
        self._lossy = lossy
        self._starts = sorted(
            int(name[len(prefix) + 1 :])
            for name in os.listdir(folder)
            if name.startswith(prefix + ".")
        )
        self.floor = self._starts[0] if self._starts else 0
        self.head = self.floor
        if self._starts:
            last = self._starts[-1]
            self.head = last + os.stat(self._path(last)).st_size
        self._writing = -1
        self._reading = -1
        self._reading_start = -1

    @property
    def full(self) -> bool:
        return not self._lossy and self.head - self.floor >= self._cap

    def append(self, data: bytes) -> int:
        """Write ``data`` at the end; how much of it could be written (less when the disk is full).

        Raises:
            OSError: nothing could be written, and why.
        """
        done = 0
        view = memoryview(data)
        while done < len(data):
            if self._writing < 0 or self.head - self._starts[-1] >= self._segment:
                self._begin()
            room = self._segment - (self.head - self._starts[-1])
            try:
                written = os.write(self._writing, view[done : done + room])
            except OSError:
                if done:
                    return done
                raise
            done += written
            self.head += written
        if self._lossy:
            while self.head - self.floor > self._cap and len(self._starts) > 1:
                self.release(self._starts[1])
        return done

    def read(self, offset: int, limit: int) -> bytes:
        """At most ``limit`` bytes from ``offset`` (or the floor, if higher), of one segment."""
        offset = max(offset, self.floor)
        if limit <= 0 or offset >= self.head:
            return b""
        start = max(one for one in self._starts if one <= offset)
        if start != self._reading_start:
            if self._reading >= 0:
                os.close(self._reading)
            self._reading = os.open(self._path(start), os.O_RDONLY | os.O_CLOEXEC)
            self._reading_start = start
        return os.pread(self._reading, min(limit, self.head - offset), offset - start)

    def release(self, offset: int) -> None:
        """Nobody will ask for what is before ``offset`` again."""
        offset = min(offset, self.head)
        while len(self._starts) > 1 and self._starts[1] <= offset:
            os.unlink(self._path(self._starts.pop(0)))
        # Within the last segment the floor moves in memory only: a crash brings back what was
        # acknowledged, and whoever attaches asks for no byte of it.
        self.floor = max(self.floor, offset, self._starts[0] if self._starts else 0)

    def renew(self) -> None:
        """Leave no byte on disk that nobody will ask for again, if that is all there is."""
        if self._starts and self.floor == self.head > self._starts[-1]:
            self._begin()  # first: the name of a segment is all that keeps the offsets
            self.release(self.head)

    def _begin(self) -> None:
        fd = os.open(
            self._path(self.head), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600
        )
        if self._writing >= 0:
            os.close(self._writing)
        self._writing = fd
        if not self._starts or self._starts[-1] != self.head:
            self._starts.append(self.head)

    def _path(self, start: int) -> str:
        return f"{self._folder}/{self._prefix}.{start:020d}"
