"""One browser's place in the log: what it has been given, what waits for it, and when it is cut.

Bundles are offered as they come; what the socket can take is taken. What a browser can't take isn't
heaped up in memory: it falls *behind*, and reads on from the journal when it can take more.
Nothing here sends, waits or reads the bus; the clock is handed in, in seconds.
"""

from collections import deque

from sk_bus.events import Kind
from sk_bus.model import Cursor
from sk_gateway.frames import MOST_EVENTS, Bundle, Piece

MOST_QUEUED = 2_000
MOST_BYTES = 4_000_000
FRAME_BYTES = 256_000
# So far behind, a snapshot is read sooner than the events.
FURTHEST = 50_000
PATIENCE = 5.0


def can_resume(asked: Cursor | None, head: Cursor) -> bool:
    """Whether a browser that saw up to ``asked`` may go on from there."""
    if asked is None or asked.epoch != head.epoch:
        return False
    return head.seq - FURTHEST <= asked.seq <= head.seq


class Session:
    """What one browser is given. ``start`` is the last seq it must not be given."""

    def __init__(self, start: Cursor, want: Kind) -> None:
        self.want = want
        self._epoch = start.epoch
        self._cursor = start.seq
        self._given = start.seq
        self._told = start.seq
        self._queue: deque[Piece] = deque()
        self._bytes = 0
        self._behind = True
        self._full_since: float | None = None

    @property
    def cursor(self) -> Cursor:
        """Everything up to here was given, waits in the queue, or is of no interest."""
        return Cursor(epoch=self._epoch, seq=self._cursor)

    @property
    def given(self) -> int:
        """Everything up to here was taken for the socket, or is of no interest."""
        return self._given

    @property
    def behind(self) -> bool:
        """Whether what follows :attr:`cursor` must be read from the journal."""
        return self._behind

    @property
    def waiting(self) -> bool:
        return bool(self._queue)

    def offer(self, bundle: Bundle, now: float) -> None:
        """A bundle of the live stream. It is taken up when it goes on where the session stands."""
        if bundle.epoch != self._epoch:
            return
        if bundle.last <= self._cursor:
            # The live stream stands exactly here: what comes next on it is ours.
            if bundle.last == self._cursor:
                self._behind = False
            return
        if bundle.first > self._cursor + 1:
            self._behind = True
            return
        pieces = self._new(bundle)
        size = sum(len(piece.data) for piece in pieces)
        full = len(self._queue) + len(pieces) > MOST_QUEUED or self._bytes + size > MOST_BYTES
        if full and self._queue:
            self._behind = True
            self._full_since = now if self._full_since is None else self._full_since
            return
        self._take_up(bundle, pieces)
        self._behind = False

    def read(self, bundle: Bundle) -> None:
        """A bundle that was read from the journal after :attr:`cursor`."""
        if bundle.epoch == self._epoch and bundle.first <= self._cursor + 1 <= bundle.last:
            self._take_up(bundle, self._new(bundle))

    def stands_at(self, head: Cursor) -> None:
        """The live stream has come to ``head``: one who stands there too is behind no more."""
        if head == self.cursor:
            self._behind = False

    def far_behind(self, head: Cursor) -> bool:
        """Whether it is time to begin anew at the head."""
        return head.epoch != self._epoch or head.seq - self._cursor > FURTHEST

    def begin_anew(self, head: Cursor) -> None:
        """Drop what waits; what follows ``head`` is next. The browser is to be told."""
        self._epoch = head.epoch
        self._cursor = self._given = self._told = head.seq
        self._queue.clear()
        self._bytes = 0
        self._behind = True
        self._full_since = None

    def take(self) -> list[Piece]:
        """What goes into the next frame; empty when nothing waits."""
        taken: list[Piece] = []
        size = 0
        while self._queue and len(taken) < MOST_EVENTS and size < FRAME_BYTES:
            piece = self._queue.popleft()
            size += len(piece.data)
            taken.append(piece)
        self._bytes -= size
        if not self._queue:
            self._given = self._cursor
            self._full_since = None
        elif taken:
            self._given = taken[-1].seq
        if taken:
            self._told = taken[-1].seq
        return taken

    def moved(self) -> bool:
        """Whether events that the browser doesn't want moved its place since it was told last."""
        return not self._queue and self._told != self._given

    def tell(self) -> int:
        """The seq that the browser is told now: it may go on from there another time."""
        self._told = self._given
        return self._given

    def too_slow(self, now: float) -> bool:
        """Whether the queue was full and the socket hasn't emptied it in all the time since."""
        return self._full_since is not None and now - self._full_since >= PATIENCE

    def _new(self, bundle: Bundle) -> list[Piece]:
        return [piece for piece in bundle.pieces(self.want) if piece.seq > self._cursor]

    def _take_up(self, bundle: Bundle, pieces: list[Piece]) -> None:
        self._queue.extend(pieces)
        self._bytes += sum(len(piece.data) for piece in pieces)
        self._cursor = bundle.last
        if not self._queue:
            self._given = self._cursor
