"""Ids sort by creation."""

from hypothesis import given
from hypothesis import strategies as st

from sk_bus import ids

PLACES = st.tuples(st.integers(1, 10**16 - 1), st.integers(0, 1_000))


@given(PLACES, PLACES)
def test_ids_sort_as_they_were_made(first: tuple[int, int], second: tuple[int, int]) -> None:
    one, two = ids.message_id(*first), ids.message_id(*second)
    assert (ids.sort_key(one) < ids.sort_key(two)) == (first < second)
    assert (one == two) == (first == second)
