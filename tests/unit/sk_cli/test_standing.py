"""How things stand: contexts, reports, tables on wide and narrow terminals, colours."""

import io
import sys

import pytest

from sk_bus.model import Channel, ChannelId, Usage
from sk_bus.queries import ConversationView
from sk_cli import standing
from sk_cli.invocation import Invocation
from sk_cli.render import size
from sk_cli.standing import Place
from sk_cli.tables import State, table


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def view(id_: str, **more: object) -> ConversationView:
    channel = Channel(id=ChannelId(id_), name=id_)
    return ConversationView(**{"channel": channel, "messages": (), "more": False, **more})


def test_an_agent_stands_where_it_answers_and_else_where_it_is_fullest() -> None:
    usage = {"bob": Usage(used=9, size=10), "al": Usage(used=1, size=10)}
    found = standing.places(
        [
            view("c1", usage=usage),
            view("c2", usage={"bob": Usage(used=5, size=10)}),
            view("c3", usage={"al": Usage(used=2, size=10)}, busy=True, answering="al"),
        ]
    )
    assert found["bob"] == Place(usage=Usage(used=9, size=10))
    assert found["al"].channel == Channel(id=ChannelId("c3"), name="c3")
    assert found["al"].usage == Usage(used=2, size=10)


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (None, "–"),
        (Usage(used=900), "900"),
        (Usage(used=76_000, size=200_000), "76k/200k 38 %"),
        (Usage(used=0, size=8_000), "0/8k 0 %"),
    ],
)
def test_how_full_a_context_is(usage: Usage | None, said: str) -> None:
    assert standing.context(Place(usage=usage)) == said


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ({}, ""),
        ({"full": False, "browsers": 0}, ""),
        ({"full": True}, "the journal is full"),
        ({"holes": 0}, ""),
        ({"holes": 2}, "2 gaps read again"),
        ({"browsers": 1, "journal": 83_000}, "1 browser, journal 83 kB"),
        ({"of-tomorrow": "x\x1b"}, "of-tomorrow x␛"),
    ],
)
def test_a_report_says_what_is_not_as_usual(report: dict[str, object], said: str) -> None:
    assert standing.details(report) == said


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (83_400, "83 kB"),
        (1_234_567, "1.2 MB"),
        (5 * 10**12, "5000 GB"),
    ],
)
def test_a_size_is_said_in_its_unit(length: int, said: str) -> None:
    assert size(length) == said


ROWS = [["alice", State("busy"), "–", "answers \x1b[2J a long question"]]
HEADS = ["AGENT", "STATE", "MEMORY", ""]


def drawn(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, columns: int) -> list[str]:
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", str(columns))
    table(Invocation(color="never"), HEADS, ROWS)
    return stream.getvalue().splitlines()


def test_a_table_in_a_pipe_is_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, io.StringIO(), 10) == [
        "AGENT  STATE  MEMORY",
        "alice  busy   –       answers ␛[2J a long question",
    ]


def test_a_narrow_terminal_gets_a_few_lines_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, Terminal(), 30) == [
        "alice",
        "  state busy, answers ␛[2J a",
        "  long question",
    ]


@pytest.mark.parametrize("columns", range(12, 80, 7))
def test_no_line_is_wider_than_its_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    assert max(len(line) for line in drawn(monkeypatch, Terminal(), columns)) <= columns


@pytest.mark.parametrize(
    ("flag", "variables", "terminal", "coloured"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colours_are_for_those_who_want_them(
    monkeypatch: pytest.MonkeyPatch,
    flag: str,
    variables: dict[str, str],
    terminal: bool,
    coloured: bool,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = Terminal() if terminal else io.StringIO()
    assert Invocation(color=flag).colors(stream) is coloured
