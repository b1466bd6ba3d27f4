"""Search as one asks it: words, phrases, filters, pages, and the place of a match."""

from typing import Any

import pytest

from sk_bus import ids
from sk_bus.errors import RefusedError
from sk_bus.events import ChannelsChanged, MessageUpdated
from sk_bus.model import (
    AgentName,
    BlobRef,
    Channel,
    Cursor,
    Diff,
    Location,
    Message,
    Part,
    Role,
    TextPart,
    ThoughtPart,
    ToolCall,
    ToolPart,
)
from sk_bus.queries import Search
from sk_history.asked import asked
from sk_history.finding import found
from sk_history.fold import Fold
from sk_history.store import MemoryStore
from sk_history.texts import Plain

HERE, THERE = ids.channel_id(1), ids.channel_id(2)
ALICE = AgentName("alice")
CHANNELS = ChannelsChanged(
    channels=(Channel(id=HERE, name="here"), Channel(id=THERE, name="there"))
)


def said(seq: int, *parts: Part | str, channel: str = HERE, **rest: Any) -> MessageUpdated:
    message = Message(
        id=ids.message_id(seq),
        channel=channel,
        createdAt=seq * 1000,
        role=Role.AGENT if rest.get("agent") else Role.USER,
        parts=tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts),
        **rest,
    )
    return MessageUpdated(channel=channel, message=message)


def whole(reference: Plain) -> str:
    return f"the whole of {reference['sha256'][:4]}"


def page(events: list[MessageUpdated], **query: Any) -> Plain:
    store = MemoryStore()
    fold = Fold(store)
    for event in (CHANNELS, *events):
        fold.apply(event)
    store.write(fold.writes(Cursor(epoch=1, seq=1 + len(events))))
    return found(store, list(fold.channels), asked(Search(**query)), whole)


def seqs(events: list[MessageUpdated], **query: Any) -> list[int]:
    """The hits, each by the seq in its message's id."""
    return [int(hit["messageId"][1:17]) for hit in page(events, **query)["hits"]]


FOX = [
    said(10, "The quick brown fox"),
    said(11, "jumps over the lazy dog", channel=THERE),
    said(12, "a fox, a brown one", agent=ALICE),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fox", [12, 10]),
        ("FOX brown", [12, 10]),
        ("qui fo", [10]),
        ("ox", []),
        ('"brown fox"', [10]),
        ('"fox a"', [12]),
        ('"brow"', []),
        ("fox.a", [12]),
        ('"brown o', [12]),
        ("“brown fox”", [10]),
        ("the", [11, 10]),
        ("fox dog", []),
    ],
)
def test_every_word_or_phrase_stands_in_a_hit_and_the_newest_comes_first(
    text: str, expected: list[int]
) -> None:
    assert seqs(FOX, text=text) == expected


def test_words_may_stand_in_different_parts() -> None:
    events = [said(10, "one", ThoughtPart(text="two"))]
    assert seqs(events, text="two one") == [10]


def test_a_match_within_a_word_hides_none_behind_it() -> None:
    assert seqs([said(10, "xa a a")], text='"a a"') == [10]


@pytest.mark.parametrize(
    ("text", "expected"), [("日本語", [10]), ("本", [10]), ("日語", []), ("テスト", [10])]
)
def test_a_script_without_spaces_is_found_by_any_stretch_of_it(
    text: str, expected: list[int]
) -> None:
    assert seqs([said(10, "これは日本語のテストです")], text=text) == expected


TOOL = ToolCall(
    id="t",
    title="Edit the parser",
    kind="edit",
    input='{"file":"src/Parser.py"}',
    output="3 lines changed",
    locations=(Location(path="/home/me/src/Parser.py"),),
    diffs=(Diff(path="/home/me/src/Lexer.py", oldText="alpha", newText="omega"),),
)
USED = [said(10, "reads"), said(11, "done", ToolPart(tool=TOOL), agent=ALICE)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"text": "omega"}, [11]),
        ({"text": "alpha changed"}, [11]),
        ({"tool": "EDIT"}, [11]),
        ({"tool": "the pars"}, [11]),
        ({"tool": "read"}, []),
        ({"path": "src/parser"}, [11]),
        ({"path": "lexer.py", "tool": "edit"}, [11]),
        ({"path": "nowhere"}, []),
        ({"agent": "Alice"}, [11]),
        ({"agent": "bob"}, []),
        ({"channel": THERE, "text": "done"}, []),
        ({"since": 11_000}, [11]),
        ({"until": 10_999}, [10]),
    ],
)
def test_filters_narrow_a_search_and_suffice_for_one(
    query: dict[str, Any], expected: list[int]
) -> None:
    assert seqs(USED, **query) == expected


def test_pages_go_on_where_the_last_one_ended_whatever_was_said_since() -> None:
    events = [said(seq, "word") for seq in range(10, 15)]
    first = page(events, text="word", limit=2)
    assert [hit["messageId"] for hit in first["hits"]] == [ids.message_id(14), ids.message_id(13)]
    events.append(said(20, "word"))
    second = page(events, text="word", limit=2, after=first["next"])
    assert [hit["messageId"] for hit in second["hits"]] == [ids.message_id(12), ids.message_id(11)]
    last = page(events, text="word", limit=2, after=second["next"])
    assert (len(last["hits"]), last["next"]) == (1, None)


def test_a_hit_says_where_in_which_part_the_words_stand() -> None:
    text = "x" * 70 + " \n" + "Ⅷ " * 20 + "the Needle, and" + " hay" * 90
    (hit,) = page([said(10, "no", text)], text="needle ha")["hits"]
    assert (hit["part"], hit["kind"], hit["at"]) == (1, "text", text.index("Needle"))
    marked = [hit["excerpt"][span["start"] :][: span["length"]] for span in hit["spans"]]
    assert marked[:3] == ["Needle", "ha", "ha"]
    assert hit["excerpt"].startswith("…")
    assert hit["excerpt"].endswith("…")
    assert "\n" not in hit["excerpt"]


def test_a_big_part_is_searched_whole() -> None:
    big = TextPart(text=BlobRef(sha256="ab" * 32, length=99, head="its beginning"))
    assert seqs([said(10, big)], text="whole abab") == [10]


def test_what_waits_or_grows_is_not_found_yet() -> None:
    assert seqs([said(10, "word", queued=True), said(11, "word", done=False)], text="word") == []


@pytest.mark.parametrize("query", [{}, {"text": "  "}, {"text": "→!"}, {"text": "a", "after": "x"}])
def test_a_search_for_nothing_is_refused(query: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        asked(Search(**query))
