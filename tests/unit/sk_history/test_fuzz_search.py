"""Any search, any id and any line of an import: an answer or words for why there is none."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from sk_bus import ids
from sk_bus.codec import plain
from sk_bus.errors import RefusedError
from sk_bus.events import ChannelsChanged, MessageUpdated
from sk_bus.model import (
    AgentName,
    Channel,
    ChannelId,
    Cursor,
    Message,
    MessageId,
    Role,
    TextPart,
    ToolCall,
    ToolPart,
)
from sk_bus.queries import Search
from sk_history import pages
from sk_history.asked import asked
from sk_history.finding import found
from sk_history.fold import Fold
from sk_history.importing import NotAnExportError, Reader, Stored
from sk_history.lines import HEADER, channel_line, message_line
from sk_history.records import body
from sk_history.records import message as message_of
from sk_history.store import MemoryStore
from tests.support.strange import CHARACTERS, EDGES, altered, briefly, spoilt, values

HERE = ids.channel_id(1)
ALICE = AgentName("alice")
CHANNEL = Channel(id=HERE, name="here", members=(ALICE,))
TEXT = st.lists(
    st.sampled_from(
        ['"', "the fox", "snake_case", "李明在", "ก็", "Straße", "ﬁn", "e\u0301", "🎉", " "]
    )
    | st.text(CHARACTERS, max_size=6),
    max_size=8,
).map("".join)


def said(seq: int, text: str) -> Message:
    tool = ToolCall(id="t", title=text[:20], kind="read", status="completed", output=text)
    return Message(
        id=ids.message_id(seq),
        channel=HERE,
        createdAt=seq * 1000,
        role=Role.AGENT,
        agent=ALICE,
        parts=(TextPart(text=text), ToolPart(tool=tool)),
    )


def history(texts: list[str]) -> tuple[MemoryStore, Fold]:
    store = MemoryStore()
    fold = Fold(store)
    fold.apply(ChannelsChanged(channels=(CHANNEL,)))
    for seq, text in enumerate(texts, 10):
        fold.apply(MessageUpdated(channel=HERE, message=said(seq, text)))
    store.write(fold.writes(Cursor(epoch=1, seq=100)))
    return store, fold


QUERIES = st.fixed_dictionaries(
    {"text": TEXT},
    optional={
        "agent": TEXT | st.just("alice"),
        "channel": TEXT | st.just(HERE),
        "tool": TEXT | st.just("read"),
        "path": TEXT,
        "since": st.sampled_from(EDGES),
        "until": st.sampled_from(EDGES),
        "after": TEXT | st.just(ids.message_id(11)),
        "limit": st.sampled_from(EDGES),
    },
)


@briefly
@given(st.lists(TEXT, max_size=4), QUERIES)
@example(["a" * 5000], {"text": "a" * 70})
@example(["x"], {"text": '"' * 2000})
@example(["ab"], {"text": "_" * 1000 + "a"})
def test_any_search_finds_places_that_are_there_or_is_refused(
    texts: list[str], query: dict[str, Any]
) -> None:
    store, fold = history(texts)
    with suppress(RefusedError):
        page = found(store, list(fold.channels), asked(Search(**query)), lambda one: one["head"])
        for hit in page["hits"]:
            for span in hit["spans"]:
                assert span["start"] >= 0
                assert span["start"] + span["length"] <= len(hit["excerpt"])


@briefly
@given(st.lists(TEXT, min_size=1, max_size=4), st.data())
def test_what_a_message_says_is_found_in_it(texts: list[str], data: st.DataObject) -> None:
    store, fold = history(texts)
    at = data.draw(st.integers(0, len(texts) - 1))
    with suppress(RefusedError):
        search = asked(Search(text=texts[at].replace('"', " ")))
        page = found(store, list(fold.channels), search, lambda one: one["head"])
        assert ids.message_id(10 + at) in [hit["messageId"] for hit in page["hits"]]


IDS = (
    st.sampled_from([HERE, ids.message_id(11), "m" + "9" * 30, "", "c1", "m0000000000000011.0 "])
    | TEXT
)


@briefly
@given(IDS, IDS)
def test_any_ids_are_a_page_or_refused(channel: str, message: str) -> None:
    store, fold = history(["one", "two", "three"])
    for ask in (pages.older, pages.newer, pages.around):
        with suppress(RefusedError):
            ask(store, fold, ChannelId(channel), MessageId(message))
    with suppress(RefusedError):
        pages.conversation(store, fold, ChannelId(channel))


GOOD = [
    HEADER,
    json.loads(channel_line(CHANNEL)),
    json.loads(message_line(plain(said(11, "hello")), lambda one: one["head"])),
]
WORDS = ("type", "channel", "message", "id", "parts", "text", "$blob", "sha256", "length", "head")


@st.composite
def exports(draw: st.DrawFn) -> list[bytes]:
    kept = [draw(altered(one, *WORDS)) for one in GOOD if draw(st.integers(0, 9))]
    made = [json.dumps(one).encode("utf-8", "replace") for one in kept]
    made += draw(st.lists(values(*WORDS).map(lambda one: json.dumps(one).encode()), max_size=1))
    at = draw(st.integers(0, len(made)))
    return [draw(spoilt(st.just(one))) if n == at else one for n, one in enumerate(made)]


@briefly
@given(exports())
def test_a_line_of_an_import_is_stored_as_it_can_be_read_or_named(lines: list[bytes]) -> None:
    kept: dict[str, str] = {}

    def keep(text: str) -> Any:
        kept[text] = text
        return text

    wrong: list[NotAnExportError] = []
    try:
        for one in Reader(now=1_700_000_000_000, keep=keep).read(iter(lines)):
            if isinstance(one, Stored):
                assert message_of(one.row)["channel"] == one.channel
                assert body(one.row)
                assert one.blobs == ()
    except NotAnExportError as error:
        wrong.append(error)
    assert all(1 <= error.line <= max(1, len(lines)) and error.why for error in wrong)
