"""Another file is opened: refused before anything stops, or closed in order to the last word."""

from typing import Any

import pytest

from sk_bus.commands import (
    AnswerPermission,
    Cancel,
    Direct,
    Open,
    Restart,
    Send,
    Shutdown,
    Start,
    Stop,
)
from sk_bus.errors import problem
from sk_bus.events import CommandResult, MessageUpdated
from sk_bus.internal import DoStop, FileClosed, FileOpenable
from sk_bus.model import AgentName, CommandId
from tests.support.playbook import Playbook, chunk

ALICE = AgentName("alice")
OTHER = "/home/me/other.yaml"


def asked(p: Playbook, path: str = OTHER) -> CommandId:
    assert p.command(Open, path=path) is None
    return CommandId(f"command-{p._commands}")


def accepted(p: Playbook) -> CommandId:
    id_ = asked(p)
    p.give(FileOpenable(command=id_, path=OTHER))
    return id_


def test_a_file_that_cant_be_opened_stops_nothing() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    id_ = asked(p)
    why = problem("no-such-file", "there is no file {path}", path=OTHER)
    p.give(FileOpenable(command=id_, path=OTHER, problem=why))
    result = p.result(id_)
    assert result is not None
    assert (result.ok, result.problem) == (False, why)
    assert p.of(DoStop) == []
    p.updates("alice", chunk("still here"))
    p.answers("alice", 3, {"stopReason": "end_turn"})
    assert [one["done"] for one in p.messages().values()] == [True, True]


def test_the_file_in_force_is_open_already() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    id_ = asked(p)
    p.give(FileOpenable(command=id_, path=OTHER, already=True))
    result = p.result(id_)
    assert result is not None
    assert (result.ok, result.value) == (True, {"path": OTHER, "already": True})
    assert p.of(DoStop) == p.of(FileClosed) == []


def test_accepted_everything_ends_and_the_last_word_comes_when_nothing_is_left() -> None:
    p = Playbook("alice", "bob")
    channel = p.prompted("alice")
    p.updates("alice", chunk("as far as this"))
    waiting = p.send(channel, "next")
    p.command(Start, agent=AgentName("bob"))
    id_ = accepted(p)
    result = p.result(id_)
    assert result is not None
    assert (result.ok, result.value) == (True, {"path": OTHER, "already": False})
    assert [one.agent for one in p.of(DoStop)] == ["alice", "bob"]
    assert p.messages()[waiting]["error"]["id"] == "cancelled"
    p.exits("bob")
    assert p.of(FileClosed) == []
    p.exits("alice")
    assert p.of(FileClosed) == [FileClosed(next=OTHER)]
    last_update = max(i for i, one in enumerate(p.said) if isinstance(one, MessageUpdated))
    assert last_update < p.said.index(FileClosed(next=OTHER))
    assert all(one.get("done", True) for one in p.messages().values())


def test_with_nothing_running_it_closes_at_once_and_only_once() -> None:
    p = Playbook("alice")
    id_ = accepted(p)
    assert [type(one) for one in p.said if isinstance(one, FileClosed | CommandResult)] == [
        FileClosed,
        CommandResult,
    ]
    p.give(FileOpenable(command=id_, path=OTHER))
    p.passes(60_000)
    assert [one for one in p.log if isinstance(one, FileClosed)] == [FileClosed(next=OTHER)]


COMMANDS: list[tuple[type[Any], dict[str, Any]]] = [
    (Start, {"agent": ALICE}),
    (Restart, {"agent": ALICE}),
    (Direct, {"agent": ALICE}),
    (Send, {"channel": "c1", "text": "hello"}),
    (Open, {"path": "/a/third"}),
]
ENDING: list[tuple[type[Any], dict[str, Any]]] = [
    (Stop, {"agent": ALICE}),
    (Cancel, {"channel": "c1"}),
    (AnswerPermission, {"permission": "p1", "optionId": "yes"}),
]


@pytest.mark.parametrize(("kind", "fields"), COMMANDS)
def test_while_it_closes_and_after_it_whoever_asks_is_told_why_not(
    kind: type[Any], fields: dict[str, Any]
) -> None:
    p = Playbook("alice")
    p.prompted("alice")
    accepted(p)
    during = p.command(kind, **fields)
    p.exits("alice")
    after = p.command(kind, **fields)
    for result in (during, after):
        assert result is not None
        assert result.problem is not None
        assert (result.problem.id, result.problem.params) == ("opening", {"path": OTHER})


@pytest.mark.parametrize(("kind", "fields"), ENDING)
def test_what_only_ends_things_is_taken_until_the_last_word(
    kind: type[Any], fields: dict[str, Any]
) -> None:
    p = Playbook("alice")
    p.prompted("alice")
    accepted(p)
    during = p.command(kind, **fields)
    assert during is None or during.problem is None or during.problem.id != "opening"
    p.exits("alice")
    after = p.command(kind, **fields)
    assert after is not None
    assert after.problem is not None
    assert after.problem.id == "opening"


def test_only_one_file_is_opened_at_a_time() -> None:
    p = Playbook("alice")
    first = asked(p)
    second = p.command(Open, path="/a/third")
    assert second is not None
    assert second.problem is not None
    assert second.problem.id == "opening"
    p.give(FileOpenable(command=first, path=OTHER))
    assert p.of(FileClosed) == [FileClosed(next=OTHER)]


def test_a_word_on_another_command_is_passed_over() -> None:
    p = Playbook("alice")
    asked(p)
    p.give(FileOpenable(command=CommandId("of-long-ago"), path="/elsewhere"))
    assert p.of(FileClosed) == p.of(CommandResult) == []


def test_a_shutdown_meanwhile_comes_first() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    id_ = asked(p)
    p.command(Shutdown)
    p.give(FileOpenable(command=id_, path=OTHER))
    result = p.result(id_)
    assert result is not None
    assert result.problem is not None
    assert result.problem.id == "closing"
    p.exits("alice")
    assert [one.ok for one in p.of(CommandResult)] == [True]
    assert p.of(FileClosed) == []


def test_a_shutdown_while_the_file_closes_is_answered_as_well() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    accepted(p)
    assert p.command(Shutdown) is None
    p.exits("alice")
    assert [one.ok for one in p.of(CommandResult)] == [True]
    assert p.of(FileClosed) == [FileClosed(next=OTHER)]


@pytest.mark.parametrize("killed_after", ["asked", "accepted"])
def test_a_router_that_was_killed_goes_on_with_it(killed_after: str) -> None:
    p = Playbook("alice")
    p.prompted("alice")
    id_ = asked(p)
    if killed_after == "asked":
        p.restart()
    p.give(FileOpenable(command=id_, path=OTHER))
    if killed_after == "accepted":
        p.restart()
    p.exits("alice")
    assert p.of(FileClosed) == [FileClosed(next=OTHER)]
