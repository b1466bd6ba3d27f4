"""The log on disk: what was committed is read back, and what was pruned is gone."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sk_bus.events import Kind
from sk_bus.instructions import Commit, Known, Place
from sk_bus.journal import Journal, JournalError
from sk_bus.wire import Batch, batch_from_record, body_of, packed

EPOCH = 10**15
WEEK = 7 * 24 * 3600 * 1000


def commit_of(journal: Journal, count: int, *, text: str = "x", ts: int = 0) -> Commit:
    first = journal.head + 1
    events = packed([{"type": "x", "n": first + k, "text": text} for k in range(count)])
    batch = Batch(journal.epoch, first, count, Kind.PUBLIC, body_of(ts, 0, "p", first, events))
    return Commit(batch=batch, producer="p", place=Place(n=first, position=first))


def numbers(records: list[bytes]) -> list[int]:
    return [event["n"] for record in records for event in batch_from_record(record).raw()]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made = Journal(tmp_path / "journal")
    made.begin(EPOCH)
    return made


def test_what_was_committed_is_there_after_a_reopening(tmp_path: Path, journal: Journal) -> None:
    journal.commit(commit_of(journal, 3))
    empty = commit_of(journal, 0)
    journal.commit(empty)
    known = Known(digest=b"d", seq=5, end=6, result={"ok": True})
    command = Commit(
        batch=commit_of(journal, 1).batch,
        producer="",
        place=Place(),
        outcomes=(("k", known),),
        opens=True,
    )
    journal.commit(command)
    journal.close()
    again = Journal(tmp_path / "journal")
    assert (again.epoch, again.head, again.floor, again.open) == (EPOCH, EPOCH + 4, EPOCH + 1, True)
    assert again.places() == {"p": empty.place}
    assert again.outcome("k") == known
    assert again.outcome("other") is None
    assert numbers(again.replay(EPOCH, 10**6)) == [EPOCH + n for n in range(1, 5)]


def test_a_new_epoch_leaves_outcomes_only(journal: Journal) -> None:
    known = Known(digest=b"d", seq=5)
    commit = commit_of(journal, 1)
    journal.commit(
        Commit(
            batch=commit.batch,
            producer="p",
            place=commit.place,
            outcomes=(("k", known),),
            opens=True,
        )
    )
    journal.begin(EPOCH * 2)
    assert (journal.head, journal.floor, journal.open) == (EPOCH * 2, EPOCH * 2 + 1, False)
    assert journal.places() == {}
    assert journal.replay(0, 10**6) == []
    assert journal.outcome("k") == known


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=15), st.data())
def test_a_replay_from_anywhere_has_all_that_follows(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], data: st.DataObject
) -> None:
    journal = Journal(tmp_path_factory.mktemp("j") / "journal")
    journal.begin(EPOCH)
    for size in sizes:
        journal.commit(commit_of(journal, size))
    after = data.draw(st.integers(EPOCH, journal.head))
    got: list[int] = []
    while not got or got[-1] < journal.head:
        records = journal.replay(max([after, *got]), data.draw(st.integers(1, 300)))
        if not records:
            break
        got += numbers(records)
    journal.close()
    assert [n for n in got if n > after] == list(range(after + 1, journal.head + 1))
    assert not got or batch_from_record(journal_first(got, sizes)).last > after


def journal_first(got: list[int], sizes: list[int]) -> bytes:
    """The record that ``got`` must have begun with, made anew."""
    first = EPOCH + 1
    for size in sizes:
        if first == got[0]:
            return Batch(EPOCH, first, size, Kind.PUBLIC, b"").record()
        first += size
    raise AssertionError(f"{got[0]} begins no record")


def test_pruning_leaves_what_is_needed_and_the_reserve(tmp_path: Path, journal: Journal) -> None:
    for _ in range(60):
        journal.commit(commit_of(journal, 2, text="x" * 50_000))  # 6 MB
    size = journal.segments.size
    assert not journal.prune(EPOCH + 1, keep=0, ts=0)
    assert not journal.prune(journal.head + 1, keep=size, ts=0)
    assert journal.prune(EPOCH + 60, keep=0, ts=0)
    assert EPOCH + 30 < journal.floor <= EPOCH + 60
    assert numbers(journal.replay(0, 10**9))[0] == journal.floor
    left, floor = journal.segments.size, journal.floor
    journal.close()
    again = Journal(tmp_path / "journal")
    assert (again.floor, again.segments.size) == (floor, left)


def test_a_dropped_text_is_in_no_file(tmp_path: Path, journal: Journal) -> None:
    journal.commit(commit_of(journal, 1, text="swordfish"))
    kept = commit_of(journal, 1, text="halibut")
    journal.commit(kept)
    journal.sync()
    assert holding(tmp_path / "journal", b"swordfish") != []
    journal.drop(kept.batch.first, ts=0)
    journal.sync()
    assert journal.floor == kept.batch.first
    assert holding(tmp_path / "journal", b"swordfish") == []


def holding(directory: Path, word: bytes) -> list[Path]:
    return [path for path in directory.iterdir() if word in path.read_bytes()]


def test_outcomes_outlive_their_batches_by_a_week(journal: Journal) -> None:
    for id_, ts in (("old", 0), ("new", WEEK)):
        commit = commit_of(journal, 1, text="x" * 2**20, ts=ts)
        known = Known(digest=b"", seq=commit.batch.first)
        journal.commit(
            Commit(batch=commit.batch, producer="", place=Place(), outcomes=((id_, known),))
        )
    journal.commit(commit_of(journal, 1))
    assert journal.prune(journal.head, keep=0, ts=WEEK + 1)
    assert journal.outcome("old") is None
    assert journal.outcome("new") is not None


def test_a_journal_that_is_open_elsewhere_says_so(tmp_path: Path, journal: Journal) -> None:
    assert journal.head == EPOCH
    with pytest.raises(JournalError, match="could not open the journal"):
        Journal(tmp_path / "journal")
