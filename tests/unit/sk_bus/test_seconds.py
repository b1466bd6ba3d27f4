"""Everybody's second is the same one."""

from hypothesis import given
from hypothesis import strategies as st

from sk_bus.seconds import until_next


@given(st.floats(0, 1e7), st.floats(0, 0.5))
def test_whoever_waits_wakes_at_the_same_moment_of_a_second(now: float, late: float) -> None:
    moment = (now + until_next(now, late=late) - late) % 1.0
    assert min(moment, 1.0 - moment) < 1e-6


@given(st.floats(0, 1e7))
def test_a_timer_that_fires_a_hair_too_early_does_not_fire_twice(now: float) -> None:
    assert 0.01 < until_next(now) <= 1.01
