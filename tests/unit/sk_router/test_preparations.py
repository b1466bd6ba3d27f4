"""Prepare: whose commands nobody knows is started and gets its session, and nobody is disturbed."""

from typing import Any

import pytest

from sk_bus.commands import Cancel, Delete, Prepare, RemoveMember, Restart, Shutdown, Start, Stop
from sk_bus.internal import HistoryRestored, StoredCommands
from sk_bus.model import AgentName, ChannelId, SlashCommand, WaitingFor
from tests.support.playbook import Playbook, agent

ALICE, BOB = AgentName("alice"), AgentName("bob")
ANNOUNCED: dict[str, Any] = {
    "sessionUpdate": "available_commands_update",
    "availableCommands": [{"name": "compact", "description": "less"}],
}


def prepared(*members: str, **limits: int) -> tuple[Playbook, ChannelId, str]:
    """A channel in which Prepare has just been asked for; the id of that command."""
    p = Playbook("alice", "bob", "carol", **limits)
    channel = p.channel("ops", *members)
    assert p.command(Prepare, channel=channel) is None
    return p, channel, f"command-{p._commands}"


def value(p: Playbook, id_: str) -> Any:
    result = p.result(id_)
    assert result is not None
    assert result.ok, result
    return result.value


def test_members_are_started_and_their_sessions_opened_and_no_prompt_is_sent() -> None:
    p, channel, asked = prepared("alice", "bob")
    assert [one.agent for one in p.started_lives()] == ["alice", "bob"]
    p.opened("bob", "b1")
    assert p.result(asked) is None
    assert p.states() == [("bob", "ready")]
    p.started("alice")
    assert p.states() == [("alice", "ready"), ("alice", "busy")]
    p.answers("alice", 2, {"sessionId": "a1"})
    assert value(p, asked) == {"opened": ["bob", "alice"], "skipped": [], "failed": []}
    assert p.states() == [("alice", "ready")]
    assert (p.prompts("alice"), p.prompts("bob")) == ([], [])
    assert p.state.preparations == {}
    assert [p.state.lives[name].claimed for name in ("alice", "bob")] == [None, None]
    assert {key for key in p.state.timers if key != "idle"} == set()
    assert p.state.sessions[f"{channel}/alice"].sessionId == "a1"


def test_the_session_serves_the_first_answer_which_still_gets_the_past() -> None:
    p, channel, _ = prepared("alice")
    p.opened("alice", "a1")
    p.command(Start, agent=BOB)
    p.started("bob")
    p.send(channel, "@bob the code is 4711")
    p.answers("bob", 2, {"sessionId": "b1"})
    p.replies("bob", "noted", "b1")
    p.passes(300)
    p.send(channel, "@alice which code?")
    (prompt,) = p.sent("alice")
    assert prompt["params"]["sessionId"] == "a1"
    assert p.state.sessions[f"{channel}/alice"].seen is None
    p.replies("alice", "4711", "a1")
    assert p.state.sessions[f"{channel}/alice"].seen is not None


def test_whose_commands_are_known_is_left_alone_from_one_launch_to_the_next() -> None:
    p = Playbook("alice", "bob")
    channel = p.channel("ops", "alice", "bob")
    stored = StoredCommands(agent=ALICE, commands=(SlashCommand(name="compact"),))
    p.give(HistoryRestored(commands=(stored,)))
    p.command(Prepare, channel=channel)
    asked = f"command-{p._commands}"
    assert [one.agent for one in p.started_lives()] == ["bob"]
    p.opened("bob", "b1")
    p.updates("bob", ANNOUNCED, session="b1")
    again = p.command(Prepare, channel=channel)
    assert again is not None
    assert again.value == {"opened": [], "skipped": [], "failed": []}
    assert asked != f"command-{p._commands}"


def test_it_never_stops_another_and_starts_no_more_than_there_is_room_for() -> None:
    p = Playbook("alice", "bob", maxRunningAgents=1)
    p.command(Start, agent=BOB)
    p.started("bob")
    channel = p.channel("ops", "alice")
    result = p.command(Prepare, channel=channel)
    assert result is not None
    assert result.value == {"opened": [], "skipped": ["alice"], "failed": []}
    assert p.states() == []


def test_a_member_that_answers_elsewhere_is_skipped() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    result = p.command(Prepare, channel=p.channel("ops", "alice"))
    assert result is not None
    assert result.value == {"opened": [], "skipped": ["alice"], "failed": []}
    assert p.sent("alice") == []


def test_a_message_of_the_same_channel_needs_not_wait_for_its_end() -> None:
    p, channel, asked = prepared("alice")
    message = p.send(channel, "hello")
    assert p.messages()[message].get("queued", False) is False
    p.opened("alice", "a1")
    assert value(p, asked)["opened"] == ["alice"]
    assert p.prompts("alice") == ["hello"]
    assert p.state.lives["alice"].claimed == channel
    p.replies("alice", "hi", "a1")
    assert p.state.lives["alice"].claimed is None


def test_a_message_of_another_channel_waits_for_its_end() -> None:
    p, channel, _ = prepared("alice")
    direct = p.direct("alice")
    p.send(direct, "hello")
    assert p.state.shown[direct].waitingFor == WaitingFor(agent=ALICE, channel=channel)
    p.opened("alice", "a1")
    assert p.state.lives["alice"].claimed == direct
    p.answers("alice", 3, {"sessionId": "a2"})
    assert p.prompts("alice") == ["hello"]


def test_a_stop_of_the_channel_s_answer_leaves_it_going() -> None:
    p, channel, asked = prepared("alice")
    p.send(channel, "hello")
    p.command(Cancel, channel=channel)
    p.opened("alice", "a1")
    assert value(p, asked)["opened"] == ["alice"]
    assert p.prompts("alice") == []


def test_who_asks_twice_is_answered_twice() -> None:
    p, channel, first = prepared("alice")
    assert p.command(Prepare, channel=channel) is None
    p.opened("alice", "a1")
    assert value(p, first) == value(p, f"command-{p._commands}")
    assert len(p.started_lives()) == 1


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("exit", "start-failed"),
        ("stop", "agent-stopped"),
        ("no session", "agent-error"),
        ("late", "session-late"),
        ("leave", "agent-left"),
        ("delete", "being-deleted"),
        ("close", "closing"),
    ],
)
def test_what_keeps_the_session_from_being_opened_is_said(how: str, problem: str) -> None:
    p, channel, asked = prepared("alice")
    match how:
        case "exit":
            p.exits("alice", asked=False, code=1)
        case "stop":
            p.command(Stop, agent=ALICE)
        case "no session":
            p.started("alice")
            p.answers("alice", 2, error={"code": -32603, "message": "no"})
        case "late":
            p.started("alice")
            p.passes(30_000)
        case "leave":
            p.command(RemoveMember, channel=channel, agent=ALICE)
        case "delete":
            p.command(Delete, channel=channel)
        case "close":
            p.command(Shutdown)
            p.exits("alice")
    result = p.result(asked)
    assert result is not None
    assert result.problem is not None
    assert result.problem.id == problem
    assert p.state.preparations == {}
    assert p.state.lives["alice"].claimed is None


def test_a_restart_goes_on_with_the_new_life() -> None:
    p, _, asked = prepared("alice")
    p.started("alice")
    p.command(Restart, agent=ALICE)
    p.exits("alice")
    p.opened("alice", "a1")
    assert value(p, asked)["opened"] == ["alice"]


def test_one_that_fails_is_named_beside_those_that_did_not() -> None:
    p, _, asked = prepared("alice", "bob")
    p.exits("alice", asked=False, code=1)
    p.opened("bob", "b1")
    assert value(p, asked) == {"opened": ["bob"], "skipped": [], "failed": ["alice"]}


def test_one_that_is_open_already_is_nothing_to_wait_for() -> None:
    p = Playbook(agent("alice"))
    channel = p.channel("ops")
    p.send(channel, "@alice hello")
    p.opened("alice", "a1")
    p.replies("alice", "hi", "a1")
    result = p.command(Prepare, channel=channel)
    assert result is not None
    assert result.value == {"opened": ["alice"], "skipped": [], "failed": []}
    assert p.sent("alice") == []
