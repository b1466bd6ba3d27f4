"""What a producer sends is what was put, in order, frozen while it flies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_bus.assembly import Assembly, rest_of
from sk_bus.errors import TooLargeError
from sk_bus.events import AgentLog, CommandResult, Kind
from sk_bus.internal import HistoryRestored
from sk_bus.model import AgentName, CommandId
from sk_bus.wire import LARGEST_REQUEST, Batch, body_of, unpacked


def line(text: str) -> AgentLog:
    return AgentLog(agent=AgentName("a"), line=text, stream="stderr")


@given(st.lists(st.integers(0, 5), min_size=1), st.integers(0, 4))
def test_puts_come_out_in_order_with_the_position_after_them(
    sizes: list[int], settle_every: int
) -> None:
    assembly = Assembly("p", 1, 7, "start")
    texts: list[str] = []
    sent: list[str] = []
    positions: list[object] = ["start"]

    def fly() -> None:
        append = assembly.next()
        if append is None:
            return
        assert assembly.next() is append
        assert append.previous == positions[-1]
        assert append.n == 7 + len(positions)
        sent.extend(event["line"] for event in unpacked(append.events))
        assert append.count == len(unpacked(append.events))
        assembly.settled()
        positions.append(append.position)
        assert assembly.position == append.position

    for n, size in enumerate(sizes):
        lines = [f"{n}.{k}" for k in range(size)]
        texts += lines
        assembly.put([line(text) for text in lines], n)
        if settle_every and n % settle_every == 0:
            fly()
    while not assembly.empty:
        fly()
    assert sent == texts
    assert positions[-1] == len(sizes) - 1


def test_what_no_request_can_hold_is_refused_in_words_and_leaves_no_trace() -> None:
    assembly = Assembly("p", 1, 0, None)
    half = line("x" * (LARGEST_REQUEST // 2))
    with pytest.raises(TooLargeError, match=r"bytes can't be published at once.*agent:log"):
        assembly.put([half, line("y"), half], 1)
    assert assembly.empty
    assembly.put([half, line("y")], 2)
    flying = assembly.next()
    assert flying is not None
    assert flying.position == 2
    assert len(flying.events) < LARGEST_REQUEST


def test_what_is_put_while_a_batch_flies_does_not_change_it() -> None:
    assembly = Assembly("p", 1, 0, None)
    assembly.put([line("1")], 1)
    flying = assembly.next()
    assembly.put([line("2")], 2)
    assert assembly.next() is flying
    assembly.settled()
    after = assembly.next()
    assert after is not None
    assert (after.previous, after.position, after.count) == (1, 2, 1)


def test_a_batch_is_bounded_but_one_put_is_never_cut() -> None:
    assembly = Assembly("p", 1, 0, None)
    for n in range(20):
        assembly.put([line("x" * 100_000)], n)
    assembly.put([line("y" * 100_000)] * 10, 20)
    sizes = []
    while (append := assembly.next()) is not None:
        sizes.append(append.count)
        assembly.settled()
    assert sum(sizes) == 30
    assert sizes[-1] == 10
    assert max(sizes[:-1]) == 5


def test_results_are_named_by_their_place_in_the_batch() -> None:
    assembly = Assembly("p", 1, 0, None)
    assembly.put([line("1")], 1)
    assembly.put([line("2"), CommandResult(id=CommandId("k"), ok=True)], 2)
    assembly.put([HistoryRestored()], 3)
    append = assembly.next()
    assert append is not None
    assert append.results == ((2, {"type": "cmd:result", "id": "k", "ok": True}),)
    assert append.opens
    assert append.kinds == Kind.LOG | Kind.RESULT | Kind.INTERNAL


def test_the_rest_of_a_batch_keeps_all_but_what_was_seen() -> None:
    assembly = Assembly("p", 1, 0, None)
    assembly.put([line(str(n)) for n in range(4)], 9)
    append = assembly.next()
    assert append is not None
    body = body_of(5, 6, "p", 9, append.events)
    rest = rest_of(Batch(1, 10, 4, Kind.LOG, body), 11)
    assert (rest.first, rest.count, rest.ts, rest.mono, rest.position) == (12, 2, 5, 6, 9)
    assert [(seq, event.line) for seq, event in rest.events() if isinstance(event, AgentLog)] == [
        (12, "2"),
        (13, "3"),
    ]
