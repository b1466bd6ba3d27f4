"""One contract, two stores."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sk_history.rocks import RocksStore
from sk_history.store import (
    DamagedError,
    Drop,
    DropRange,
    MemoryStore,
    Put,
    Store,
    StoreError,
    Write,
)


@pytest.fixture(params=["memory", "rocks"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else RocksStore(tmp_path / "history")
    yield made
    made.close()


def filled(store: Store) -> Store:
    store.write([Put(key, key.upper()) for key in (b"b", b"a", b"d", b"c")])
    return store


def test_rows_come_in_the_order_of_their_keys(store: Store) -> None:
    assert filled(store).first(b"a", b"d") == [(b"a", b"A"), (b"b", b"B"), (b"c", b"C")]


def test_the_first_rows_are_as_many_as_asked_for(store: Store) -> None:
    assert filled(store).first(b"b", b"z", limit=2) == [(b"b", b"B"), (b"c", b"C")]


def test_the_last_rows_come_last_first_and_leave_the_end_out(store: Store) -> None:
    assert filled(store).last(b"a", b"d", limit=2) == [(b"c", b"C"), (b"b", b"B")]


def test_the_last_rows_end_at_the_beginning_of_the_range(store: Store) -> None:
    assert filled(store).last(b"c", b"z", limit=9) == [(b"d", b"D"), (b"c", b"C")]


def test_a_dropped_row_is_gone(store: Store) -> None:
    filled(store).write([Drop(b"b")])
    assert store.get(b"b") is None


def test_a_dropped_range_leaves_its_end(store: Store) -> None:
    filled(store).write([DropRange(b"a", b"c")])
    assert store.first(b"", b"z") == [(b"c", b"C"), (b"d", b"D")]


def test_writes_are_done_in_their_order(store: Store) -> None:
    store.write([Put(b"a", b"1"), DropRange(b"a", b"z"), Put(b"b", b"2"), Drop(b"b")])
    store.write([Put(b"c", b"3"), Put(b"c", b"4")])
    assert store.first(b"", b"z") == [(b"c", b"4")]


def test_a_compacted_range_keeps_its_rows(store: Store) -> None:
    filled(store).write([Drop(b"b")])
    store.compact(b"a", b"z")
    assert store.first(b"", b"z") == [(b"a", b"A"), (b"c", b"C"), (b"d", b"D")]


def test_frozen_rows_stay_as_they_were(store: Store) -> None:
    frozen = filled(store).frozen()
    store.write([Put(b"a", b"changed"), Put(b"bb", b"new"), Drop(b"c")])
    assert frozen.first(b"a", b"d") == [(b"a", b"A"), (b"b", b"B"), (b"c", b"C")]
    assert frozen.first(b"b", b"z", limit=1) == [(b"b", b"B")]
    assert frozen.last(b"a", b"d", limit=2) == [(b"c", b"C"), (b"b", b"B")]
    assert frozen.last(b"c", b"z", limit=9) == [(b"d", b"D"), (b"c", b"C")]
    assert (frozen.get(b"c"), frozen.get(b"bb")) == (b"C", None)


KEYS = st.binary(min_size=1, max_size=2)
WRITES = st.lists(
    st.one_of(
        st.builds(Put, KEYS, st.binary(max_size=3)),
        st.builds(Drop, KEYS),
        st.builds(lambda one, two: DropRange(min(one, two), max(one, two)), KEYS, KEYS),
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def rocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RocksStore]:
    made = RocksStore(tmp_path_factory.mktemp("rocks") / "history")
    yield made
    made.close()


@settings(max_examples=100, deadline=None)
@given(batches=st.lists(WRITES, max_size=5), begin=KEYS, end=KEYS, limit=st.integers(0, 5))
def test_both_stores_agree_on_whatever_is_written(
    rocks: RocksStore, batches: list[list[Write]], begin: bytes, end: bytes, limit: int
) -> None:
    memory = MemoryStore()
    rocks.write([Drop(key) for key, _ in rocks.first(b"", b"\xff" * 4)])
    for batch in batches:
        memory.write(batch)
        rocks.write(batch)
    begin, end = min(begin, end), max(begin, end)
    assert rocks.first(b"", b"\xff" * 4) == memory.first(b"", b"\xff" * 4)
    assert rocks.first(begin, end, limit=limit) == memory.first(begin, end, limit=limit)
    assert rocks.last(begin, end, limit=limit) == memory.last(begin, end, limit=limit)


def test_what_was_written_is_there_when_opened_again(tmp_path: Path) -> None:
    first = RocksStore(tmp_path / "history")
    filled(first)
    first.close()
    assert RocksStore(tmp_path / "history").get(b"c") == b"C"


def test_the_log_of_the_database_is_bounded(tmp_path: Path) -> None:
    store = RocksStore(tmp_path / "history")
    store.close()
    (options,) = (tmp_path / "history").glob("OPTIONS-*")
    assert "max_log_file_size=262144" in options.read_text()
    assert "keep_log_file_num=2" in options.read_text()


def test_a_folder_in_use_is_refused_by_name(tmp_path: Path) -> None:
    held = RocksStore(tmp_path / "history")
    with pytest.raises(StoreError, match="history can't be opened"):
        RocksStore(tmp_path / "history", patience=0.1)
    held.close()


# --- damaged files ----------------------------------------------------------------------------


def damaged(folder: Path) -> RocksStore:
    """A store of 3,000 rows whose files have 50 wrong bytes in the middle."""
    store = RocksStore(folder)
    choose = random.Random(1)
    store.write([Put(b"k%04d" % n, choose.randbytes(300)) for n in range(3_000)])
    store.compact(b"", b"\xff")
    store.close()
    table = max(folder.glob("*.sst"), key=lambda path: path.stat().st_size)
    data = bytearray(table.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 50] = bytes(byte ^ 255 for byte in data[middle : middle + 50])
    table.write_bytes(data)
    return RocksStore(folder)


def test_a_walk_over_damage_is_no_short_walk(tmp_path: Path) -> None:
    store = damaged(tmp_path / "history")
    for walk in (
        lambda: store.first(b"", b"\xff"),
        lambda: store.last(b"", b"\xff", limit=10_000),
        lambda: store.frozen().first(b"", b"\xff"),
        lambda: store.frozen().last(b"", b"\xff", limit=10_000),
        lambda: [store.get(b"k%04d" % n) for n in range(3_000)],
    ):
        with pytest.raises(DamagedError):
            walk()
    assert len(store.first(b"", b"k1000")) == 1_000
    assert len(store.last(b"k2000", b"\xff", limit=10_000)) == 1_000
    store.close()
