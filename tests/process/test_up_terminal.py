"""What a person meets at a terminal: questions, colours, and nothing that an agent could forge."""

import os
import re
from collections.abc import Iterator

import pytest

from tests.support.instance import TestInstance, running
from tests.support.terminal import Terminal

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def shared() -> Iterator[TestInstance]:
    with running() as instance:
        yield instance


@pytest.fixture
def send(shared: TestInstance) -> Iterator[Terminal]:
    terminal = Terminal(shared, "send", "@demo", "permission", "--wait")
    yield terminal
    terminal.close()


def test_a_request_for_leave_is_asked_and_answered_by_its_number(send: Terminal) -> None:
    send.until(r"number\?")
    send.keys("99\n")
    send.until("a number from 1 to")
    send.keys("1\n")
    assert send.ended() == 0, send.shown
    assert re.search(r"\(by cli\)", send.shown)


def test_an_answer_from_elsewhere_closes_the_question(shared: TestInstance, send: Terminal) -> None:
    send.until(r"number\?")
    (waiting,) = shared.json("permissions", "list")
    shared.cli("permissions", "answer", waiting["id"], waiting["options"][0]["optionId"])
    assert send.ended() == 0, send.shown


def test_a_state_has_a_colour_on_a_terminal_and_none_in_a_pipe(shared: TestInstance) -> None:
    terminal = Terminal(shared, "status")
    try:
        assert terminal.ended() == 0
        assert "\x1b[32mrunning" in terminal.shown
    finally:
        terminal.close()
    assert "\x1b" not in shared.cli("status").stdout
    assert "\x1b" in shared.cli("--color", "always", "status").stdout


def test_ctrl_c_ends_the_wait_but_not_the_answer(shared: TestInstance) -> None:
    terminal = Terminal(shared, "send", "@demo", "long 20000", "--wait")
    try:
        terminal.until(r"20:")
        os.killpg(terminal.process.pid, 2)
        assert terminal.ended() == 130
        assert "the answer goes on" in terminal.shown
    finally:
        terminal.close()
    view = shared.json("channels", "show", "@demo")
    assert view["busy"]
    shared.cli("stop", "@demo")
    assert shared.cli("send", "@demo", "long 5", "--wait").returncode == 0
