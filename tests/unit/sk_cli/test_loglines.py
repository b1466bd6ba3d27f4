"""Which lines of a log are shown."""

import re
import time

import pytest

from sk_cli.loglines import Chosen, head, last

LINES = (
    "2026-11-30 16:20:33,819 INFO sk.bus: began",
    "2026-11-30 16:21:33,819 WARN exited: config",
    "2026-11-30 16:22:33,819 ERROR sk.bus: failed",
    "  a line that goes on",
    "2026-11-30 16:23:33,819 INFO sk.bus: again",
)
ALL = re.compile("")


def shown(chosen: Chosen) -> list[int]:
    return [number for number, line in enumerate(LINES) if chosen.holds(line)]


@pytest.mark.parametrize(
    ("chosen", "numbers"),
    [
        (Chosen(level=None, since=None, text=ALL), [0, 1, 2, 3, 4]),
        (Chosen(level="warning", since=None, text=ALL), [1, 2, 3]),
        (Chosen(level="error", since=None, text=ALL), [2, 3]),
        (Chosen(level=None, since=None, text=re.compile("bus")), [0, 2, 4]),
    ],
)
def test_lines_are_shown_with_the_record_they_belong_to(chosen: Chosen, numbers: list[int]) -> None:
    assert shown(chosen) == numbers


def test_what_came_before_is_left_out() -> None:
    begin = time.mktime((2026, 11, 30, 16, 22, 0, 0, 0, -1))
    assert shown(Chosen(level=None, since=begin, text=ALL)) == [2, 3, 4]


@pytest.mark.parametrize("line", ["", "no date", "2026-11-30"])
def test_a_line_without_a_head_has_none(line: str) -> None:
    assert head(line) is None


def test_the_last_lines_are_counted_among_those_that_fit() -> None:
    chosen = Chosen(level="warning", since=None, text=ALL)
    assert last(LINES, chosen, 2) == [LINES[2], LINES[3]]
    assert last(LINES, Chosen(level=None, since=None, text=ALL), 0) == []
