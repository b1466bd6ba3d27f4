"""Frames are ours, or they are refused; nothing in between."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_bus import wire
from sk_bus.errors import MalformedError
from sk_bus.events import AgentLog, Kind
from sk_bus.model import AgentName, Problem

LINES = [
    AgentLog(agent=AgentName("demo"), line="one", stream="stderr"),
    AgentLog(agent=AgentName("demo"), line="two", stream="stdout"),
]


def batch() -> wire.Batch:
    events, kinds = wire.packed_events(list(LINES))
    body = wire.body_of(1_700, 42, "agents", {"cursor": 7}, events)
    return wire.Batch(100, 107, len(LINES), kinds, body)


def test_a_batch_reads_back_as_it_was_written() -> None:
    read = wire.batch_from_record(batch().record())
    assert (read.epoch, read.first, read.last, read.kinds) == (100, 107, 108, Kind.LOG)
    assert (read.ts, read.mono, read.producer, read.position) == (
        1_700,
        42,
        "agents",
        {"cursor": 7},
    )
    assert read.events() == [(107, LINES[0]), (108, LINES[1])]


def test_an_empty_batch_ends_before_it_begins() -> None:
    body = wire.body_of(1, 1, "router", 9, wire.packed([]))
    empty = wire.Batch(1, 5, 0, Kind(0), body)
    assert (empty.last, empty.raw(), empty.position) == (4, [], 9)


@given(st.binary(max_size=64))
def test_any_bytes_are_a_request_or_malformed(data: bytes) -> None:
    try:
        request_id, verb, _ = wire.request_from(data)
    except MalformedError:
        return
    assert isinstance(request_id, int)
    assert isinstance(verb, str)


@given(st.binary(max_size=64), st.binary(max_size=64))
def test_any_two_frames_are_a_batch_or_malformed(header: bytes, body: bytes) -> None:
    try:
        read = wire.batch_from(header, body)
    except MalformedError:
        return
    assert read.header() == header


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        wire.packed([2, 1, "hello", None]),
        wire.packed([1, "1", "hello", None]),
        b"GET /",
    ],
)
def test_a_foreign_frame_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedError):
        wire.request_from(data)


def test_a_reply_is_a_value_or_a_problem() -> None:
    problem = Problem(id="no", message="No.")
    assert wire.reply_from(wire.answer(3, {"a": 1})) == (3, {"a": 1}, None)
    assert wire.reply_from(wire.refusal(4, problem)) == (4, None, problem)
