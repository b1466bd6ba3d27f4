"""What an agent has seen of a channel, and is told next time: nothing twice, nothing missed."""

from typing import Any

import pytest

from sk_bus.commands import Cancel, RemoveMember, Stop
from sk_bus.internal import HistoryPast, HistoryRestored, PastMessage, StoredSession
from sk_bus.model import AgentName, Channel, ChannelId, MessageId
from sk_router.channels import context
from sk_router.state import restored, snapshot
from tests.support.playbook import Playbook, chunk

ALICE, BOB = AgentName("alice"), AgentName("bob")


def room() -> tuple[Playbook, ChannelId]:
    """A channel in which alice has answered; bob runs, and knows nothing yet."""
    p = Playbook("alice", "bob")
    channel = p.channel("ops", "alice", "bob")
    p.send(channel, "@alice one")
    p.opened("alice", "a1", "load")
    p.replies("alice", "first", "a1")
    p.passes(300)
    return p, channel


def asks(p: Playbook, channel: ChannelId, name: str, text: str, session: str | None = None) -> None:
    """Send a message to an agent; with ``session`` it is the first in its life."""
    p.send(channel, f"@{name} {text}")
    if session is not None:
        p.opened(name, session, "load")


def unseen(p: Playbook, channel: ChannelId, name: str) -> list[str]:
    told = context.unseen(p.state, channel, AgentName(name), MessageId("m0000000000000000.0"))
    return [one.text for one in told]


def test_each_is_told_what_came_since_and_nothing_twice() -> None:
    p, channel = room()
    assert unseen(p, channel, "bob") == ["@alice one", "first"]
    asks(p, channel, "bob", "two", "b1")
    p.replies("bob", "second", "b1")
    p.passes(300)
    assert unseen(p, channel, "bob") == []
    assert unseen(p, channel, "alice") == ["@bob two", "second"]
    asks(p, channel, "alice", "three")
    p.replies("alice", "third", "a1")
    assert unseen(p, channel, "alice") == []
    assert unseen(p, channel, "bob") == ["@alice three", "third"]


@pytest.mark.parametrize(
    ("comes", "moves"),
    [
        ("a chunk", True),
        ("a thought", True),
        ("usage", True),
        ("commands", False),
        ("nothing", False),
    ],
)
def test_the_cursor_moves_with_the_first_update_of_the_turn(comes: str, moves: bool) -> None:
    p, channel = room()
    asks(p, channel, "bob", "two", "b1")
    updates: dict[str, Any] = {
        "a chunk": chunk("s"),
        "a thought": chunk("s", kind="agent_thought_chunk"),
        "usage": {"sessionUpdate": "usage_update", "used": 1, "size": 2},
        "commands": {"sessionUpdate": "available_commands_update", "availableCommands": []},
    }
    if comes in updates:
        p.updates("bob", updates[comes], session="b1")
    p.exits("bob", asked=False, code=1)
    assert (unseen(p, channel, "bob") == []) is moves


def test_a_stop_reason_alone_moves_it_and_an_error_does_not() -> None:
    p, channel = room()
    asks(p, channel, "bob", "two", "b1")
    p.answers("bob", p.last_n("bob"), error={"code": -32603, "message": "no"})
    # It was sent the message itself, so that is not told again.
    assert unseen(p, channel, "bob") == ["@alice one", "first"]
    p.passes(300)
    asks(p, channel, "bob", "three")
    p.answers("bob", p.last_n("bob"), {"stopReason": "end_turn"})
    assert unseen(p, channel, "bob") == []


def test_one_that_is_stopped_before_it_said_anything_has_seen_nothing() -> None:
    p, channel = room()
    asks(p, channel, "bob", "two", "b1")
    p.command(Stop, agent=BOB)
    p.exits("bob")
    assert unseen(p, channel, "bob") == ["@alice one", "first"]


def test_a_command_moves_nothing_and_is_not_told_again() -> None:
    p, channel = room()
    p.send(channel, "/bob:compact")
    p.opened("bob", "b1")
    p.replies("bob", "done", "b1")
    assert unseen(p, channel, "bob") == ["@alice one", "first"]
    assert unseen(p, channel, "alice") == ["/bob:compact", "done"]


def test_of_several_commands_none_is_told_again() -> None:
    p, channel = room()
    p.send(channel, "/bob:one")
    p.opened("bob", "b1")
    p.replies("bob", "done", "b1")
    p.passes(300)
    p.send(channel, "/bob:two")
    p.replies("bob", "done again", "b1")
    assert unseen(p, channel, "bob") == ["@alice one", "first"]


def test_the_second_of_several_reads_the_answer_of_the_first_before_it() -> None:
    p, channel = room()
    p.send(channel, "@alice @bob two")
    p.replies("alice", "mine", "a1")
    p.passes(300)
    p.opened("bob", "b1")
    (prompt,) = p.sent("bob")
    past = prompt["params"]["prompt"][0]["text"]
    assert ["mine" in past, "first" in past, "@alice @bob two" in past] == [True, True, False]
    p.replies("bob", "yours", "b1")
    assert unseen(p, channel, "bob") == []
    assert unseen(p, channel, "alice") == ["yours"]


def test_what_waited_in_the_queue_is_said_when_it_leaves_it() -> None:
    p, channel = room()
    p.send(channel, "@alice @bob two")
    p.send(channel, "@alice three")  # accepted before the answers to the one before begin
    p.replies("alice", "2", "a1")
    p.passes(300)
    p.opened("bob", "b1")
    p.replies("bob", "two as well", "b1")
    assert unseen(p, channel, "bob") == []
    p.passes(300)
    p.replies("alice", "3", "a1")
    assert unseen(p, channel, "bob") == ["@alice three", "3"]


@pytest.mark.parametrize("character", ["x", "🦔", "\x01"])
def test_what_is_told_stands_in_the_line_itself_however_long(character: str) -> None:
    p, channel = room()
    for _ in range(20):
        p.send(channel, "@alice " + character * 3_000)
        p.replies("alice", "so", "a1")
        p.passes(2_000)
    p.send(channel, "@bob and you?")
    p.opened("bob", "b1")
    line = p.all_sent("bob")[-1].line
    assert line.count(character) + line.count("\\u0001") > 1_400 * 10
    assert "$blob" not in line
    assert len(line.encode()) < 250_000
    assert p.decision.blobs == {}


def test_dropped_and_system_messages_are_told_to_nobody() -> None:
    p, channel = room()
    p.send(channel, "@alice two")
    p.send(channel, "@alice three")
    prompt = p.last_n("alice")
    p.command(Cancel, channel=channel)
    p.updates("alice", chunk("half"), session="a1")
    p.answers("alice", prompt, {"stopReason": "cancelled"})
    p.command(RemoveMember, channel=channel, agent=ALICE)
    assert unseen(p, channel, "bob") == ["@alice one", "first", "@alice two", "half"]


def test_who_leaves_and_comes_back_is_told_everything_again() -> None:
    p, channel = room()
    p.command(RemoveMember, channel=channel, agent=ALICE)
    assert unseen(p, channel, "alice") == ["@alice one"]  # its own words, it is not told


def test_cursors_outlive_every_death() -> None:
    p, channel = room()
    p.send(channel, "/bob:compact")
    p.opened("bob", "b1")
    p.replies("bob", "done", "b1")
    told = unseen(p, channel, "bob")
    p.restart()
    assert unseen(p, channel, "bob") == told
    session = p.state.sessions[f"{channel}/bob"]
    past = p.state.past[channel].messages
    later = Playbook("alice", "bob")
    stored = StoredSession(
        channel=channel,
        agent=BOB,
        sessionId=session.sessionId,
        seen=session.seen,
        since=session.since,
        prompted=session.prompted,
    )
    whole = Channel(id=channel, name="ops", members=(ALICE, BOB))
    later.give(
        HistoryPast(channel=channel, messages=past),
        HistoryRestored(channels=(whole,), sessions=(stored,)),
    )
    assert unseen(later, channel, "bob") == told


def test_who_answered_last_is_known_in_a_new_epoch() -> None:
    p = Playbook("alice", "bob")
    channel = ChannelId("c0000000000000009.0")
    past = [
        PastMessage(id=MessageId(f"m{n:016d}.0"), text="x", author=author)
        for n, author in enumerate(["", ALICE, "", BOB, "", ALICE, ""], start=10)
    ]
    p.give(
        HistoryPast(channel=channel, messages=tuple(past)),
        HistoryRestored(channels=(Channel(id=channel, name="ops", members=(ALICE, BOB)),)),
    )
    p.send(channel, "and now?")
    assert [one.agent for one in p.started_lives()] == ["alice"]
    p.command(RemoveMember, channel=channel, agent=ALICE)
    p.send(channel, "and now?")
    assert [one.agent for one in p.started_lives()] == ["alice", "bob"]


def test_a_snapshot_of_the_code_before_named_channels_is_still_read() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    data = snapshot(p.state)
    for slice_ in ("rounds", "deletions", "preparations", "announced", "answerers"):
        assert not data.pop(slice_)
    assert restored(data) == p.state


def test_an_answer_without_a_text_makes_nobody_the_one_who_answered_last() -> None:
    p, channel = room()
    asks(p, channel, "bob", "two", "b1")
    tool = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Look"}
    p.updates("bob", chunk("hm", kind="agent_thought_chunk"), tool, chunk(" \n"), session="b1")
    p.answers("bob", p.last_n("bob"), {"stopReason": "end_turn"})
    p.passes(300)
    p.send(channel, "and now?")
    assert [p.prompts(name)[-1] for name in ("alice", "bob")] == ["and now?", "@bob two"]
