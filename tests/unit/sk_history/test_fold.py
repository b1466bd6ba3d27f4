"""The fold as a function of the log: kills, groups of batches and snapshots change nothing."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from sk_bus.events import ChannelsChanged
from sk_bus.model import ChannelId, Cursor
from sk_bus.vocabulary import Event
from sk_history import pages, records
from sk_history.fold import Fold
from sk_history.store import MemoryStore, Rows
from tests.unit.sk_history.logs import LOGS, Client, conversation

thoroughly = settings(max_examples=100, deadline=None)

CUTS = st.lists(st.integers(0, 200), max_size=12)


def groups(log: list[Event], cuts: list[int]) -> list[list[Event]]:
    """The log in stretches, cut at these places."""
    places = sorted({0, len(log), *(cut % (len(log) + 1) for cut in cuts)})
    return [log[a:b] for a, b in pairwise(places)]


def kept(store: MemoryStore, stretches: list[list[Event]], *, killed: bool = False) -> Fold:
    """Take the stretches in, each as one write; ``killed``: by another process each."""
    fold = Fold(store)
    seq = fold.cursor.seq if fold.cursor else 9
    for stretch in stretches:
        if killed:
            fold = Fold(store)
        for event in stretch:
            fold.apply(event)
        seq += len(stretch)
        store.write(fold.writes(Cursor(epoch=1, seq=seq)))
    return fold


def rows(store: MemoryStore) -> Rows:
    return store.first(b"", b"\xff")


def channels_of(log: list[Event]) -> list[ChannelId]:
    last = [event for event in log if isinstance(event, ChannelsChanged)][-1]
    return [channel.id for channel in last.channels]


@thoroughly
@given(log=LOGS, cuts=CUTS)
def test_killed_between_any_two_batches_the_rows_are_the_same(
    log: list[Event], cuts: list[int]
) -> None:
    calm, killed = MemoryStore(), MemoryStore()
    kept(calm, groups(log, cuts))
    kept(killed, groups(log, cuts), killed=True)
    assert rows(killed) == rows(calm)


@thoroughly
@given(log=LOGS, cuts=CUTS)
def test_a_write_that_was_lost_with_its_cursor_is_done_again(
    log: list[Event], cuts: list[int]
) -> None:
    calm, killed = MemoryStore(), MemoryStore()
    kept(calm, groups(log, cuts))
    for stretch in groups(log, cuts):
        lost = Fold(killed)
        for event in stretch:
            lost.apply(event)
        lost.writes(Cursor(epoch=1, seq=0))  # never performed
        kept(killed, [stretch])
    assert rows(killed) == rows(calm)


@thoroughly
@given(log=LOGS, one=CUTS, other=CUTS)
def test_how_the_log_is_grouped_changes_no_conversation(
    log: list[Event], one: list[int], other: list[int]
) -> None:
    stores = MemoryStore(), MemoryStore()
    folds = [
        kept(store, groups(log, cuts)) for store, cuts in zip(stores, (one, other), strict=True)
    ]
    for channel in channels_of(log):
        views = [
            conversation(store, fold, channel) for store, fold in zip(stores, folds, strict=True)
        ]
        assert views[0] == views[1]


@thoroughly
@given(log=LOGS, cuts=CUTS, at=st.integers(0, 200))
def test_a_snapshot_and_what_comes_later_equal_the_fold_from_the_start(
    log: list[Event], cuts: list[int], at: int
) -> None:
    at %= len(log) + 1
    store = MemoryStore()
    fold = kept(store, groups(log[:at], cuts))
    for channel in fold.channels:
        view = conversation(store, fold, channel)
        assert Client.snapshot(view).fold(log[at:]) == Client(channel).fold(log)


@thoroughly
@given(log=LOGS, cuts=CUTS)
def test_only_a_message_that_still_grows_has_rows_of_deltas(
    log: list[Event], cuts: list[int]
) -> None:
    store = MemoryStore()
    kept(store, groups(log, cuts), killed=True)
    grows = {
        message["id"]
        for channel in channels_of(log)
        for message in conversation(store, Fold(store), channel)["messages"]
        if not message["done"]
    }
    deltas = {records.id_text("m", key[14:26]) for key, _ in rows(store) if key[13:14] == b"D"}
    assert deltas <= grows


@thoroughly
@given(log=LOGS, cuts=CUTS)
def test_nothing_of_a_deleted_channel_is_left(log: list[Event], cuts: list[int]) -> None:
    store = MemoryStore()
    fold = kept(store, groups(log, cuts))
    kept(store, [[ChannelsChanged(channels=())]], killed=True)
    assert {key[:1] for key, _ in rows(store)} <= {b"0"}
    assert pages.channels(Fold(store)) == []
    assert set(fold.channels) <= set(Fold(store).dropped)
