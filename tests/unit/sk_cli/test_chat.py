"""What `chat` shows and understands: the machine behind it, without a terminal."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import DummyInput
from prompt_toolkit.output import DummyOutput

from sk_bus.errors import problem
from sk_bus.events import (
    MessageDelta,
    MessageUpdated,
    PermissionRequested,
    PermissionResolved,
    TurnChanged,
)
from sk_bus.memory import MemoryBus
from sk_bus.model import (
    AgentName,
    Channel,
    ChannelId,
    Message,
    MessageId,
    PermissionId,
    PermissionOption,
    Role,
    SlashCommand,
    TextPart,
    ToolCall,
    WaitingFor,
)
from sk_bus.paths import Instance
from sk_bus.queries import Answering, ConversationView, PreviewView
from sk_bus.vocabulary import Event
from sk_cli import outlook
from sk_cli.chatting import Chat
from sk_cli.choice import Choice
from sk_cli.invocation import Invocation
from sk_cli.names import Unsigned, signature
from sk_cli.talk import Said, Spoke, Talk
from sk_cli.telling import Asks, Began, Noted, Settled, Wrote
from sk_cli.typed import Candidate, Choose, Own, Say, candidates, meaning
from sk_cli.wrapping import wrapped

HERE = ChannelId("c1")
ALICE, BOB = AgentName("alice"), AgentName("bob")


def message(id_: str, text: str, *, agent: str = "", **more: object) -> Message:
    role = Role.AGENT if agent else Role.USER
    parts = (TextPart(text=text),) if text else ()
    fields = {"channel": HERE, "createdAt": 0, "role": role, "agent": agent, "parts": parts}
    return Message(id=MessageId(id_), **{**fields, **more})


def updated(id_: str, text: str, **more: object) -> MessageUpdated:
    return MessageUpdated(channel=HERE, message=message(id_, text, **more))


def delta(id_: str, text: str, rev: int) -> MessageDelta:
    return MessageDelta(
        channel=HERE, messageId=MessageId(id_), index=0, kind="text", rev=rev, text=text
    )


ASKED = PermissionRequested(
    id=PermissionId("p1"),
    channel=HERE,
    agent=ALICE,
    messageId=MessageId("m2"),
    toolCall=ToolCall(id="t", title="rm -r build", kind="execute"),
    options=(
        PermissionOption(optionId="yes", name="Allow", kind="allow_once"),
        PermissionOption(optionId="no", name="Refuse", kind="reject_once"),
    ),
)


def told(*events: Event) -> list[Said]:
    talk = Talk(HERE)
    return [said for event in events for said in talk.handle(event)]


def test_two_agents_answer_one_after_the_other_each_with_its_name() -> None:
    assert told(
        updated("m1", "both?"),
        updated("m2", "", agent="alice", done=False),
        delta("m2", "Yes.", 1),
        updated("m2", "Yes.", agent="alice", stopReason="end_turn", rev=1),
        updated("m3", "", agent="bob", done=False),
        delta("m3", "No.", 1),
    ) == [
        Spoke(text="both?", queued=False),
        Began(agent=ALICE),
        Wrote(text="Yes."),
        Began(agent=BOB),
        Wrote(text="No."),
    ]


def test_a_name_stands_again_before_what_goes_on_after_somebody_else_spoke() -> None:
    assert told(
        updated("m2", "one ", agent="alice", done=False, rev=1),
        updated("m3", "and?", queued=True),
        delta("m2", "two", 2),
    ) == [
        Began(agent=ALICE),
        Wrote(text="one "),
        Spoke(text="and?", queued=True),
        Began(agent=ALICE),
        Wrote(text="two"),
    ]


def test_what_comes_twice_is_said_once() -> None:
    same = (updated("m1", "hi"), updated("m2", "a", agent="bob", done=False, rev=1))
    grown = delta("m2", "b", 2)
    assert told(*same, grown, *same, grown) == told(*same, grown)


def test_a_message_that_was_dropped_is_said_with_its_reason() -> None:
    dropped = problem("cancelled", "cancelled")
    assert told(updated("m1", "later", queued=True), updated("m1", "later", error=dropped)) == [
        Spoke(text="later", queued=True),
        Noted(line="not sent: “later” (cancelled)"),
    ]


def test_events_of_other_channels_are_not_shown() -> None:
    other = ChannelId("c2")
    assert told(MessageUpdated(channel=other, message=message("m1", "hi", channel=other))) == []


def view(*messages: Message, **more: object) -> ConversationView:
    fields = {"channel": Channel(id=HERE, name="ops"), "messages": messages, "more": False}
    return ConversationView(**{**fields, **more})


def test_only_the_last_messages_are_shown_at_the_beginning_and_none_again_later() -> None:
    talk = Talk(HERE)
    past = [message(f"m{at}", str(at)) for at in range(5)]
    assert talk.begin(view(*past), 2) == [
        Spoke(text="3", queued=False),
        Spoke(text="4", queued=False),
    ]
    assert talk.restored(view(*past, message("m9", "9"))) == [Spoke(text="9", queued=False)]


def test_with_zero_nothing_of_the_past_is_shown() -> None:
    assert Talk(HERE).begin(view(message("m1", "1")), 0) == []


def test_a_request_waits_until_somebody_settles_it() -> None:
    talk = Talk(HERE)
    assert talk.handle(ASKED) == [Asks(permission=ASKED)]
    assert talk.waiting() == ASKED
    settled = PermissionResolved(id=ASKED.id, channel=HERE, by="page", optionId="no")
    assert talk.handle(settled) == [Settled(id=ASKED.id, by="page", optionId="no")]
    assert talk.waiting() is None
    assert talk.handle(settled) == []


def test_a_queue_alone_is_something_to_stop() -> None:
    talk = Talk(HERE)
    assert not talk.busy
    talk.handle(TurnChanged(channel=HERE, busy=False, queued=1))
    assert talk.busy


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("", None),
        ("   ", None),
        ("/quit", Own.QUIT),
        (" /stop ", Own.STOP),
        ("/usage", Own.USAGE),
        ("/help", Own.HELP),
        ("//stop", Say(text="/stop")),
        ("/stopp", Say(text="/stopp")),
        ("/alice:stop now", Say(text="/alice:stop now")),
        ("1", Choose(permission=ASKED, optionId="yes")),
        ("2", Choose(permission=ASKED, optionId="no")),
        ("no", Choose(permission=ASKED, optionId="no")),
        ("3", Say(text="3")),
        ("0", Say(text="0")),
        ("²", Say(text="²")),
        ("  indented", Say(text="  indented")),
    ],
)
def test_what_a_line_means_while_a_request_waits(line: str, meant: object) -> None:
    assert meaning(line, ASKED) == meant


def test_a_number_is_a_message_when_nothing_waits() -> None:
    assert meaning("1", None) == Say(text="1")


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ("@", ["@alice ", "@bob "]),
        ("hello @AL", ["@alice "]),
        ("me@al", []),
        ("@alice x", []),
        ("/", ["/alice:plan ", "/bob:long ", "/quit", "/stop", "/usage", "/help"]),
        ("/bob:", ["/bob:long "]),
        ("see /bob", []),
        ("plain", []),
    ],
)
def test_a_mention_or_a_command_is_completed(before: str, found: list[str]) -> None:
    commands = {ALICE: [SlashCommand(name="plan")], BOB: [SlashCommand(name="long")]}
    made = candidates(before, titles={"alice": "Alice", "bob": "Bob"}, commands=commands, direct="")
    assert [one.text for one in made] == found


def test_in_a_direct_conversation_a_command_needs_no_name() -> None:
    commands = {BOB: [SlashCommand(name="long", hint="words")]}
    (made,) = candidates("/lo", titles={}, commands=commands, direct="bob")
    assert made == Candidate(text="/long ", replaced=3, about="words")


@pytest.mark.parametrize(
    ("preview", "said"),
    [
        (
            PreviewView(answering=(Answering(agent=ALICE), Answering(agent=BOB))),
            "→ alice, then bob",
        ),
        (
            PreviewView(answering=(Answering(agent=ALICE, joins=True, starts=True, stops=BOB),)),
            "→ alice (joins, will start, stops bob)",
        ),
        (
            PreviewView(
                answering=(
                    Answering(agent=BOB, waitsFor=WaitingFor(agent=BOB, channel=ChannelId("c2"))),
                )
            ),
            "→ bob (busy in #ops)",
        ),
        (
            PreviewView(answering=(Answering(agent=BOB),), unknown=("bib",)),
            "→ bob · nobody is called @bib",
        ),
        (PreviewView(answering=(), problem=problem("no-recipient", "nobody")), "nobody"),
    ],
)
def test_who_would_answer_is_one_line(preview: PreviewView, said: str) -> None:
    assert outlook.said(preview, {ChannelId("c2"): "#ops"}) == said


def test_whose_turn_it_is_is_one_line() -> None:
    turn = TurnChanged(channel=HERE, busy=True, answering=ALICE, then=(BOB,), queued=2)
    assert outlook.turn(turn, {}) == "alice is answering, then bob, 2 queued"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Alice: hello", "hello"),
        ("alice: hello", "hello"),
        ("Alice hello", "Alice hello"),
        ("Alicia: hello", "Alicia: hello"),
        ("Ali", "Ali"),
        ("Alice:", ""),
        ("", ""),
        ("Alice:\n\n hello Alice: x", "hello Alice: x"),
    ],
)
def test_an_agents_own_name_in_front_is_not_shown(text: str, shown: str) -> None:
    signs = ["alice", "Alice"]
    assert text[signature(text, signs) :] == shown
    for cut in range(len(text) + 1):
        letting = Unsigned(signs)
        assert letting.wrote(text[:cut]) + letting.wrote(text[cut:]) + letting.ended() == shown


@given(st.text(alphabet="ab  \u4e00", max_size=60), st.integers(2, 20))
def test_a_wrapped_line_fits_and_loses_nothing_but_spaces(line: str, width: int) -> None:
    rows = wrapped(line, width, len)
    assert "".join(rows).replace(" ", "") == line.replace(" ", "")
    assert all(len(row.rstrip(" ")) <= width for row in rows)


def test_a_list_stays_as_deep_as_it_begins() -> None:
    assert wrapped("  - one two three", 11, len) == ["  - one two", "  three"]


def test_what_one_said_here_can_be_called_back_and_is_kept_in_no_file(tmp_path: Path) -> None:
    told = Invocation()
    instance = Instance(name="test", state=tmp_path, run=tmp_path)
    told.choice = Choice(instance=instance, config=tmp_path / "c.yaml", source="default")
    kept = tmp_path / "chat-history"
    kept.write_text("+of a channel that was deleted\n")
    said = (message("m1", "one"), message("m2", "an answer", agent="alice"), message("m3", "two"))
    view = ConversationView(channel=Channel(id=HERE, name="ops"), messages=said, more=False)

    async def recalled() -> list[str]:
        with create_app_session(input=DummyInput(), output=DummyOutput()):
            chat = Chat(told, MemoryBus(directory=tmp_path).client(), view)
            history = chat._screen._session.history
            history.append_string("three")
            return [line async for line in history.load()]

    assert asyncio.run(recalled()) == ["three", "two", "one"]
    assert list(tmp_path.iterdir()) == []
