"""Who speaks fast is told together with what follows; nobody is kept for longer than a moment."""

from hypothesis import given
from hypothesis import strategies as st

from sk_agents.gathering import WAIT, Gathering


def told_at(moments: list[float], size: int = 200) -> list[tuple[float, int]]:
    """When an eager reader takes how many pieces that come at these moments."""
    gathering = Gathering()
    told: list[tuple[float, int]] = []
    waiting = 0
    due = float("inf")
    for now in moments:
        if due <= now:
            told.append((due, waiting))
            gathering.taken()
            waiting, due = 0, float("inf")
        waiting += 1
        due = min(due, gathering.came(now, size))
        if due <= now:
            told.append((now, waiting))
            gathering.taken()
            waiting, due = 0, float("inf")
    return [*told, (due, waiting)] if waiting else told


def test_fifty_words_a_second_are_told_as_they_come() -> None:
    moments = [n * 0.02 for n in range(200)]
    assert told_at(moments) == [(moment, 1) for moment in moments]


def test_a_burst_after_silence_begins_at_once() -> None:
    assert told_at([10.0, 10.001, 10.002]) == [(10.0, 1), (10.001, 1), (10.002, 1)]


def test_a_hundred_words_a_second_are_told_less_than_forty_times() -> None:
    told = told_at([n * 0.01 for n in range(1000)])
    assert len(told) < 400


def test_a_flood_of_full_pieces_is_not_kept() -> None:
    moments = [n * 0.0001 for n in range(500)]
    assert told_at(moments, size=32 * 1024) == [(moment, 1) for moment in moments]


@given(st.lists(st.floats(0.0, 0.1), max_size=100), st.integers(1, 40_000))
def test_nothing_is_kept_longer_than_the_moment(gaps: list[float], size: int) -> None:
    moments = []
    now = 0.0
    for gap in gaps:
        now += gap
        moments.append(now)
    told = told_at(moments, size)
    assert sum(count for _, count in told) == len(moments)
    at = iter(moments)
    for when, count in told:
        first, *_ = [next(at) for _ in range(count)]
        assert when <= first + WAIT
