"""A bound on the log lines of one agent that go over the bus, and a word on those that don't. Pure.

The clock is passed in, in seconds.
"""

LINES = 200


class Flood:
    """At most ``lines`` of a stream in a second; the others are counted."""

    def __init__(self, lines: int = LINES) -> None:
        self._lines = lines
        self._second = float("-inf")
        self._passed = 0
        self._left_out = 0

    def passes(self, now: float) -> bool:
        """Whether one more line may pass."""
        if now - self._second >= 1:
            self._second = now
            self._passed = 0
        if self._passed >= self._lines:
            self._left_out += 1
            return False
        self._passed += 1
        return True

    def left_out(self, now: float = float("inf")) -> int:
        """How many lines were left out before this moment's second, each told once."""
        if now - self._second < 1:
            return 0
        told, self._left_out = self._left_out, 0
        return told
