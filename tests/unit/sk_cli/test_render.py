"""What reaches a terminal: no escape sequence of an agent's, one line an event."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_bus import ids
from sk_bus.codec import plain
from sk_bus.errors import problem
from sk_bus.model import ChannelId, Message, MessageId, Role, TextPart, ToolCall, ToolPart
from sk_cli import messages, render, summaries
from sk_cli.jsontext import json_text


def made(seq: int, role: Role = Role.USER, k: int = 0, **fields: Any) -> Message:
    id_ = ids.message_id(seq, k)
    return Message(id=id_, channel=ChannelId("c1"), createdAt=0, role=role, **fields)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain", "plain"),
        ("line\nand\ttab", "line\nand\ttab"),
        ("\x1b[2Jgone", "␛[2Jgone"),
        ("a\rb", "a␍b"),
        ("\x9b31m", "<U+009B>31m"),
        ("\x7f", "␡"),
        ("abc\u202etxt.exe", "abc<U+202E>txt.exe"),
        ("été 👩\u200d🔧", "été 👩\u200d🔧"),
        ("a\u00a0b", "a\u00a0b"),
    ],
)
def test_control_characters_become_visible(written: str, shown: str) -> None:
    assert render.neutral(written) == shown


@given(st.text())
def test_nothing_that_a_terminal_obeys_passes(text: str) -> None:
    controls = [one for one in render.neutral(text) if unicodedata.category(one) == "Cc"]
    assert set(controls) <= {"\n", "\t"}


@given(st.text(), st.integers(2, 50))
def test_one_line_is_one_line_and_not_longer(text: str, length: int) -> None:
    line = render.one_line(text, length)
    assert len(line) <= length
    assert len(line.splitlines()) <= 1


def test_an_agent_that_cannot_answer_shows_its_last_words() -> None:
    failed = problem("start-failed", "bob ended", stderr=["no key\x1b[2J", "bye"])
    message = Message(
        id=MessageId("m1"),
        channel=ChannelId("c1"),
        createdAt=0,
        role=Role.SYSTEM,
        agent="bob",
        code="agent-unavailable",
        error=failed,
    )
    assert messages.system_text(message) == ("bob can't answer: bob ended\n  | no key␛[2J\n  | bye")


def test_half_of_a_surrogate_pair_is_escaped_in_json() -> None:
    assert json_text({"a": "é\udcff"}) == '{"a":"\\u00e9\\udcff"}'


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("no-recipient", "nobody has answered here yet: mention @demo, @Bob"),
        ("permission-ruled", "git status was answered with “Yes” by rule 1 of bob"),
    ],
)
def test_what_a_problem_says_whole_is_said_once(code: str, error: str) -> None:
    message = made(1, Role.SYSTEM, agent="bob", code=code, error=problem(code, error))
    assert messages.system_text(message) == error


# Two questions, the second of which waited; who joined by it, and what was said meanwhile.
ASKED, WAITED = made(1), made(3)
FIRST = made(2, Role.AGENT, agent="al", answers=ASKED.id)
NEXT = made(5, Role.AGENT, agent="bob", answers=ASKED.id)
INVITED = made(4, Role.SYSTEM, agent="dan", code="agent-joined", during=ASKED.id)
JOINED = made(6, Role.SYSTEM, agent="cy", code="agent-joined", during=WAITED.id)
FORGOT = made(7, Role.SYSTEM, agent="cy", code="memory-lost", during=WAITED.id)
LAST = made(8, Role.AGENT, agent="cy", answers=WAITED.id)
ASIDE = made(9, Role.SYSTEM, agent="al", code="agent-left")
READ = [ASKED, FIRST, INVITED, NEXT, WAITED, JOINED, FORGOT, LAST, ASIDE]


@given(st.permutations(READ))
def test_a_question_is_read_before_its_answers_and_what_came_up_meanwhile_among_them(
    found: list[Message],
) -> None:
    assert messages.in_reading_order(found) == READ


def test_what_one_input_made_is_read_in_the_order_of_its_count() -> None:
    asked = made(1, k=9)
    joined = made(1, Role.SYSTEM, k=10, agent="al", code="agent-joined", during=asked.id)
    answer = made(2, Role.AGENT, agent="al", answers=asked.id)
    assert messages.in_reading_order([answer, joined, asked]) == [asked, joined, answer]


def test_a_message_shows_its_parts_and_how_it_ended() -> None:
    message = Message(
        id=MessageId("m1"),
        channel=ChannelId("c1"),
        createdAt=0,
        role=Role.AGENT,
        agent="bob",
        parts=(
            TextPart(text="I look."),
            ToolPart(tool=ToolCall(id="t", title="ls", kind="execute", status="failed")),
        ),
        stopReason="max_tokens",
    )
    assert messages.message_text(message) == ("I look.\n(run: ls – failed)\n[cut: token limit]")


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (
            {"type": "turn:changed", "busy": True, "answering": "alice", "then": ["bob"]},
            "alice is answering, then bob",
        ),
        ({"type": "turn:changed", "busy": False, "queued": 2}, "idle, 2 queued"),
        ({"type": "agent:state", "state": "ready"}, "ready"),
        (
            {
                "type": "agent:state",
                "state": "error",
                "error": plain(problem("x", "it \x1b[0m broke")),
            },
            "error: it ␛[0m broke",
        ),
        ({"type": "message:delta", "kind": "text", "text": "a\nb"}, "text +3: a b"),
        ({"type": "usage:changed", "usage": {"used": 5, "size": 0}}, "5 of ? tokens"),
        ({"type": "of:tomorrow", "x": 1}, "x=1"),
    ],
)
def test_an_event_is_one_line(event: dict[str, object], said: str) -> None:
    assert summaries.summary(event) == said
