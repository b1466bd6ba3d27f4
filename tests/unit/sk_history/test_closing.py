"""What becomes of unfinished things: after a kill, an orderly close, a lost log."""

import pytest

from sk_bus import ids
from sk_bus.commands import Shutdown
from sk_bus.events import (
    ChannelsChanged,
    CommandResult,
    ConfigChanged,
    MessageDelta,
    MessageUpdated,
    PermissionRequested,
    TurnChanged,
)
from sk_bus.internal import FileOpenable
from sk_bus.model import (
    AgentName,
    Channel,
    CommandId,
    Cursor,
    Message,
    Problem,
    PublicConfig,
    Role,
    TextPart,
    ToolCall,
    ToolPart,
)
from sk_bus.vocabulary import Event
from sk_history.fold import Fold
from sk_history.store import MemoryStore
from tests.unit.sk_history.logs import conversation

ALICE = AgentName("alice")
HERE = ids.channel_id(1)
QUESTION, ANSWER, WAITING = ids.message_id(10), ids.message_id(11), ids.message_id(20)
STOP = CommandId("stop")


def update(id_: str, role: Role, *, text: str = "", **rest: object) -> MessageUpdated:
    message = Message(
        id=id_, channel=HERE, createdAt=1, role=role, parts=(TextPart(text=text),), **rest
    )
    return MessageUpdated(channel=HERE, message=message)


def delta(rev: int, index: int, text: str | None = None, part: object = None) -> MessageDelta:
    return MessageDelta(
        channel=HERE, messageId=ANSWER, index=index, kind="text", rev=rev, text=text, part=part
    )


UNDER_WAY: list[Event] = [
    ChannelsChanged(channels=(Channel(id=HERE, direct=ALICE, members=(ALICE,)),)),
    update(QUESTION, Role.USER, text="why?"),
    update(ANSWER, Role.AGENT, done=False),
    TurnChanged(channel=HERE, busy=True, queued=1, answering=ALICE),
    delta(1, 0, "Becau"),
    delta(2, 1, part=ToolPart(tool=ToolCall(id="t", status="in_progress"))),
    update(WAITING, Role.USER, text="and?", queued=True),
    PermissionRequested(
        id=ids.permission_id(15),
        channel=HERE,
        agent=ALICE,
        messageId=ANSWER,
        toolCall=ToolCall(id="t"),
        options=(),
    ),
]
# What the router says while it closes
CLOSED: list[Event] = [
    update(ANSWER, Role.AGENT, text="Becau", stopReason="cancelled"),
    update(WAITING, Role.USER, text="and?", error=Problem(id="cancelled", message="cancelled")),
    TurnChanged(channel=HERE, busy=False),
]
KEEP = ConfigChanged(path="/c", valid=True, config=PublicConfig(keepUnfinished=True))
DONE = CommandResult(id=STOP, ok=True)


def after(*stretches: list[Event]) -> tuple[MemoryStore, Fold]:
    """Each stretch by a process of its own."""
    store = MemoryStore()
    fold = Fold(store)
    for seq, stretch in enumerate(stretches, 1):
        fold = Fold(store)
        for event in stretch:
            fold.apply(event)
        store.write(fold.writes(Cursor(epoch=1, seq=seq)))
    return store, fold


def messages(store: MemoryStore) -> dict[str, dict]:
    view = conversation(store, Fold(store), HERE)
    return {message["id"]: message for message in view["messages"]}


def begin_epoch(store: MemoryStore) -> dict[str, dict]:
    fold = Fold(store)
    fold.new_epoch()
    store.write(fold.writes(Cursor(epoch=2, seq=0)))
    return messages(store)


def test_after_a_lost_log_a_partial_answer_is_interrupted_with_its_text() -> None:
    store, _ = after(UNDER_WAY)
    answer = begin_epoch(store)[ANSWER]
    assert answer["done"]
    assert answer["error"]["id"] == "interrupted"
    assert answer["parts"][0] == {"type": "text", "text": "Becau"}


def test_after_a_lost_log_a_tool_under_way_is_unreported() -> None:
    store, _ = after(UNDER_WAY)
    assert begin_epoch(store)[ANSWER]["parts"][1]["tool"]["ended"] == "unreported"


def test_after_a_lost_log_the_queue_is_not_sent() -> None:
    store, _ = after(UNDER_WAY)
    waiting = begin_epoch(store)[WAITING]
    assert (waiting["queued"], waiting["error"]["id"]) == (False, "not-sent")


def test_after_a_lost_log_no_permission_waits_and_no_turn_is_open() -> None:
    store, _ = after(UNDER_WAY)
    begin_epoch(store)
    view = conversation(store, Fold(store), HERE)
    assert (view["permissions"], view.get("busy", False)) == ([], False)


def test_after_a_lost_log_finished_messages_stay_as_they_are() -> None:
    store, _ = after(UNDER_WAY)
    before = messages(store)[QUESTION]
    assert begin_epoch(store)[QUESTION] == before


def test_a_new_epoch_begun_twice_is_one() -> None:
    store, _ = after(UNDER_WAY)
    once = begin_epoch(store)
    assert begin_epoch(store) == once


@pytest.mark.parametrize(
    "stretches",
    [
        [[*UNDER_WAY, Shutdown(id=STOP), *CLOSED, DONE]],
        [UNDER_WAY, [Shutdown(id=STOP)], CLOSED, [DONE]],
        [[*UNDER_WAY, Shutdown(id=STOP), DONE]],
    ],
    ids=["at once", "killed in between", "the router said nothing"],
)
def test_an_orderly_close_leaves_only_what_was_finished(stretches: list[list[Event]]) -> None:
    store, _ = after(*stretches)
    assert list(messages(store)) == [QUESTION]


@pytest.mark.parametrize("killed", [False, True])
def test_an_orderly_close_keeps_what_is_to_be_kept(*, killed: bool) -> None:
    before, then = [KEEP, *UNDER_WAY, Shutdown(id=STOP)], [*CLOSED, DONE]
    store, _ = after(before, then) if killed else after(before + then)
    kept = messages(store)
    assert kept[ANSWER]["error"]["id"] == "interrupted"
    assert kept[ANSWER]["parts"] == [{"type": "text", "text": "Becau"}]
    assert kept[WAITING]["error"]["id"] == "not-sent"


THINKING: list[Event] = [
    ChannelsChanged(channels=(Channel(id=HERE, direct=ALICE, members=(ALICE,)),)),
    update(QUESTION, Role.USER, text="why?"),
]
# Its turn ends before it has said a word: only then is there a message, and it is whole.
NOTHING_CAME = update(ANSWER, Role.AGENT, stopReason="cancelled")


@pytest.mark.parametrize(
    "stretches",
    [
        [[*THINKING, Shutdown(id=STOP), NOTHING_CAME, DONE]],
        [[*THINKING, Shutdown(id=STOP)], [NOTHING_CAME], [DONE]],
    ],
    ids=["at once", "killed in between"],
)
@pytest.mark.parametrize(
    ("first", "kept"), [([], {}), ([KEEP], {ANSWER: "interrupted"})], ids=["not kept", "kept"]
)
def test_an_answer_that_had_not_begun_ends_with_the_close_like_any(
    stretches: list[list[Event]], first: list[Event], kept: dict[str, str]
) -> None:
    store, _ = after(first, *stretches)
    answers = {id_: one for id_, one in messages(store).items() if id_ != QUESTION}
    assert {id_: one["error"]["id"] for id_, one in answers.items()} == kept


def test_a_refused_close_changes_nothing() -> None:
    store, _ = after(UNDER_WAY, [Shutdown(id=STOP), CommandResult(id=STOP, ok=False)])
    assert list(messages(store)) == [QUESTION, ANSWER, WAITING]


def test_opening_another_file_ends_with_the_epoch() -> None:
    store, _ = after(UNDER_WAY, [FileOpenable(command=STOP, path="/other"), DONE])
    assert list(messages(store)) == [QUESTION, ANSWER, WAITING]
    assert list(begin_epoch(store)) == [QUESTION]


def test_opening_another_file_keeps_what_is_to_be_kept() -> None:
    store, _ = after([KEEP, *UNDER_WAY, FileOpenable(command=STOP, path="/other")], [*CLOSED, DONE])
    kept = begin_epoch(store)
    assert [kept[id_]["error"]["id"] for id_ in (ANSWER, WAITING)] == ["interrupted", "not-sent"]


WHY = Problem(id="no-such-file", message="there is none")


@pytest.mark.parametrize(
    "said",
    [
        [FileOpenable(command=STOP, path="/other", problem=WHY)],
        [FileOpenable(command=STOP, path="/other", already=True), DONE],
        [FileOpenable(command=STOP, path="/other"), CommandResult(id=STOP, ok=False)],
    ],
    ids=["no such file", "the one in force", "refused for another close"],
)
def test_a_file_that_isnt_opened_closes_nothing(said: list[Event]) -> None:
    store, _ = after(UNDER_WAY, said)
    assert begin_epoch(store)[ANSWER]["error"]["id"] == "interrupted"


def test_what_is_said_after_a_close_is_not_part_of_it() -> None:
    later = update(ids.message_id(30), Role.USER, text="again")
    store, _ = after(UNDER_WAY, [Shutdown(id=STOP), *CLOSED, DONE, later])
    assert list(begin_epoch(store)) == [QUESTION, ids.message_id(30)]
