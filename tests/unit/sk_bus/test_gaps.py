"""A follower gets everything after its cursor, once and in order, whatever the stream does."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sk_bus.contract import Resync
from sk_bus.events import Kind
from sk_bus.gaps import Gaps, Replayed, Verdict
from sk_bus.model import Cursor
from sk_bus.wire import Batch, body_of, packed

EPOCH = 100


def log_of(sizes: list[int]) -> list[Batch]:
    made = []
    first = EPOCH + 1
    for size in sizes:
        events = packed([{"type": "x", "n": first + k} for k in range(size)])
        made.append(Batch(EPOCH, first, size, Kind.PUBLIC, body_of(0, 0, "p", None, events)))
        first += size
    return made


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=12),
    st.data(),
)
def test_lost_repeated_and_overtaken_batches_make_no_difference(
    sizes: list[int], data: st.DataObject
) -> None:
    log = log_of(sizes)
    head = log[-1].last
    start = data.draw(st.integers(EPOCH, head))
    gaps = Gaps(Cursor(epoch=EPOCH, seq=data.draw(st.sampled_from([start, start, 0]))))
    expected = list(range(gaps.cursor.seq + 1 if gaps.cursor.seq else EPOCH + 1, head + 1))
    seen: list[int] = []

    def deliver(items: list[Batch | Resync]) -> None:
        for batch in items:
            assert isinstance(batch, Batch)
            seen.extend(event["n"] for event in batch.raw())
            assert batch.last - batch.first + 1 == len(batch.raw())

    def ask(known: int) -> None:
        while gaps.cursor.seq < known:
            limit = data.draw(st.integers(1, 5))
            rest = [b for b in log if b.last > gaps.cursor.seq and b.first <= known][:limit]
            answer = Replayed(
                epoch=EPOCH, head=known, floor=EPOCH + 1, resync=False, batches=tuple(rest)
            )
            deliver(gaps.replayed(answer))

    ask(data.draw(st.sampled_from([batch.last for batch in log])))
    for index in data.draw(st.lists(st.integers(0, len(log) - 1), max_size=30)):
        match gaps.offered(log[index]):
            case Verdict.DELIVER:
                deliver([log[index]])
            case Verdict.ASK:
                ask(log[index].last)
            case Verdict.DROP:
                assert log[index].last <= gaps.cursor.seq
    if gaps.behind(EPOCH, head):
        ask(head)
    assert seen == expected


def test_a_batch_of_a_newer_epoch_asks_and_one_of_an_older_is_dropped() -> None:
    (batch,) = log_of([1])
    assert Gaps(Cursor(epoch=EPOCH - 1, seq=EPOCH)).offered(batch) is Verdict.ASK
    assert Gaps(Cursor(epoch=EPOCH + 1, seq=EPOCH + 1)).offered(batch) is Verdict.DROP


def test_after_a_resync_the_stream_goes_on_behind_the_head() -> None:
    gaps = Gaps(Cursor(epoch=1, seq=5))
    told = gaps.replayed(Replayed(epoch=EPOCH, head=EPOCH, floor=1, resync=True, batches=()))
    assert told == [Resync(epoch=EPOCH, head=EPOCH, floor=1)]
    assert gaps.offered(log_of([2])[0]) is Verdict.DELIVER


def test_an_empty_batch_is_delivered_in_its_place_only() -> None:
    body = body_of(0, 0, "p", 1, packed([]))
    empty = Batch(EPOCH, EPOCH + 3, 0, Kind(0), body)
    assert Gaps(Cursor(epoch=EPOCH, seq=EPOCH + 2)).offered(empty) is Verdict.DELIVER
    assert Gaps(Cursor(epoch=EPOCH, seq=EPOCH + 1)).offered(empty) is Verdict.DROP
