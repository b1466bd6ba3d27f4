"""Exports: the same bytes in pieces of any size, a way back, and Markdown that nothing breaks."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sk_bus import ids
from sk_bus.blobs import too_long
from sk_bus.codec import plain
from sk_bus.errors import RefusedError, problem
from sk_bus.events import ChannelsChanged, MessageUpdated
from sk_bus.model import (
    AgentName,
    BlobRef,
    Channel,
    Cursor,
    Diff,
    ImagePart,
    Location,
    Message,
    OtherPart,
    Part,
    PlanPart,
    PlanStep,
    ResourcePart,
    Role,
    TextPart,
    ThoughtPart,
    ToolCall,
    ToolPart,
)
from sk_history import exporting, lines, records
from sk_history.exporting import Form, JsonLines
from sk_history.fold import Fold
from sk_history.importing import NotAnExportError, Reader, Stored, numbered
from sk_history.markdown import Markdown, closed, fenced
from sk_history.store import MemoryStore, Put
from sk_history.texts import Plain

HERE, THERE = ids.channel_id(1), ids.channel_id(2)
ALICE = AgentName("alice")
CHANNELS = (
    Channel(id=HERE, name="here", description="a *place*", members=(ALICE,)),
    Channel(id=THERE, direct=ALICE, members=(ALICE,)),
)
NOW = 1_700_000_000_000
BIG = "a big text 🎉\n" * 2_000
HALF = "half \ud83d of a pair"


class Shelf:
    """Blobs, by a name that is long enough."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def keep(self, text: str) -> Any:
        if not too_long(text):
            return text
        sha256 = f"{len(self.texts):064x}"
        self.texts[sha256] = text
        return plain(BlobRef(sha256=sha256, length=len(text.encode()), head=text[:9]))

    def whole(self, reference: Plain) -> str:
        return self.texts[reference["sha256"]]


TOOL = ToolCall(
    id="t1",
    title="Edit <b>x</b>\n`main`",
    kind="edit",
    status="completed",
    input='{"a":1}',
    output="````\nfenced\n````",
    locations=(Location(path="/a/b.py", line=3),),
    diffs=(Diff(path="/a/b.py", oldText="one\ntwo\n", newText="one\nthree\n"),),
)
PARTS: tuple[Part, ...] = (
    ThoughtPart(text="hmm"),
    TextPart(text="**done**\n\n```py\nx = 1"),
    ToolPart(tool=TOOL),
    PlanPart(steps=(PlanStep(content="one", status="completed"), PlanStep(content="two"))),
    ImagePart(mimeType="image/png", data="aGk="),
    ResourcePart(uri="file:///x", name="x", text="inside"),
    OtherPart(raw={"kind": "new", "deep": [{"text": "?"}]}),
)


def message(seq: int, *parts: Part | str, channel: str = HERE, **rest: Any) -> Message:
    return Message(
        id=ids.message_id(seq),
        channel=channel,
        createdAt=NOW + seq,
        role=Role.AGENT if rest.get("agent") else Role.USER,
        parts=tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts),
        **rest,
    )


SAID = [
    message(10, "Why? \u2028 “quoted” \u0000"),
    message(11, *PARTS, agent=ALICE, stopReason="end_turn", answers=ids.message_id(10), rev=7),
    message(12, BIG, HALF),
    message(13, "hi", channel=THERE),
    Message(
        id=ids.message_id(14),
        channel=THERE,
        createdAt=NOW,
        role=Role.SYSTEM,
        agent=ALICE,
        code="agent-unavailable",
        error=problem("agent-crashed", "{agent} crashed ({how}).", agent="alice", how="exit 3"),
    ),
    message(15, "waits", queued=True),
    message(16, "grows", agent=ALICE, done=False),
]


def history(messages: list[Message], shelf: Shelf) -> tuple[MemoryStore, list[Channel]]:
    store = MemoryStore()
    fold = Fold(store)
    fold.apply(ChannelsChanged(channels=CHANNELS))
    for one in messages:
        fold.apply(MessageUpdated(channel=one.channel, message=one))
    writes = fold.writes(Cursor(epoch=1, seq=9))
    store.write(writes)
    for one in messages:  # as the router keeps big texts
        key = records.message_key(one.channel, one.id)
        kept = lines.kept(records.message(store.get(key) or b""), shelf.keep)
        store.write([Put(key, records.sealed(kept))])
    return store, list(fold.channels.values())


def exported(store: MemoryStore, channels: list[Channel], form: Form, shelf: Shelf) -> str:
    texts = []
    start: exporting.Place | None = exporting.Place()
    while start is not None:
        text, after = exporting.piece(store, channels, form, start, shelf.whole)
        texts.append(text)
        start = None if after is None else exporting.place(after.text())
    return "".join(texts)


def imported(text: str, shelf: Shelf) -> tuple[MemoryStore, list[Channel]]:
    store = MemoryStore()
    channels = []
    for one in Reader(now=NOW + 1000, keep=shelf.keep).read(
        text.encode().splitlines(keepends=True)
    ):
        if isinstance(one, Stored):
            store.write([Put(one.key, one.row)])
        else:
            channels.append(one)
    return store, channels


def test_exported_imported_and_exported_again_the_bytes_are_the_same() -> None:
    shelf, other = Shelf(), Shelf()
    text = exported(*history(SAID, shelf), JsonLines(), shelf)
    again = exported(*imported(text, other), JsonLines(), other)
    assert again == text
    assert text.count("\n") == 1 + 2 + 5, "a line each, and none for what isn't finished"
    assert shelf.texts.keys() == other.texts.keys() != set()


@settings(max_examples=20, deadline=None)
@given(size=st.integers(1, 4000), kind=st.sampled_from(["jsonl", "markdown"]))
def test_pieces_of_any_size_make_the_same_whole(size: int, kind: str) -> None:
    shelf = Shelf()
    form: Form = JsonLines() if kind == "jsonl" else Markdown("en")
    kept = history(SAID, shelf)
    whole = exported(*kept, form, shelf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "PIECE", size)
        assert exported(*kept, exporting.Remembering(form), shelf) == whole


def test_what_is_said_during_an_export_is_in_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PIECE", 100)
    shelf = Shelf()
    store, channels = history([message(10, "first"), message(11, "second")], shelf)
    text, after = exporting.piece(store, channels, JsonLines(), exporting.Place(), shelf.whole)
    late = message(12, "third")
    store.write([Put(records.message_key(HERE, late.id), records.sealed(plain(late)))])
    while after is not None:
        more, after = exporting.piece(store, channels, JsonLines(), after, shelf.whole)
        text += more
    assert [text.count(word) for word in ("first", "second", "third")] == [1, 1, 1]


def test_a_text_that_changed_within_is_not_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PIECE", 300)
    shelf = Shelf()
    store, channels = history([message(10, "x" * 900)], shelf)
    _, after = exporting.piece(store, channels, JsonLines(), exporting.Place(), shelf.whole)
    amended = message(10, "y" * 900)
    store.write([Put(records.message_key(HERE, amended.id), records.sealed(plain(amended)))])
    assert after is not None
    with pytest.raises(RefusedError, match="export it again"):
        exporting.piece(store, channels, JsonLines(), after, shelf.whole)


@pytest.mark.parametrize("cursor", ["", "x", "a/b/c/d", "c1/m2/3/4", "c0000000000000001.0//x/0"])
def test_a_cursor_of_ones_own_making_is_refused(cursor: str) -> None:
    with pytest.raises(RefusedError):
        exporting.place(cursor)


# --- into a history -----------------------------------------------------------------------

HEADER = json.dumps(lines.HEADER)
GOOD = json.dumps({"type": "channel", **plain(CHANNELS[0])})
HI = {"type": "message", **plain(message(10, "hi"))}


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "empty"),
        ("{}", 1, "doesn't begin"),
        ('{"type":"sidekicks-export","version":2}', 1, "version 2"),
        (f"{HEADER}\n[]", 2, "no JSON object"),
        (f"{HEADER}\n{{", 2, "no JSON"),
        (f"{HEADER}\n" + "[" * 99_999, 2, "deep"),
        (f'{HEADER}\n{{"type":"cat"}}', 2, "neither a channel nor a message"),
        (f'{HEADER}\n{{"type":"channel","id":"c1"}}', 2, "is no id"),
        (f"{HEADER}\n{GOOD}\n{GOOD}", 3, "twice"),
        (f"{HEADER}\n{json.dumps(HI)}", 2, "no line before it"),
        (f"{HEADER}\n{GOOD}\n{json.dumps({**HI, 'createdAt': 'noon'})}", 3, "createdAt"),
        (f"{HEADER}\n{GOOD}\n{json.dumps({**HI, 'createdAt': NOW * 2})}", 3, "future"),
        (f"{HEADER}\n{GOOD}\n{json.dumps({**HI, 'id': 'm10.0'})}", 3, "is no id"),
        (f"{HEADER}\n{GOOD}\n{json.dumps({**HI, 'role': 'cat'})}", 3, "role"),
        (
            f"{HEADER}\n{GOOD}\n"
            + json.dumps(
                {
                    **HI,
                    "parts": [
                        {
                            "type": "text",
                            "text": {"sha256": "a" * 64, "length": 1, "head": ""},
                        }
                    ],
                }
            ),
            3,
            "not whole",
        ),
    ],
)
def test_a_line_that_is_wrong_is_named(text: str, line: int, why: str) -> None:
    with pytest.raises(NotAnExportError) as refused:
        list(Reader(now=NOW, keep=None).read(text.encode().splitlines(keepends=True)))
    assert refused.value.line == line
    assert why in refused.value.why


def test_a_name_that_is_taken_gets_a_number_and_stays_within_bounds() -> None:
    assert numbered("Here", {"there"}) == "Here"
    assert numbered("Here", {"here", "here 2"}) == "Here 3"
    assert numbered("x" * 64, {"x" * 64}) == "x" * 62 + " 2"


# --- for people ---------------------------------------------------------------------------


def test_markdown_says_who_and_when_and_folds_thoughts_and_tools() -> None:
    shelf = Shelf()
    text = exported(*history(SAID, shelf), Markdown("en"), shelf)
    for piece in (
        "# \\#here\n\na \\*place\\*\n\nMembers: alice\n\n",
        "## You · 2023-11-14 22:13:20 UTC",
        "<details>\n\n<summary>Thought</summary>\n\n```\nhmm\n```\n\n</details>",
        "**done**\n\n```py\nx = 1\n```\n\n",
        "<summary>edit: Edit &lt;b&gt;x&lt;/b&gt; `main` (completed)</summary>",
        "- `/a/b.py:3`",
        "`````\n````\nfenced\n````\n`````",
        "-two\n+three",
        "- [x] one\n- [ ] two",
        "# Conversation with alice",
        "*alice didn’t answer: alice crashed (exit 3). · ",
    ):
        assert piece in text
    assert "waits" not in text
    assert "grows" not in text
    text.encode()


def test_markdown_speaks_french() -> None:
    shelf = Shelf()
    text = exported(*history(SAID, shelf), Markdown("fr"), shelf)
    for piece in (
        "## Vous · ",
        "Réflexion",
        "Membres\u202f: alice",
        "répondu\u202f: alice a planté",
    ):
        assert piece in text


def test_markdown_says_once_what_a_problem_says_whole() -> None:
    why = problem("no-recipient", "nobody has answered here yet: mention @demo")
    one = message(17, code="no-recipient", error=why)
    text = exported(*history([replace(one, role=Role.SYSTEM)], Shelf()), Markdown("en"), Shelf())
    assert "\n*nobody has answered here yet: mention @demo · 2023-" in text


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("plain", ""),
        ("```\ncode\n```", ""),
        ("```\ncode", "\n```"),
        ("~~~~\n```\n~~~", "\n~~~~"),
        ("````py\n```\nx", "\n````"),
        ("``` not a fence ` here", ""),
        ("a <!-- b", "\n-->"),
        ("a <!-- b --> c", ""),
        ("```\n<!--", "\n```"),
    ],
)
def test_what_a_message_leaves_open_is_closed_behind_it(text: str, end: str) -> None:
    assert closed(text) == text + end


@given(st.text(st.sampled_from("`~ab\n "), max_size=60))
def test_no_text_closes_its_own_fence(text: str) -> None:
    fence, *inside, last = fenced(text).split("\n")
    assert fence == last
    assert all(not line.lstrip().startswith(fence) for line in inside)
