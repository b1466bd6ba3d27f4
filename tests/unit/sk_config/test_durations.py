"""Durations as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_config.durations import milliseconds, written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90s", 90_000),
        ("10m", 600_000),
        ("1h30m", 5_400_000),
        ("1d", 86_400_000),
        ("0", 0),
        (0, 0),
        ("never", 0),
        ("0s", 0),
        (" 10m ", 600_000),
        ("", None),
        ("10", None),
        (10, None),
        (False, None),
        (0.0, None),
        (None, None),
        ("1.5h", None),
        ("30m1h", None),
        ("-5m", None),
        ("10 m", None),
        ("٣m", None),
        ("9" * 100 + "s", None),
    ],
)
def test_a_duration_is_read(text: object, expected: int | None) -> None:
    assert milliseconds(text) == expected


@given(st.integers(min_value=0, max_value=10**7))
def test_what_is_written_is_read_back(seconds: int) -> None:
    assert milliseconds(written(seconds * 1000)) == seconds * 1000
