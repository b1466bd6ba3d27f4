"""Who answers when: over several agents, several channels, and messages that are taken back."""

import pytest

from sk_bus.commands import (
    Cancel,
    EditQueued,
    RemoveMember,
    RemoveQueued,
    Restart,
    Start,
    Stop,
)
from sk_bus.events import ChannelsChanged, MessageUpdated, TurnChanged
from sk_bus.model import AgentName, ChannelId, MessageId, WaitingFor
from tests.support.playbook import Playbook, agent, chunk, configured

ALICE, BOB, CAROL = AgentName("alice"), AgentName("bob"), AgentName("carol")


def both(text: str = "@alice @bob hello") -> tuple[Playbook, ChannelId, str]:
    """Alice answers in a channel, bob is to answer after her."""
    p = Playbook("alice", "bob")
    channel = p.channel("ops", "alice", "bob")
    message = p.send(channel, text)
    p.opened("alice", "a1")
    return p, channel, message


# --- one after the other --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("error", ("alice", None)),
        ("exit", ("alice", None)),
        ("refusal", ("alice", "refusal")),
        ("stop", ("alice", "cancelled")),
        ("restart", ("alice", "cancelled")),
        ("leaves the configuration", ("alice", "cancelled")),
        ("leaves the channel", ("alice", "cancelled")),
        ("deaf", ("alice", "cancelled")),
    ],
)
def test_one_that_fails_does_not_stop_the_next(how: str, told: tuple[str, str | None]) -> None:
    p, channel, message = both()
    match how:
        case "error":
            p.answers("alice", 3, error={"code": -32603, "message": "no"})
        case "exit":
            p.exits("alice", asked=False, code=1)
        case "refusal":
            p.answers("alice", 3, {"stopReason": "refusal"})
        case "stop":
            p.command(Stop, agent=ALICE)
            p.answers("alice", 3, {"stopReason": "cancelled"})
        case "restart":
            p.command(Restart, agent=ALICE)
            p.exits("alice")
            p.started("alice")
        case "leaves the configuration":
            p.give(configured("bob"))
            p.exits("alice")
        case "leaves the channel":
            p.command(RemoveMember, channel=channel, agent=ALICE)
            p.answers("alice", 3, error={"code": -32603, "message": "cancelled"})
        case "deaf":
            p.command(RemoveMember, channel=channel, agent=ALICE)
            p.passes(10_000)
    p.passes(300)
    p.opened("bob", "b1")
    p.replies("bob", "here", "b1")
    assert p.answered(message) == [told, ("bob", "end_turn")]


def test_one_that_cannot_start_has_its_place_and_the_others_answer() -> None:
    p = Playbook("alice", "bob", "carol")
    channel = p.channel("ops")
    message = p.send(channel, "@alice @bob @carol hello")
    p.opened("alice", "a1")
    p.replies("alice", "one", "a1")
    p.passes(300)
    p.exits("bob", asked=False, code=127)
    p.opened("carol", "c1")
    p.replies("carol", "three", "c1")
    assert p.answered(message) == [
        ("alice", "end_turn"),
        ("bob", "agent-unavailable"),
        ("carol", "end_turn"),
    ]


def test_a_full_house_refuses_one_at_once_and_the_others_answer() -> None:
    p = Playbook("alice", "bob", maxRunningAgents=1)
    elsewhere = p.prompted("alice")
    channel = p.channel("ops", "alice", "bob")
    message = p.send(channel, "@bob @alice hello")
    (refused,) = [one.message for one in p.of(MessageUpdated) if one.message.code]
    assert (refused.code, refused.agent, refused.answers) == ("agent-unavailable", "bob", message)
    assert refused.error is not None
    assert refused.error.message == (
        "too many agents running: 1 agent(s) busy (alice), the limit is 1"
    )
    (turn,) = p.of(TurnChanged)
    assert turn.waitingFor == WaitingFor(agent=ALICE, channel=elsewhere)
    p.replies("alice", "there", "s1")
    p.answers("alice", p.last_n("alice"), {"sessionId": "a2"})
    p.replies("alice", "here", "a2")
    assert p.answered(message) == [("bob", "agent-unavailable"), ("alice", "end_turn")]
    assert [one.agent for one in p.started_lives()] == ["alice"]


def test_the_second_starts_when_the_first_is_gone_where_there_is_room_for_one() -> None:
    p = Playbook("alice", "bob", maxRunningAgents=1)
    channel = p.channel("ops")
    message = p.send(channel, "@alice @bob hello")
    p.opened("alice", "a1")
    p.replies("alice", "one", "a1")
    p.passes(300)
    assert p.states()[0] == ("alice", "ready", "stopping")
    assert [one.agent for one in p.started_lives()] == ["alice"]
    p.exits("alice")
    assert [one.agent for one in p.started_lives()] == ["alice", "bob"]
    p.opened("bob", "b1")
    p.replies("bob", "two", "b1")
    assert p.answered(message) == [("alice", "end_turn"), ("bob", "end_turn")]


def test_the_next_one_waits_until_the_one_before_has_been_quiet() -> None:
    p, channel, _ = both()
    p.command(Start, agent=BOB)
    p.started("bob")
    p.replies("alice", "almost", "a1")
    p.passes(299)
    p.updates("alice", chunk(" done"), session="a1")
    p.passes(299)
    assert p.prompts("bob") == []
    p.passes(1)
    p.answers("bob", p.last_n("bob"), {"sessionId": "b1"})
    assert p.prompts("bob") == ["@alice @bob hello"]
    assert [one.text for one in p.state.past[channel].messages] == [
        "@alice @bob hello",
        "almost done",
    ]


def test_the_next_one_waits_two_seconds_at_most() -> None:
    p, _, _ = both()
    p.command(Start, agent=BOB)
    p.started("bob")
    p.replies("alice", "so", "a1")
    for _ in range(9):
        p.passes(220)
        p.updates("alice", chunk("."), session="a1")
    assert p.all_sent("bob")[-1].n == 1
    p.passes(20)
    assert p.all_sent("bob")[-1].n == 2


def test_what_comes_late_stays_with_its_message_while_the_next_one_answers() -> None:
    p, channel, message = both()
    p.replies("alice", "almost", "a1")
    p.passes(300)
    p.opened("bob", "b1")
    p.updates("bob", chunk("me"), session="b1")
    p.updates("alice", chunk(" done"), session="a1")
    p.updates("bob", chunk(" too"), session="b1")
    p.answers("bob", p.last_n("bob"), {"stopReason": "end_turn"})
    texts = [one["parts"][0]["text"] for one in p.messages().values() if "answers" in one]
    assert texts == ["almost done", "me too"]
    assert p.answered(message) == [("alice", "end_turn"), ("bob", "end_turn")]
    assert [one.text for one in p.state.past[channel].messages][1:] == ["almost done", "me too"]


def test_an_agent_s_text_starts_nobody() -> None:
    p, _, _ = both("@alice hello")
    p.replies("alice", "@bob, please help me. /bob:help", "a1")
    p.passes(5_000)
    assert [one.agent for one in p.started_lives()] == ["alice"]


# --- the queue ------------------------------------------------------------------------------


def test_the_queue_is_answered_in_the_order_of_acceptance() -> None:
    p, channel, _ = both("@alice hello")
    for text in ("@alice one", "@bob two", "three", "@alice four"):
        p.send(channel, text)
    (turn,) = p.of(TurnChanged)
    assert turn.queued == 4
    p.replies("alice", "hi", "a1")
    p.passes(300)
    p.replies("alice", "1", "a1")
    p.passes(300)
    p.opened("bob", "b1")
    p.replies("bob", "2", "b1")
    p.passes(300)
    p.replies("bob", "3", "b1")
    p.passes(300)
    p.replies("alice", "4", "a1")
    assert p.prompts("alice") == ["@alice hello", "@alice one", "@alice four"]
    assert p.prompts("bob") == ["@bob two", "three"]  # who answered last by then


def test_who_joins_is_decided_when_the_message_leaves_the_queue() -> None:
    p, channel, _ = both("@alice hello")
    p.give(configured("alice", "bob", "carol"))
    p.send(channel, "@carol hello")
    assert p.of(ChannelsChanged) == []
    p.replies("alice", "hi", "a1")
    p.passes(300)
    assert p.state.channels[channel].members == ("alice", "bob", "carol")


def test_channels_that_wait_for_an_agent_get_it_in_the_order_of_acceptance() -> None:
    p = Playbook("alice", "bob")
    first, second, third = (p.channel(name, "alice", "bob") for name in ("one", "two", "three"))
    p.send(first, "@alice @bob go")
    p.send(third, "@alice 3")
    p.send(second, "@alice 2")
    (turn,) = p.of(TurnChanged)
    assert (turn.queued, turn.waitingFor) == (1, WaitingFor(agent=ALICE, channel=first))
    p.opened("alice", "a1")
    p.replies("alice", "1", "a1")
    assert p.state.lives["alice"].claimed == third
    p.answers("alice", p.last_n("alice"), {"sessionId": "a3"})
    p.replies("alice", "3", "a3")
    p.answers("alice", p.last_n("alice"), {"sessionId": "a2"})
    assert p.prompts("alice") == ["@alice @bob go", "@alice 3", "@alice 2"]


def test_the_next_of_several_waits_for_an_agent_that_answers_elsewhere() -> None:
    p, channel, message = both()
    elsewhere = p.direct("bob")
    p.send(elsewhere, "talk")
    p.opened("bob", "b0")
    p.replies("alice", "me", "a1")
    p.passes(300)
    turn = p.state.shown[channel]
    assert (turn.busy, turn.answering, turn.then) == (True, None, ("bob",))
    assert (turn.answers, turn.waitingFor) == (message, WaitingFor(agent=BOB, channel=elsewhere))
    p.replies("bob", "talked", "b0")
    p.answers("bob", p.last_n("bob"), {"sessionId": "b1"})
    p.replies("bob", "and me", "b1")
    assert p.answered(message) == [("alice", "end_turn"), ("bob", "end_turn")]


def test_a_message_that_nobody_can_answer_holds_up_none_behind_it() -> None:
    p, channel, _ = both("@alice hello")
    p.command(RemoveMember, channel=channel, agent=BOB)
    for text in ("one", "@alice two"):
        p.send(channel, text)
    p.command(RemoveMember, channel=channel, agent=ALICE)
    p.answers("alice", 3, {"stopReason": "cancelled"})
    assert p.codes() == [("no-recipient", "")]
    p.passes(300)
    assert p.codes() == [("agent-joined", "alice")]
    assert p.all_sent("alice")[-1].line.count("session/new") == 1


# --- stops ----------------------------------------------------------------------------------


def test_stop_ends_the_answer_those_after_it_and_the_queue() -> None:
    p, channel, message = both()
    queued = p.send(channel, "@bob next")
    p.command(Cancel, channel=channel)
    p.answers("alice", 3, {"stopReason": "cancelled"})
    p.passes(40_000)
    assert p.answered(message) == [("alice", "cancelled")]
    assert p.messages()[queued]["error"]["id"] == "cancelled"
    assert [one.agent for one in p.started_lives()] == ["alice"]
    assert p.state.shown == {}


def test_stop_between_two_answers_ends_the_rest() -> None:
    p, channel, message = both()
    p.replies("alice", "one", "a1")
    p.command(Cancel, channel=channel)
    (turn,) = p.of(TurnChanged)
    assert turn.busy is False
    p.passes(5_000)
    assert p.answered(message) == [("alice", "end_turn")]
    assert [one.agent for one in p.started_lives()] == ["alice"]


@pytest.mark.parametrize("reason", ["stopped", "removed"])
def test_what_waits_for_an_agent_that_was_stopped_by_hand_does_not_start_it(reason: str) -> None:
    p, channel, message = both()
    p.command(Start, agent=BOB)
    p.started("bob")
    queued = p.send(channel, "@bob @alice next")
    if reason == "stopped":
        p.command(Stop, agent=BOB)
    else:
        p.give(configured("alice"))
    p.exits("bob")
    p.replies("alice", "me", "a1")
    assert p.codes() == [("agent-unavailable", "bob")] * 2
    p.passes(300)
    p.replies("alice", "me again", "a1")
    assert p.answered(message) == [("alice", "end_turn"), ("bob", "agent-unavailable")]
    assert p.answered(queued) == [("bob", "agent-unavailable"), ("alice", "end_turn")]
    assert [one.agent for one in p.started_lives()] == ["alice", "bob"]
    p.passes(5_000)
    later = p.send(channel, "@bob now")
    started = [one.agent for one in p.started_lives()]
    assert started == ["alice", "bob", "bob"] if reason == "stopped" else ["alice", "bob"]
    assert later in p.messages()


def test_an_agent_that_was_started_again_answers_what_waited() -> None:
    p, channel, _ = both("@alice hello")
    p.command(Start, agent=BOB)
    p.started("bob")
    queued = p.send(channel, "@bob next")
    p.command(Stop, agent=BOB)
    p.exits("bob")
    p.command(Start, agent=BOB)
    p.started("bob")
    p.replies("alice", "me", "a1")
    p.passes(300)
    p.answers("bob", 2, {"sessionId": "b1"})
    p.replies("bob", "here", "b1")
    assert p.answered(queued) == [("bob", "end_turn")]


def test_a_restart_of_the_next_one_starts_nothing_over() -> None:
    p, _, message = both()
    p.command(Start, agent=BOB)
    p.started("bob")
    p.command(Restart, agent=BOB)
    p.exits("bob")
    p.replies("alice", "one", "a1")
    p.passes(300)
    p.opened("bob", "b1")
    p.replies("bob", "two", "b1")
    assert p.answered(message) == [("alice", "end_turn"), ("bob", "end_turn")]


# --- edited and taken back ------------------------------------------------------------------


def edited(p: Playbook, channel: ChannelId, message: str, text: str) -> str | None:
    made = p.command(EditQueued, channel=channel, messageId=MessageId(message), text=text)
    assert made is not None
    return made.problem.id if made.problem is not None else None


def removed(p: Playbook, channel: ChannelId, message: str) -> str | None:
    made = p.command(RemoveQueued, channel=channel, messageId=MessageId(message))
    assert made is not None
    return made.problem.id if made.problem is not None else None


def test_a_queued_message_can_be_edited_and_is_sent_once_in_its_place() -> None:
    p, channel, _ = both("@alice hello")
    one, two = p.send(channel, "@alice one"), p.send(channel, "@alice two")
    assert edited(p, channel, one, "@alice uno") is None
    (told,) = p.of(MessageUpdated)
    assert (told.message.id, told.message.queued, told.message.parts[0].text) == (
        one,
        True,
        "@alice uno",
    )
    assert p.of(TurnChanged) == []
    p.replies("alice", "hi", "a1")
    p.passes(300)
    p.replies("alice", "1", "a1")
    p.passes(300)
    p.replies("alice", "2", "a1")
    assert p.prompts("alice") == ["@alice hello", "@alice uno", "@alice two"]
    assert p.answered(one) == p.answered(two) == [("alice", "end_turn")]


def test_the_second_of_three_is_taken_back_while_the_first_begins() -> None:
    p, channel, _ = both("@alice hello")
    one, two, three = (p.send(channel, f"@alice {n}") for n in (1, 2, 3))
    p.replies("alice", "hi", "a1")
    p.passes(300)
    assert removed(p, channel, one) == "not-waiting"
    assert edited(p, channel, one, "x") == "not-waiting"
    assert removed(p, channel, two) is None
    (turn,) = p.of(TurnChanged)
    assert (turn.queued, turn.answers) == (1, one)
    assert removed(p, channel, two) == "not-waiting"
    p.replies("alice", "1", "a1")
    p.passes(300)
    p.replies("alice", "3", "a1")
    assert p.prompts("alice") == ["@alice hello", "@alice 1", "@alice 3"]
    assert p.messages()[two]["error"]["id"] == "taken-back"
    assert [p.answered(each) for each in (one, two, three)] == [
        [("alice", "end_turn")],
        [],
        [("alice", "end_turn")],
    ]


def test_with_the_last_one_taken_back_the_channel_waits_for_nothing() -> None:
    p = Playbook("alice", "bob")
    elsewhere = p.prompted("alice")
    channel = p.channel("ops", "alice")
    message = p.send(channel, "hello")
    (turn,) = p.of(TurnChanged)
    assert turn.waitingFor == WaitingFor(agent=ALICE, channel=elsewhere)
    assert removed(p, channel, message) is None
    assert p.of(TurnChanged) == [TurnChanged(channel=channel, busy=False)]


def test_another_text_may_be_for_others() -> None:
    p = Playbook("alice", "bob")
    p.prompted("alice")
    channel = p.channel("ops", "alice", "bob")
    message = p.send(channel, "@alice hello")
    assert edited(p, channel, message, "@bob hello") is None
    assert p.started_lives()[-1].agent == "bob"
    (turn,) = p.of(TurnChanged)
    assert (turn.queued, turn.answering, turn.waitingFor) == (0, "bob", None)


@pytest.mark.parametrize("text", ["", " \n"])
def test_nothing_is_no_text(text: str) -> None:
    p, channel, _ = both("@alice hello")
    message = p.send(channel, "@alice next")
    assert edited(p, channel, message, text) == "empty-text"
    assert p.state.waiting[message].text == "@alice next"


def test_a_message_of_another_channel_is_not_of_this_queue() -> None:
    p, channel, _ = both("@alice hello")
    message = p.send(channel, "@alice next")
    other = p.channel("other")
    assert removed(p, other, message) == "not-waiting"


def test_a_definition_that_changes_leaves_the_rounds_alone() -> None:
    p, _, message = both()
    p.give(configured(agent("alice", digest="two"), agent("bob", digest="two")))
    p.replies("alice", "one", "a1")
    p.passes(300)
    p.opened("bob", "b1")
    p.replies("bob", "two", "b1")
    assert p.answered(message) == [("alice", "end_turn"), ("bob", "end_turn")]


def test_one_that_waits_for_quiet_is_not_overtaken() -> None:
    p = Playbook("alice")
    one, two = p.channel("one", "alice"), p.channel("two", "alice")
    p.send(one, "first")
    p.opened("alice", "s1")
    p.replies("alice", "done", "s1")
    p.send(one, "second")
    p.send(two, "third")
    assert p.prompts("alice") == ["first"]
    p.passes(300)
    assert p.prompts("alice") == ["first", "second"]
    p.replies("alice", "done", "s1")
    p.answers("alice", p.last_n("alice"), {"sessionId": "s2"})
    assert p.prompts("alice") == ["first", "second", "third"]


def test_an_edit_that_changes_nothing_is_not_told() -> None:
    p, channel, _ = both()
    waiting = p.send(channel, "@alice two")
    assert edited(p, channel, waiting, "@alice two") is None
    assert p.of(MessageUpdated) == []
