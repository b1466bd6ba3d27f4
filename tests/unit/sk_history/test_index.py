"""The index: it finds what a reader of every message would find, whatever was written when."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sk_bus import ids
from sk_bus.codec import value_of
from sk_bus.events import ChannelsChanged, MessageUpdated
from sk_bus.model import (
    AgentName,
    Channel,
    ChannelId,
    Cursor,
    Location,
    Message,
    Role,
    TextPart,
    ToolCall,
    ToolPart,
)
from sk_bus.queries import Search
from sk_history import index, migrating, pages, records
from sk_history.asked import asked
from sk_history.finding import found
from sk_history.fold import Fold
from sk_history.indexing import Indexer
from sk_history.matching import hit
from sk_history.store import DamagedError, MemoryStore, Put, Reading, Rows
from sk_history.texts import Plain
from tests.unit.sk_history.logs import older

CHANNELS = [ids.channel_id(n) for n in (1, 2, 3)]
AGENTS = [AgentName("alice"), AgentName("bob")]
WORDS = ["the", "theory", "fox", "foxes", "日本語", "ภาษา", "snake_case", "É", "x" * 70]
QUERIES: list[dict[str, Any]] = [
    *({"text": word} for word in (*WORDS, "th", "本語", "x" * 66, '"the fox"', "the 日本")),
    {"agent": "alice"},
    {"tool": "read"},
    {"tool": "THE fo", "agent": "bob"},
    {"path": "a/f"},
    {"text": "fox", "since": 40_000, "until": 90_000},
    {"text": "the", "channel": CHANNELS[1]},
]


def whole(reference: Plain) -> str:
    return str(reference["head"])


class History:
    """A store, a fold, and an index that is brought up to date when a test says so."""

    def __init__(self, channels: list[ChannelId]) -> None:
        self.store = MemoryStore()
        self.fold = Fold(self.store)
        self.seq = 1
        self.take(ChannelsChanged(channels=tuple(Channel(id=id_, name=id_) for id_ in channels)))

    def take(self, *events: Any) -> None:
        for event in events:
            self.fold.apply(event)
        self.seq += 1
        self.store.write(self.fold.writes(Cursor(epoch=1, seq=self.seq)))

    def say(self, *messages: Message) -> None:
        self.take(*(MessageUpdated(channel=one.channel, message=one) for one in messages))

    def indexed(self) -> None:
        indexer = Indexer(self.store, self.fold, whole, asyncio.Condition())
        asyncio.run(indexer.catch_up())

    def hits(self, **query: Any) -> list[Plain]:
        """All hits, page by page."""
        made: list[Plain] = []
        page: Plain = {"next": None}
        while True:
            ready = asked(Search(**query, after=page["next"], limit=7))
            page = found(self.store.frozen(), list(self.fold.channels), ready, whole)
            made += page["hits"]
            if page["next"] is None:
                return made

    def read(self, **query: Any) -> list[Plain]:
        """The same, by reading every message."""
        made = []
        for channel in self.fold.channels:
            if query.get("channel") not in (None, channel):
                continue
            begin = records.messages_of(channel)
            for _, data in self.store.first(begin, records.end_of(begin)):
                message = records.message(data)
                one = hit(message, asked(Search(**query)), whole)
                if message["done"] and not message["queued"] and one is not None:
                    made.append(one)
        return sorted(made, key=lambda one: records.id_bytes(one["messageId"]), reverse=True)


def message(seq: int, channel: ChannelId, text: str, **rest: Any) -> Message:
    tool = ToolCall(id="t", title=text, kind="read", locations=(Location(path=f"/a/{text}"),))
    agent = rest.get("agent", "")
    return Message(
        id=ids.message_id(seq),
        channel=channel,
        createdAt=seq * 1000,
        role=Role.AGENT if agent else Role.USER,
        parts=(TextPart(text=text), *((ToolPart(tool=tool),) if agent else ())),
        **rest,
    )


TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
SAYINGS = st.builds(
    message,
    st.integers(10, 120),
    st.sampled_from(CHANNELS),
    TEXTS,
    agent=st.sampled_from(["", *AGENTS]),
).map(lambda one: replace(one, queued=one.createdAt % 7_000 == 0))
STEPS = st.lists(
    st.one_of(
        st.lists(SAYINGS, min_size=1, max_size=15), st.just("index"), st.sampled_from(CHANNELS)
    ),
    max_size=10,
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, block=st.integers(1, 6))
def test_a_search_finds_what_reading_every_message_finds(steps: list[Any], block: int) -> None:
    history = History(CHANNELS)
    before = index.BLOCK
    index.BLOCK = block
    try:
        for step in steps:
            match step:
                case "index":
                    history.indexed()
                case list():
                    # Ids are of one channel each, and are said again where they come twice.
                    history.say(
                        *(replace(one, channel=CHANNELS[int(one.id[15:17]) % 3]) for one in step)
                    )
                case _:
                    rest = [one for one in history.fold.channels.values() if one.id != step]
                    history.take(ChannelsChanged(channels=tuple(rest)))
        for query in QUERIES:
            assert history.hits(**query) == history.read(**query), query
        history.indexed()
        for query in QUERIES:
            assert history.hits(**query) == history.read(**query), query
        assert not history.store.first(records.FRESH, records.end_of(records.FRESH))
        for channel in history.fold.channels:
            begin = records.messages_of(channel)
            stored = history.store.first(begin, records.end_of(begin))
            assert pages.count(history.store, channel) == len(stored)
    finally:
        index.BLOCK = before


def test_an_amended_message_leaves_no_word_of_before_in_the_index() -> None:
    history = History(CHANNELS[:1])
    history.say(message(10, CHANNELS[0], "secret"), message(11, CHANNELS[0], "other"))
    history.indexed()
    history.say(message(10, CHANNELS[0], "amended"))
    history.indexed()
    assert not [key for key, _ in history.store.first(b"", b"\xff") if b"secret" in key]
    assert [hit["messageId"] for hit in history.hits(text="amended")] == [ids.message_id(10)]


def test_a_message_that_changes_while_it_is_taken_in_is_taken_in_again() -> None:
    history = History(CHANNELS[:1])
    history.say(message(10, CHANNELS[0], "before"))
    indexer = Indexer(history.store, history.fold, whole, asyncio.Condition())
    writes = indexer._writes

    def slow(channel: ChannelId, rows: Any) -> Any:
        made = writes(channel, rows)
        if not changed:
            changed.append(True)
            history.say(message(10, CHANNELS[0], "behind"))
        return made

    changed: list[bool] = []
    indexer._writes = slow  # type: ignore[method-assign]
    asyncio.run(indexer.catch_up())
    assert [hit["messageId"] for hit in history.hits(text="behind")] == [ids.message_id(10)]
    assert history.hits(text="before") == []


def test_a_channel_deleted_while_it_is_taken_in_leaves_nothing() -> None:
    history = History(CHANNELS[:1])
    history.say(message(10, CHANNELS[0], "gone"))
    indexer = Indexer(history.store, history.fold, whole, asyncio.Condition())
    writes = indexer._writes

    def slow(channel: ChannelId, rows: Any) -> Any:
        made = writes(channel, rows)
        history.take(ChannelsChanged(channels=()))
        return made

    indexer._writes = slow  # type: ignore[method-assign]
    asyncio.run(indexer.catch_up())
    assert {key[:1] for key, _ in history.store.first(b"", b"\xff")} == {b"0"}


# --- older and newer rows -------------------------------------------------------------------


def of_schema_1(count: int) -> History:
    """A history as the code before the index wrote it."""
    history = History(CHANNELS[:2])
    history.say(*(message(10 + n, CHANNELS[n % 2], f"word {n}") for n in range(count)))
    rows = history.store.first(b"", b"\xff")
    old = MemoryStore()
    for key, data in rows:
        if key[:1] == b"F" or key in {records.meta("index"), records.meta("schema")}:
            continue
        is_message = key[:1] == b"X" and key[13:14] == b"M"
        old.write([Put(key, records.row(records.message(data)) if is_message else data)])
    old.write([Put(records.meta("schema"), records.row(1))])
    history.store = old
    return history


def migrated(history: History) -> History:
    history.store.write(migrating.migrated(history.store))
    history.fold = Fold(history.store)
    return history


def test_an_older_history_is_migrated_and_indexed_in_the_background(monkeypatch: Any) -> None:
    monkeypatch.setattr(migrating, "_AT_ONCE", 20)
    history = of_schema_1(100)
    views = [older(history.store, Fold(history.store), CHANNELS[0], ids.message_id(10**6))]
    migrated(history)
    assert records.value(history.store.get(records.meta("schema")) or b"") == records.SCHEMA
    views.append(older(history.store, history.fold, CHANNELS[0], ids.message_id(10**6)))
    assert views[0] == views[1]
    ready = asked(Search(text="word"))
    page = found(history.store.frozen(), list(history.fold.channels), ready, whole)
    assert page["complete"] is False
    history.indexed()
    assert len(history.hits(text="word")) == 100
    assert migrating.migrated(history.store) == []
    page = found(history.store.frozen(), list(history.fold.channels), ready, whole)
    assert page["complete"] is True


def test_a_migration_that_is_cut_off_goes_on(monkeypatch: Any) -> None:
    monkeypatch.setattr(migrating, "_AT_ONCE", 7)
    history = migrated(of_schema_1(50))
    for _ in range(3):
        history.store.write(migrating.marked(history.store, list(history.fold.channels)))
    migrated(history)  # the next process
    history.indexed()
    assert len(history.hits(text="word")) == 50


def test_an_index_of_another_version_is_made_anew() -> None:
    history = History(CHANNELS[:1])
    history.say(message(10, CHANNELS[0], "word"))
    history.indexed()
    history.store.write(
        [
            Put(records.meta("index"), records.row(index.VERSION + 1)),
            Put(records.terms_of(CHANNELS[0], records.id_bytes(ids.message_id(10))) + b"wold", b""),
        ]
    )
    migrated(history)
    history.indexed()
    assert len(history.hits(text="word")) == 1
    assert not [key for key, _ in history.store.first(b"", b"\xff") if key.endswith(b"wold")]


def test_rows_of_newer_code_are_left_alone() -> None:
    store = MemoryStore()
    store.write([Put(records.meta("schema"), records.row(records.SCHEMA + 1))])
    rows = store.first(b"", b"\xff")
    with pytest.raises(migrating.NewerSchemaError, match="install that version again"):
        migrating.migrated(store)
    assert store.first(b"", b"\xff") == rows


@settings(max_examples=50, deadline=None)
@given(at=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_a_damaged_row_costs_one_message_which_says_so(at: int, byte: int) -> None:
    history = History(CHANNELS[:1])
    history.say(*(message(n, CHANNELS[0], "word") for n in (10, 11, 12)))
    key = records.message_key(CHANNELS[0], ids.message_id(11))
    data = bytearray(history.store.get(key) or b"")
    data[at % len(data)] ^= byte or 1
    history.store.write([Put(key, bytes(data))])
    history.indexed()
    view = records.value(pages.conversation(history.store, history.fold, CHANNELS[0]))
    assert [one["id"] for one in view["messages"]] == [ids.message_id(n) for n in (10, 11, 12)]
    assert [one.get("code") for one in view["messages"]] == [None, "unreadable", None]
    assert view["messages"][1]["error"]["id"] == "unreadable-message"
    assert len(history.hits(text="word")) == 2
    assert message(10, CHANNELS[0], "word") == value_of(Message, view["messages"][0])


class Damaged(MemoryStore):
    """A store in whose files some rows can't be read."""

    def __init__(self, whole: MemoryStore, begin: bytes, end: bytes) -> None:
        super().__init__()
        self.write(Put(key, value) for key, value in whole.first(b"", b"\xff"))
        self._range = begin, end

    def get(self, key: bytes) -> bytes | None:
        if self._range[0] <= key < self._range[1]:
            raise DamagedError("damaged")
        return super().get(key)

    def first(self, begin: bytes, end: bytes, *, limit: int | None = None) -> Rows:
        rows = super().first(begin, end, limit=limit)
        return [(key, self.get(key) or b"") for key, _ in rows]

    def last(self, begin: bytes, end: bytes, *, limit: int) -> Rows:
        rows = super().last(begin, end, limit=limit)
        return [(key, self.get(key) or b"") for key, _ in rows]

    def frozen(self) -> Reading:
        return self


@pytest.mark.parametrize("indexed", [False, True])
def test_damage_in_the_files_costs_the_messages_that_lie_there(*, indexed: bool) -> None:
    history = History(CHANNELS[:1])
    history.say(*(message(n, CHANNELS[0], "word") for n in range(10, 20)))
    if indexed:
        history.indexed()
    keys = [records.message_key(CHANNELS[0], ids.message_id(n)) for n in (13, 15)]
    store = Damaged(history.store, *keys)
    history.store = store
    view = records.value(pages.conversation(store, history.fold, CHANNELS[0]))
    assert [one["id"] for one in view["messages"]] == [ids.message_id(n) for n in range(10, 20)]
    codes = [one.get("code") for one in view["messages"]]
    assert codes == [None] * 3 + ["unreadable"] * 2 + [None] * 5
    later = records.value(pages.newer(store, history.fold, CHANNELS[0], ids.message_id(11)))
    assert [one["id"] for one in later["messages"]] == [ids.message_id(n) for n in range(12, 20)]
    assert len(history.hits(text="word")) == 8
