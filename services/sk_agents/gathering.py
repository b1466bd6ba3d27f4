"""When what an agent says is told: at once, or together with what comes within a moment.

Pure; the clock is passed in, in seconds. Everything behind the executor costs by the batch, not by
the word: an agent that speaks fast is told 40 times a second, one that speaks slowly is never kept.
"""

from collections import deque

WAIT = 0.025  # the longest that anything is kept
_MANY = 15  # pieces within _LATELY: more than 60 a second
_LATELY = 0.25
_FULL = 16 * 1024  # bytes that are worth a batch of their own


class Gathering:
    """The pieces of one stream, as they come and are taken."""

    def __init__(self) -> None:
        self._came: deque[float] = deque(maxlen=_MANY)
        self._since: float | None = None
        self._size = 0

    def came(self, now: float, size: int) -> float:
        """A piece of ``size`` bytes has come. When all that waits is due; ``now``: at once."""
        fast = len(self._came) == _MANY and now - self._came[0] < _LATELY
        self._came.append(now)
        self._size += size
        if self._since is None:
            self._since = now
        return self._since + WAIT if fast and self._size < _FULL else now

    def taken(self) -> None:
        """Nothing waits any more."""
        self._since = None
        self._size = 0
