"""One browser's place in the log: nothing missed, nothing twice, and what happens to a slow one."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sk_bus.events import Kind, MessageDelta, TurnChanged
from sk_bus.internal import TimerFired
from sk_bus.model import ChannelId, Cursor, MessageId
from sk_bus.vocabulary import Event
from sk_bus.wire import Batch, body_of, packed_events
from sk_gateway import session as rules
from sk_gateway.frames import MOST_EVENTS, Bundle, Piece
from sk_gateway.session import Session, can_resume

EPOCH = 1000
CHANNEL = ChannelId("c1")
WANTED = Kind.PUBLIC | Kind.DELTA


def delta(text: str = "x") -> Event:
    return MessageDelta(
        channel=CHANNEL, messageId=MessageId("m1"), index=0, kind="text", rev=1, text=text
    )


def public() -> Event:
    return TurnChanged(channel=CHANNEL, busy=True)


def internal() -> Event:
    return TimerFired(id="t")


def bundle(first: int, *events: Event, epoch: int = EPOCH) -> Bundle:
    packed, kinds = packed_events(list(events))
    body = body_of(0, 0, "test", None, packed)
    return Bundle(Batch(epoch, first, len(events), kinds, body))


def session(seq: int = 0, want: Kind = WANTED) -> Session:
    made = Session(Cursor(epoch=EPOCH, seq=seq), want)
    made.stands_at(Cursor(epoch=EPOCH, seq=seq))
    return made


def seqs(pieces: list[Piece]) -> list[int]:
    return [piece.seq for piece in pieces]


def test_a_live_bundle_is_taken_in_one_frame() -> None:
    browser = session()
    browser.offer(bundle(1, delta(), public()), 0)
    assert seqs(browser.take()) == [1, 2]
    assert browser.given == 2


def test_a_frame_holds_no_more_than_64_events() -> None:
    browser = session()
    browser.offer(bundle(1, *[delta()] * (MOST_EVENTS + 1)), 0)
    assert len(browser.take()) == MOST_EVENTS
    assert len(browser.take()) == 1


def test_what_is_not_wanted_moves_the_place_and_is_not_sent() -> None:
    browser = session()
    browser.offer(bundle(1, internal(), internal()), 0)
    assert browser.take() == []
    assert browser.moved()
    assert browser.tell() == 2
    assert not browser.moved()


def test_a_place_is_not_told_before_what_came_earlier_is_taken() -> None:
    browser = session()
    browser.offer(bundle(1, delta()), 0)
    browser.offer(bundle(2, internal()), 0)
    assert not browser.moved()
    assert browser.tell() == 0


def test_a_bundle_that_overlaps_gives_only_what_is_new() -> None:
    browser = session(2)
    browser.offer(bundle(1, delta(), delta(), delta()), 0)
    assert seqs(browser.take()) == [3]


def test_a_hole_in_the_stream_is_left_to_the_journal() -> None:
    browser = session()
    browser.offer(bundle(3, delta()), 0)
    assert browser.behind
    assert browser.take() == []
    browser.read(bundle(1, delta(), delta(), delta()))
    assert seqs(browser.take()) == [1, 2, 3]


def test_one_who_read_as_far_as_the_stream_is_live_again() -> None:
    browser = session()
    browser.offer(bundle(3, delta()), 0)
    browser.read(bundle(1, delta(), delta(), delta()))
    browser.stands_at(Cursor(epoch=EPOCH, seq=3))
    assert not browser.behind


def test_a_full_queue_stops_growing_and_falls_behind() -> None:
    browser = session()
    for first in range(1, 10_001, 100):
        browser.offer(bundle(first, *[delta()] * 100), 0)
    assert browser.behind
    assert browser.cursor.seq == rules.MOST_QUEUED


def test_a_full_queue_counts_bytes_as_well() -> None:
    browser = session()
    for first in range(1, 101):
        browser.offer(bundle(first, delta("x" * 100_000)), 0)
    assert browser.behind
    assert browser.cursor.seq == rules.MOST_BYTES // 100_000 - 1


def test_one_batch_larger_than_the_queue_still_passes() -> None:
    browser = session()
    browser.offer(bundle(1, *[delta()] * (rules.MOST_QUEUED + 1)), 0)
    assert not browser.behind


def filled(now: float) -> Session:
    browser = session()
    for first in range(1, 3001, 100):
        browser.offer(bundle(first, *[delta()] * 100), now)
    return browser


def test_a_browser_that_takes_nothing_for_five_seconds_is_too_slow() -> None:
    browser = filled(now=10)
    assert not browser.too_slow(14.9)
    assert browser.too_slow(15)


def test_a_browser_that_emptied_its_queue_in_time_is_not() -> None:
    browser = filled(now=10)
    while browser.take():
        pass
    assert not browser.too_slow(60)


def test_a_browser_too_far_behind_begins_anew_at_the_head() -> None:
    browser = filled(now=0)
    head = Cursor(epoch=EPOCH, seq=100_000)
    assert browser.far_behind(head)
    browser.begin_anew(head)
    browser.stands_at(head)
    browser.offer(bundle(100_001, delta()), 0)
    assert seqs(browser.take()) == [100_001]


def test_another_epoch_is_none_of_its_business_until_it_begins_anew() -> None:
    browser = session()
    browser.offer(bundle(2001, delta(), epoch=2000), 0)
    assert browser.take() == []
    assert browser.far_behind(Cursor(epoch=2000, seq=2001))


HEAD = Cursor(epoch=EPOCH, seq=60_000)


def test_who_resumes() -> None:
    def resumes(epoch: int, seq: int) -> bool:
        return can_resume(Cursor(epoch=epoch, seq=seq), HEAD)

    assert resumes(EPOCH, 60_000)
    assert resumes(EPOCH, 10_000)
    assert not resumes(EPOCH, 9_999)  # a snapshot is nearer
    assert not resumes(EPOCH, 60_001)  # of a log that was lost
    assert not resumes(EPOCH - 1, 60_000)
    assert not can_resume(None, HEAD)


MAKERS = [delta, public, internal]
ACTIONS = st.lists(
    st.sampled_from(["offer", "offer", "repeat", "miss", "read", "take", "reconnect"]), max_size=80
)
BATCHES = st.lists(
    st.lists(st.sampled_from(MAKERS), min_size=1, max_size=5), min_size=80, max_size=80
)


@pytest.fixture(scope="module")
def narrow() -> Iterator[None]:
    """A queue of eight events, so that it is full every now and then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "MOST_QUEUED", 8)
        patch.setattr(rules, "MOST_EVENTS", 3)
        yield


@pytest.mark.usefixtures("narrow")
@settings(max_examples=120)
@given(batches=BATCHES, actions=ACTIONS)
def test_whatever_happens_every_wanted_event_arrives_once_in_order(
    batches: list[list[type[Event]]], actions: list[str]
) -> None:
    journal: list[Bundle] = []
    wanted: list[int] = []
    seen: list[int] = []
    browser, at = session(), 0  # ``at``: what the browser itself knows as its place
    for action in actions:
        match action:
            case "offer" | "miss":
                first = journal[-1].last + 1 if journal else 1
                events = [maker() for maker in batches[len(journal)]]
                wanted += [
                    seq
                    for seq, made in enumerate(events, first)
                    if not isinstance(made, TimerFired)
                ]
                journal.append(bundle(first, *events))
                if action == "offer":
                    browser.offer(journal[-1], 0)
            case "repeat" if journal:  # a straggler of the stream
                browser.offer(journal[len(journal) // 2], 0)
            case "read":
                after = browser.cursor.seq
                for found in [one for one in journal if one.last > after][:1]:
                    browser.read(found)
            case "take":
                seen += seqs(browser.take())
                at = browser.tell()
            case "reconnect":
                browser = Session(Cursor(epoch=EPOCH, seq=at), WANTED)
    for found in journal:
        browser.read(found)
    while taken := browser.take():
        seen += seqs(taken)
    assert seen == wanted
