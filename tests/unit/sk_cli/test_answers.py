"""The answers to one message, told as they grow: the script of events, and what is said of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_bus.errors import problem
from sk_bus.events import (
    MessageDelta,
    MessageUpdated,
    PermissionRequested,
    PermissionResolved,
    TurnChanged,
)
from sk_bus.model import (
    AgentName,
    BlobRef,
    Channel,
    ChannelId,
    Message,
    MessageId,
    PermissionId,
    PermissionOption,
    Role,
    TextPart,
    ToolCall,
    ToolPart,
)
from sk_bus.queries import ConversationView
from sk_cli.answers import Answers, Ended, HeldUp, Said, Waits
from sk_cli.telling import Asks, Began, Noted, Settled, Wrote

CHANNEL = ChannelId("c1")
QUESTION = MessageId("m1")
BOB = AgentName("bob")
IDLE = TurnChanged(channel=CHANNEL, busy=False)
OURS = TurnChanged(channel=CHANNEL, busy=True, answering=BOB, answers=QUESTION)


def answer(text: str | BlobRef = "", **fields: object) -> Message:
    return Message(
        **{
            "id": MessageId("m2"),
            "channel": CHANNEL,
            "createdAt": 0,
            "role": Role.AGENT,
            "agent": BOB,
            "answers": QUESTION,
            "done": False,
            "parts": (TextPart(text=text),) if text else (),
            **fields,
        }
    )


def updated(message: Message) -> MessageUpdated:
    return MessageUpdated(channel=CHANNEL, message=message)


def delta(rev: int, text: str, *, index: int = 0, kind: str = "text") -> MessageDelta:
    return MessageDelta(
        channel=CHANNEL, messageId=MessageId("m2"), index=index, kind=kind, rev=rev, text=text
    )


def told(*events: object, answers: Answers | None = None) -> list[Said]:
    answers = answers or Answers(QUESTION, CHANNEL)
    return [said for event in events for said in answers.handle(event)]


def written(said: list[Said]) -> str:
    return "".join(one.text for one in said if isinstance(one, Wrote))


DONE = answer("Hello", done=True, stopReason="end_turn", rev=2)


def test_an_answer_is_told_as_it_grows_and_ends_well() -> None:
    assert told(OURS, updated(answer()), delta(1, "Hel"), delta(2, "lo"), updated(DONE), IDLE) == [
        Began(agent=BOB),
        Wrote(text="Hel"),
        Wrote(text="lo"),
        Ended(well=True),
    ]


def test_a_delta_that_comes_twice_is_told_once() -> None:
    assert written(told(updated(answer()), delta(1, "Hel"), delta(1, "Hel"))) == "Hel"


def test_what_the_deltas_left_out_comes_with_the_done_message() -> None:
    assert written(told(updated(answer()), delta(1, "Hel"), updated(DONE))) == "Hello"


def test_a_text_too_big_to_travel_was_told_by_its_deltas() -> None:
    big = answer(BlobRef(sha256="0", length=5, head="H"), done=True, stopReason="end_turn", rev=1)
    assert written(told(updated(answer()), delta(1, "Hello"), updated(big), IDLE)) == "Hello"


def test_text_after_something_else_stands_in_a_paragraph_of_its_own() -> None:
    assert written(told(updated(answer()), delta(1, "a"), delta(2, "b", index=2))) == "a\n\nb"


def test_thoughts_are_not_the_answer() -> None:
    assert written(told(updated(answer()), delta(1, "hm", kind="thought"))) == ""


def test_each_change_of_a_tool_is_noted_once() -> None:
    part = ToolPart(tool=ToolCall(id="t", title="ls", kind="execute", status="completed"))
    event = MessageDelta(
        channel=CHANNEL, messageId=MessageId("m2"), index=0, kind="tool", rev=1, part=part
    )
    again = updated(answer(parts=(part,), done=True, stopReason="end_turn", rev=1))
    notes = [one for one in told(updated(answer()), event, again) if isinstance(one, Noted)]
    assert notes == [Noted(line="(run: ls – done)")]


@pytest.mark.parametrize("reason", ["cancelled", "max_tokens", "refusal", "something-new"])
def test_an_answer_that_ends_otherwise_is_not_well(reason: str) -> None:
    ended = answer("Hel", done=True, stopReason=reason, rev=1)
    assert told(OURS, updated(ended), IDLE)[-1] == Ended(well=False)


def test_an_answer_that_ends_with_an_error_says_which() -> None:
    ended = answer("Hel", done=True, error=problem("agent-ended", "bob ended"), rev=1)
    assert told(OURS, updated(ended), IDLE)[-2:] == [Noted(line="bob ended"), Ended(well=False)]


def test_the_turn_of_an_earlier_message_ends_nothing() -> None:
    other = TurnChanged(channel=CHANNEL, busy=True, answers=MessageId("m0"), queued=1)
    assert told(other, OURS) == []


def test_the_turn_of_a_later_message_ends_ours() -> None:
    later = TurnChanged(channel=CHANNEL, busy=True, answers=MessageId("m9"))
    assert told(OURS, updated(DONE), later)[-1] == Ended(well=True)


def test_a_message_dropped_from_the_queue_has_no_answer() -> None:
    dropped = Message(
        id=QUESTION,
        channel=CHANNEL,
        createdAt=0,
        role=Role.USER,
        error=problem("cancelled", "cancelled"),
    )
    assert told(updated(dropped)) == [Noted(line="cancelled"), Ended(well=False)]


def test_nobody_to_answer_ends_the_wait() -> None:
    nobody = answer(role=Role.SYSTEM, agent="", code="no-recipient", done=True)
    assert told(updated(nobody))[-1] == Ended(well=False)


def test_one_agent_that_cannot_answer_makes_it_not_well_but_the_other_is_told() -> None:
    missing = answer(id=MessageId("m8"), role=Role.SYSTEM, code="agent-unavailable", done=True)
    said = told(OURS, updated(missing), updated(DONE), IDLE)
    assert written(said) == "Hello"
    assert said[-1] == Ended(well=False)


def test_other_channels_and_other_answers_say_nothing() -> None:
    elsewhere = MessageUpdated(channel=ChannelId("c9"), message=answer("x"))
    assert told(elsewhere, updated(answer("x", answers=MessageId("m0")))) == []


def test_a_request_for_leave_is_handed_on_until_it_is_settled() -> None:
    asked = PermissionRequested(
        id=PermissionId("p1"),
        channel=CHANNEL,
        agent=BOB,
        messageId=MessageId("m2"),
        toolCall=ToolCall(id="t"),
        options=(PermissionOption(optionId="yes", name="Yes"),),
    )
    settled = PermissionResolved(id=PermissionId("p1"), channel=CHANNEL, by="page", optionId="yes")
    assert told(updated(answer()), asked, settled) == [
        Asks(permission=asked),
        Settled(id=PermissionId("p1"), by="page", optionId="yes"),
    ]


def test_a_queued_message_says_so_once_and_what_holds_it_up() -> None:
    queued = Message(id=QUESTION, channel=CHANNEL, createdAt=0, role=Role.USER, queued=True)
    asked = PermissionRequested(
        id=PermissionId("p1"),
        channel=CHANNEL,
        agent=BOB,
        messageId=MessageId("m0"),
        toolCall=ToolCall(id="t"),
        options=(),
    )
    assert told(updated(queued), updated(queued), asked, OURS, asked) == [
        Waits(),
        HeldUp(permission=asked),
    ]


def view(message: Message, *, busy: bool) -> ConversationView:
    return ConversationView(channel=Channel(id=CHANNEL), messages=(message,), more=False, busy=busy)


def test_after_missed_events_only_what_is_new_is_told() -> None:
    answers = Answers(QUESTION, CHANNEL)
    told(OURS, updated(answer()), delta(1, "Hel"), answers=answers)
    assert answers.restored(view(answer("Hello", rev=2), busy=True)) == [Wrote(text="lo")]


def test_after_missed_events_an_answer_that_is_over_ends() -> None:
    answers = Answers(QUESTION, CHANNEL)
    told(OURS, updated(answer()), answers=answers)
    assert answers.restored(view(DONE, busy=False)) == [
        Began(agent=BOB),
        Wrote(text="Hello"),
        Ended(well=True),
    ]


@given(
    pieces=st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=12),
    data=st.data(),
)
def test_whatever_comes_twice_or_is_made_up_for_the_text_is_the_agents(
    pieces: list[str], data: st.DataObject
) -> None:
    answers = Answers(QUESTION, CHANNEL)
    said = told(OURS, updated(answer()), answers=answers)
    for rev, piece in enumerate(pieces, 1):
        whole = "".join(pieces[:rev])
        if data.draw(st.booleans(), label="missed, then restored"):
            said += answers.restored(view(answer(whole, rev=rev), busy=True))
            continue
        said += answers.handle(delta(rev, piece))
        if data.draw(st.booleans(), label="comes again"):
            said += answers.handle(delta(data.draw(st.integers(1, rev)), "again"))
    said += told(updated(answer("".join(pieces), done=True, rev=len(pieces))), answers=answers)
    assert written(said) == "".join(pieces)
