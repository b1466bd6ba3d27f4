"""Bytes of a stream to lines, whatever pieces they come in. Pure; it knows no ACP.

A line that is still open waits in a list of pieces: joining it anew for each piece would cost
seconds for one of 60 MB. One over the cap is skipped to its end, and said to have been so.
"""

from dataclasses import dataclass

LONGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line end; ``end`` is the offset in the stream after that.

    ``length`` counts the whole line's bytes; ``data`` is only its beginning when it was over the
    cap (``cut``).
    """

    data: bytes
    end: int
    length: int

    @property
    def cut(self) -> bool:
        return self.length > len(self.data)


class Framer:
    """The lines of one stream, from byte ``offset`` on.

    ``longest`` is the cap on a line, ``kept`` how much is kept of one that is over it.
    """

    def __init__(self, offset: int = 0, *, longest: int = LONGEST, kept: int = 1024) -> None:
        self._offset = offset
        self._longest = longest
        self._kept = kept
        self._pieces: list[bytes] = []
        self._held = 0
        self._length = 0

    @property
    def offset(self) -> int:
        """The offset after the last byte fed."""
        return self._offset

    @property
    def waiting(self) -> int:
        """How many bytes of a line without its end have been fed."""
        return self._length

    def feed(self, data: bytes) -> list[Line]:
        """The lines that end in ``data``, in order."""
        lines = []
        start = 0
        while True:
            at = data.find(b"\n", start)
            if at < 0:
                break
            lines.append(self._ended(data[start:at], self._offset + at + 1))
            start = at + 1
        if start < len(data):
            self._hold(data[start:])
        self._offset += len(data)
        return lines

    def rest(self) -> Line | None:
        """What is left at the end of the stream, without a line end."""
        return self._ended(b"", self._offset) if self._length else None

    def _ended(self, piece: bytes, end: int) -> Line:
        if not self._length and len(piece) <= self._longest:
            return Line(piece, end, len(piece))
        self._hold(piece)
        whole = b"".join(self._pieces)
        length = self._length
        self._pieces, self._held, self._length = [], 0, 0
        return Line(whole[: self._kept] if length > self._longest else whole, end, length)

    def _hold(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length <= self._longest:
            self._pieces.append(piece)
            self._held += len(piece)
        elif self._held > self._kept:
            # Over the cap: its beginning is enough to say which one it was.
            self._pieces = [b"".join([*self._pieces, piece])[: self._kept]]
            self._held = len(self._pieces[0])
        elif self._held < self._kept:
            self._pieces.append(piece[: self._kept - self._held])
            self._held += len(self._pieces[-1])
