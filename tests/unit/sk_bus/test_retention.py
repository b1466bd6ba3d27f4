"""Nothing that somebody needs leaves the journal, and it doesn't grow for ever."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_bus.contract import Hello, Report
from sk_bus.retention import Segments, needed

HELLO = Hello(epoch=100, head=200, floor=101, directory="", config="", open=True)
ALL = {
    name: Report(service=name, pid=1, epoch=100, cursor=200)
    for name in ("agents", "history", "config", "router")
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, 201),
        ({"agents": replace(ALL["agents"], cursor=150)}, 151),
        ({"history": replace(ALL["history"], cursor=120)}, 121),
        ({"router": replace(ALL["router"], floor=130)}, 130),
        ({"config": replace(ALL["config"], cursor=0)}, 101),
        ({"config": replace(ALL["config"], epoch=99)}, 101),
        ({"gateway": replace(ALL["agents"], service="gateway", cursor=0)}, 201),
    ],
)
def test_the_slowest_who_must_read_decides(changed: dict[str, Report], expected: int) -> None:
    assert needed(ALL | changed, HELLO) == expected


def test_until_all_have_spoken_nothing_goes() -> None:
    assert needed({name: ALL[name] for name in ("agents", "history")}, HELLO) == 101


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=60), st.integers(0, 70), st.integers(0, 5000)
)
def test_what_goes_is_not_needed_and_leaves_the_reserve(
    sizes: list[int], below: int, keep: int
) -> None:
    segments = Segments(length=500)
    for last, size in enumerate(sizes, 1):
        segments.added(last, size)
    assert segments.size == sum(sizes)
    floor = segments.removable(below, keep)
    left = sum(sizes[floor - 1 :]) if floor else sum(sizes)
    assert floor <= max(below, 0)
    assert left >= min(keep, sum(sizes))
    if floor:
        segments.removed(floor)
    assert segments.size == left
    assert segments.removable(below, keep) == 0
