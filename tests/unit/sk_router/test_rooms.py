"""Named channels: how they are made, called, joined, left and deleted."""

from typing import Any

import pytest

from sk_bus.commands import (
    AddMember,
    Cancel,
    Create,
    Delete,
    RemoveMember,
    Rename,
    Send,
)
from sk_bus.events import ChannelsChanged, MessageUpdated, PermissionResolved, TurnChanged
from sk_bus.internal import HistoryImported, HistoryPast, PastMessage
from sk_bus.model import AgentName, Channel, ChannelId, MessageId
from sk_router.state import snapshot
from tests.support.playbook import Playbook, chunk, permission

ALICE, BOB = AgentName("alice"), AgentName("bob")


def test_a_channel_is_made_renamed_and_deleted() -> None:
    p = Playbook("alice")
    channel = p.channel("  ops ")
    (told,) = p.of(ChannelsChanged)
    assert told.channels == (Channel(id=channel, name="ops"),)
    p.command(Rename, channel=channel, name="Ops", description="what runs")
    (told,) = p.of(ChannelsChanged)
    assert told.channels == (Channel(id=channel, name="Ops", description="what runs"),)
    result = p.command(Delete, channel=channel)
    assert result is not None
    assert result.ok
    assert [one.channels for one in p.of(ChannelsChanged)] == [()]


def test_what_is_called_the_same_again_is_not_told() -> None:
    p = Playbook("alice")
    channel = p.channel("ops")
    assert p.command(Rename, channel=channel, name="ops ") is not None
    assert p.of(ChannelsChanged) == []


@pytest.mark.parametrize(
    ("name", "description", "id_"),
    [
        ("", "", "name-empty"),
        (" \t", "", "name-empty"),
        ("\u200d", "", "name-empty"),
        ("x" * 65, "", "name-too-long"),
        ("x", "y" * 65, "description-too-long"),
        ("a\nb", "", "name-control"),
        ("a\u202eb", "", "name-control"),
        ("a", "b\x00", "name-control"),
        ("OPS", "", "name-taken"),
        ("ＯＰＳ", "", "name-taken"),
    ],
)
def test_a_name_that_will_not_do_is_refused(name: str, description: str, id_: str) -> None:
    p = Playbook("alice")
    p.channel("ops")
    other = p.channel("other")
    for command, fields in ((Create, {}), (Rename, {"channel": other})):
        result = p.command(command, name=name, description=description, **fields)
        assert result is not None
        assert result.problem is not None
        assert result.problem.id == id_
        assert p.said == [result]


@pytest.mark.parametrize("name", ["x" * 64, "équipe 🙂", "运维", "a-b.c", "👩‍💻"])
def test_a_name_of_any_script_will_do(name: str) -> None:
    p = Playbook("alice")
    channel = p.channel(name)
    assert p.state.channels[channel].name == name


@pytest.mark.parametrize(
    ("command", "fields"),
    [
        (Rename, {"name": "x"}),
        (Delete, {}),
        (AddMember, {"agent": ALICE}),
        (RemoveMember, {"agent": ALICE}),
        (Send, {"text": "x"}),
        (Cancel, {}),
    ],
)
def test_a_channel_that_is_not_there_is_refused_with_the_nearest(
    command: type, fields: dict[str, Any]
) -> None:
    p = Playbook("alice")
    channel = p.channel("operations")
    result = p.command(command, channel=ChannelId("#operation"), **fields)
    assert result is not None
    assert result.problem is not None
    assert (result.problem.id, result.problem.params["nearest"]) == ("no-such-channel", channel)


@pytest.mark.parametrize(
    ("command", "fields"),
    [(Rename, {"name": "x"}), (AddMember, {"agent": BOB}), (RemoveMember, {"agent": ALICE})],
)
def test_a_direct_conversation_keeps_its_name_and_its_agent(
    command: type, fields: dict[str, Any]
) -> None:
    p = Playbook("alice", "bob")
    result = p.command(command, channel=p.direct("alice"), **fields)
    assert result is not None
    assert result.problem is not None
    assert result.problem.id == "direct-conversation"


def test_members_join_and_leave_in_their_order_and_the_channel_says_so() -> None:
    p = Playbook("alice", "bob")
    channel = p.channel("ops")
    p.command(AddMember, channel=channel, agent=AgentName("BOB"))
    assert p.codes() == [("agent-joined", "bob")]
    p.command(AddMember, channel=channel, agent=ALICE)
    assert p.state.channels[channel].members == ("bob", "alice")
    p.command(AddMember, channel=channel, agent=ALICE)
    assert p.codes() == []
    p.command(RemoveMember, channel=channel, agent=BOB)
    assert p.codes() == [("agent-left", "bob")]
    assert p.state.channels[channel].members == ("alice",)


def test_who_joins_between_two_answers_joins_during_them() -> None:
    p = Playbook("alice", "bob", "carol")
    channel = p.channel("ops")
    message = p.send(channel, "@alice @bob hello")
    p.opened("alice", "a1")
    p.replies("alice", "I am first", "a1")
    assert (channel in p.state.talks, channel in p.state.rounds) == (False, True)
    p.command(AddMember, channel=channel, agent=AgentName("carol"))
    (joined,) = [one for one in p.messages().values() if one.get("agent") == "carol"]
    assert joined["during"] == message
    p.passes(300)
    p.opened("bob", "b1")
    p.replies("bob", "I am second", "b1")
    assert p.answered(message) == [("alice", "end_turn"), ("bob", "end_turn")]


def test_who_joins_by_a_message_that_waited_joins_during_its_own_answers() -> None:
    p = Playbook("alice", "bob")
    channel = p.channel("ops", "alice")
    p.send(channel, "hello")
    p.opened("alice", "a1")
    waited = p.send(channel, "@bob and you?")
    assert p.messages()[waited]["queued"] is True
    p.replies("alice", "hi", "a1")
    p.passes(300)
    (joined,) = [one for one in p.messages().values() if one.get("agent") == "bob"]
    assert (joined["code"], joined["during"]) == ("agent-joined", waited)


@pytest.mark.parametrize(
    ("command", "agent", "id_"),
    [
        (AddMember, "carol", "no-such-agent"),
        (RemoveMember, "carol", "no-such-agent"),
        (RemoveMember, "bob", "not-a-member"),
    ],
)
def test_who_cannot_join_or_leave(command: type, agent: str, id_: str) -> None:
    p = Playbook("alice", "bob")
    channel = p.channel("ops", "alice")
    result = p.command(command, channel=channel, agent=AgentName(agent))
    assert result is not None
    assert result.problem is not None
    assert result.problem.id == id_


def test_several_answer_one_after_the_other_each_joining_first() -> None:
    p = Playbook("alice", "bob")
    channel = p.channel("ops")
    message = p.send(channel, "@alice and @bob: hello")
    assert p.codes() == [("agent-joined", "alice"), ("agent-joined", "bob")]
    (turn,) = p.of(TurnChanged)
    assert (turn.answering, turn.then, turn.answers) == ("alice", ("bob",), message)
    p.opened("alice", "a1", "close")
    p.replies("alice", "I am first", "a1")
    (turn,) = p.of(TurnChanged)
    assert (turn.busy, turn.answering, turn.then) == (True, "bob", ())
    assert p.started_lives()[-1].agent == "alice"
    p.passes(300)
    p.opened("bob", "b1", "close")
    p.replies("bob", "I am second", "b1")
    (turn,) = p.of(TurnChanged)
    assert turn == TurnChanged(channel=channel, busy=False)
    assert p.answered(message) == [("alice", "end_turn"), ("bob", "end_turn")]


def test_a_member_that_leaves_in_mid_answer_is_stopped_and_those_after_it_go_on() -> None:
    p = Playbook("alice", "bob")
    channel = p.channel("ops")
    message = p.send(channel, "@alice @bob hello")
    p.opened("alice", "a1", "close")
    p.updates("alice", chunk("I was saying"), session="a1")
    p.command(RemoveMember, channel=channel, agent=ALICE)
    assert [one.get("method") for one in p.sent("alice")] == ["session/cancel"]
    p.answers("alice", 3, {"stopReason": "end_turn"})
    assert [one.get("method") for one in p.sent("alice")] == ["session/close"]
    p.passes(300)
    p.opened("bob", "b1", "close")
    p.replies("bob", "and I", "b1")
    assert p.answered(message) == [("alice", "cancelled"), ("bob", "end_turn")]
    assert p.state.sessions[f"{channel}/alice"].sessionId is None


def test_a_channel_that_is_answering_is_deleted_when_that_has_ended() -> None:
    p = Playbook("alice", "bob")
    channel = p.channel("ops")
    p.send(channel, "@alice @bob hello")
    p.opened("alice", "a1", "close")
    p.updates("alice", chunk("well"), session="a1")
    p.writes("alice", permission("r", ("yes", "allow_once"), session="a1"))
    p.send(channel, "and then?")
    assert p.command(Delete, channel=channel) is None
    assert [one.get("method", "answer") for one in p.sent("alice")] == ["session/cancel", "answer"]
    assert [one.by for one in p.of(PermissionResolved)] == ["stop"]
    refused = p.command(Send, channel=channel, text="wait")
    assert refused is not None
    assert refused.problem is not None
    assert refused.problem.id == "being-deleted"
    deletion = f"command-{p._commands - 1}"
    p.answers("alice", 3, {"stopReason": "cancelled"})
    result = p.result(deletion)
    assert result is not None
    assert result.ok
    assert [one.channels for one in p.of(ChannelsChanged)] == [()]
    p.updates("alice", chunk("late"), session="a1")
    p.passes(40_000)
    nothing_is_left_of(p, channel)


def test_an_agent_that_does_not_answer_cancel_holds_up_a_delete_for_ten_seconds() -> None:
    p = Playbook("alice")
    channel = p.channel("ops", "alice")
    p.send(channel, "hello")
    p.opened("alice", "a1", "close")
    assert p.command(Delete, channel=channel) is None
    deletion = f"command-{p._commands}"
    again = p.command(Delete, channel=channel)
    assert again is None
    p.passes(9_999)
    assert channel in p.state.channels
    p.passes(1)
    for id_ in (deletion, f"command-{p._commands}"):
        result = p.result(id_)
        assert result is not None
        assert result.ok
    assert p.state.channels == {}
    p.exits("alice")
    p.passes(40_000)
    nothing_is_left_of(p, channel)


@pytest.mark.parametrize("command", [Delete, RemoveMember])
def test_a_session_that_opens_too_late_is_closed_again(command: type) -> None:
    p = Playbook("alice")
    channel = p.channel("ops", "alice")
    p.send(channel, "hello")
    p.started("alice", "close")
    fields = {"agent": ALICE} if command is RemoveMember else {}
    result = p.command(command, channel=channel, **fields)
    assert result is not None
    assert result.ok
    assert [one.get("method") for one in p.sent("alice")] == ["$/cancel_request"]
    p.answers("alice", 2, {"sessionId": "a1"})
    assert [(one["method"], one["params"]) for one in p.sent("alice")] == [
        ("session/close", {"sessionId": "a1"})
    ]
    assert p.state.routes == {}
    assert p.state.lives["alice"].claimed is None


def test_a_session_id_that_is_another_channel_s_opens_nothing() -> None:
    p = Playbook("alice")
    p.prompted("alice", session="s1")
    p.replies("alice", "hi", "s1")
    channel = p.channel("ops", "alice")
    message = p.send(channel, "hello")
    p.answers("alice", p.last_n("alice"), {"sessionId": "s1"})
    (said,) = [one.message for one in p.of(MessageUpdated) if one.message.code]
    assert (said.answers, said.error.id if said.error else None) == (message, "session-twice")
    p.updates("alice", chunk("more"), session="s1")
    told = p.messages().values()
    assert [one["id"] for one in told if one["channel"] == channel and one["role"] == "agent"] == []


def test_a_session_that_another_channel_got_meanwhile_is_not_taken_up() -> None:
    p = Playbook("alice")
    direct = p.prompted("alice", session="s1", offers=("load",))
    p.replies("alice", "hi", "s1")
    p.exits("alice", asked=False)
    p.passes(5_000)
    channel = p.channel("ops", "alice")
    p.send(channel, "hello")
    p.opened("alice", "s1", "load")  # it counts from one again in each life
    p.replies("alice", "hi", "s1")
    p.send(direct, "and you?")
    assert p.codes() == [("memory-lost", "alice")]
    assert [one["method"] for one in p.sent("alice")] == ["session/new"]


def test_an_import_brings_its_channels_and_who_answered_in_them() -> None:
    p = Playbook("alice", "bob")
    here = p.channel("ops")
    new = Channel(id=ChannelId("c0000000000000005.0"), name="old", members=(ALICE, BOB))
    said = tuple(
        PastMessage(id=MessageId(f"m{n:016d}.0"), text=text, author=author)
        for n, (author, text) in enumerate([("", "hello"), (BOB, "good day")], start=6)
    )
    p.give(
        HistoryImported(
            channels=(new, Channel(id=here, name="not ours")),
            past=(HistoryPast(channel=new.id, messages=said),),
        )
    )
    (told,) = p.of(ChannelsChanged)
    assert [(one.id, one.name) for one in told.channels] == [(new.id, "old"), (here, "ops")]
    p.send(new.id, "what did you say?")
    assert [one.agent for one in p.started_lives()] == ["bob"]
    p.give(HistoryImported(channels=(new,)))
    assert p.of(ChannelsChanged) == []


def test_an_import_leaves_the_names_that_were_taken_meanwhile() -> None:
    p = Playbook("alice")
    p.channel("Ops")
    p.direct("alice")
    new = [
        Channel(id=ChannelId(f"c{n:016d}.0"), name=name, direct=direct, members=(ALICE,))
        for n, (name, direct) in enumerate(
            [("ops", ""), ("x" * 64, ""), ("x" * 64, ""), ("", "alice")], start=5
        )
    ]
    p.give(HistoryImported(channels=tuple(new)))
    named = {one.id: (one.name, one.direct) for one in p.state.channels.values()}
    assert [named[one.id] for one in new] == [
        ("ops 2", ""),
        ("x" * 64, ""),
        ("x" * 60 + " 2", ""),
        ("alice", ""),
    ]


def nothing_is_left_of(p: Playbook, channel: ChannelId) -> None:
    slices = snapshot(p.state)
    left = {name: kept for name, kept in slices.items() if channel in repr(kept)}
    assert left == {}
