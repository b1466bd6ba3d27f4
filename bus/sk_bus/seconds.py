"""The whole seconds of CLOCK_MONOTONIC, in which every process does what is due now and then.

All wake together, so that a machine with nothing to do is woken once a second, not twenty times.
Pure: the clock is passed in.
"""

_SOON = 0.01  # a timer may fire a hair too early: that second counts as begun


def until_next(now: float, *, late: float = 0.0) -> float:
    """Seconds from ``now`` to the next whole second, or to ``late`` after it."""
    left = 1.0 - (now - late) % 1.0
    return left if left > _SOON else left + 1.0
