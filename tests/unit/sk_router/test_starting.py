"""Agents through the decider: starts, the limit, eviction, idle stops, definitions, the close."""

import pytest

from sk_bus.commands import Cancel, Direct, Restart, Send, Shutdown, Start, Stop
from sk_bus.events import AgentStateChanged, MessageUpdated, TurnChanged
from sk_bus.internal import DoSend, DoStart, DoStop, FactExited, TimerFired
from sk_bus.model import AgentName, CommandId
from tests.support.playbook import Playbook, agent, chunk, configured, permission

ALICE, BOB, CAROL = AgentName("alice"), AgentName("bob"), AgentName("carol")


def test_configured_agents_are_shown_as_stopped() -> None:
    p = Playbook("alice", "bob")
    assert p.states() == [("alice", "stopped"), ("bob", "stopped")]


def test_a_start_is_answered_when_the_handshake_is_done() -> None:
    p = Playbook("alice")
    assert p.command(Start, agent=ALICE) is None
    assert p.states() == [("alice", "starting")]
    (start,) = p.of(DoStart)
    assert (start.inc, start.digest) == (p.inc("alice"), "digest-of-alice")
    p.up("alice")
    assert [one["method"] for one in p.sent()] == ["initialize"]
    p.answers("alice", 1, {"protocolVersion": 1})
    assert p.states() == [("alice", "ready")]
    result = p.result("command-1")
    assert result is not None
    assert result.ok


@pytest.mark.parametrize(
    ("answer", "id_"),
    [
        ({"result": {"protocolVersion": 2}}, "wrong-protocol"),
        ({"result": {"protocolVersion": "1"}}, "wrong-protocol"),
        ({"result": {"protocolVersion": True}}, "wrong-protocol"),
        ({"result": None}, "wrong-protocol"),
        ({"error": {"code": 401, "message": "who are you"}}, "agent-error"),
        ({"error": "who are you"}, "agent-error"),
    ],
)
def test_a_handshake_that_fails_ends_in_error(answer: dict[str, object], id_: str) -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.up("alice")
    p.writes("alice", {"jsonrpc": "2.0", "id": 1, **answer})
    assert len(p.of(DoStop)) == 1
    assert p.states() == [("alice", "starting", "stopping")]
    p.exits("alice", stderr=("line 1", "line 2"))
    (shown,) = p.of(AgentStateChanged)
    assert (shown.state, shown.error.id) == ("error", id_)
    assert shown.error.params["stderr"] == ["line 1", "line 2"]
    result = p.result("command-1")
    assert result is not None
    assert result.problem == shown.error


def test_a_start_that_takes_too_long_ends_in_error() -> None:
    p = Playbook(agent("alice", startTimeout=5_000))
    p.command(Start, agent=ALICE)
    p.up("alice")
    p.passes(4_999)
    assert p.of(DoStop) == []
    p.passes(1)
    assert len(p.of(DoStop)) == 1
    p.exits("alice")
    assert p.states() == [("alice", "error")]


def test_an_agent_whose_process_came_up_late_has_its_whole_time_to_answer() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.passes(20_000)
    p.up("alice")
    p.passes(29_999)
    assert p.of(DoStop) == []
    p.passes(1)
    assert len(p.of(DoStop)) == 1


def test_a_process_that_never_comes_up_is_not_waited_for() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.passes(30_000)
    assert len(p.of(DoStop)) == 1


def test_an_answer_to_initialize_that_comes_too_late_changes_no_state() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.up("alice")
    p.passes(29_500)
    assert p.of(DoStop) == []
    p.passes(1_500)
    assert p.states() == [("alice", "starting", "stopping")]
    p.answers("alice", 1, {"protocolVersion": 1})
    assert p.states() == []
    p.exits("alice")
    (shown,) = p.of(AgentStateChanged)
    assert shown.error.message == "alice gave no answer to initialize in 30 s"
    assert p.states() == [("alice", "error")]


def test_a_failure_after_the_time_was_up_gives_no_other_reason() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.up("alice")
    p.passes(30_000)
    p.answers("alice", 1, error={"code": 1, "message": "cancelled"})
    assert p.of(DoStop) == []
    p.exits("alice")
    (shown,) = p.of(AgentStateChanged)
    assert shown.error.id == "start-late"


def test_an_agent_that_started_in_time_is_left_alone_by_the_timer() -> None:
    p = Playbook(agent("alice", startTimeout=5_000), stopIdleAgentsAfter=0)
    p.command(Start, agent=ALICE)
    p.started("alice")
    assert "start/alice" not in p.state.timers
    p.passes(60_000)
    assert p.of(DoStop) == []


def test_a_start_that_failed_is_not_timed_any_more() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.exits("alice", asked=False, code=1)
    assert p.state.timers.keys() <= {"idle"}


def test_a_timer_that_fires_before_its_time_was_meant_for_an_earlier_one() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.up("alice")
    p.give(TimerFired(id="start/alice"))
    assert p.of(DoStop) == []
    p.passes(30_000)
    assert len(p.of(DoStop)) == 1


def test_a_program_that_cannot_be_found_is_an_error_with_its_reason() -> None:
    from sk_bus.errors import problem

    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    lost = problem("command-not-found", "command not found: alice-acp")
    p.give(FactExited(agent=ALICE, inc=p.inc("alice"), taken=0, asked=False, problem=lost))
    result = p.result("command-1")
    assert result is not None
    assert result.problem == lost


def test_stop_while_starting_takes_effect_once_started() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.up("alice")
    assert p.command(Stop, agent=ALICE) is None
    assert p.of(DoStop) == []
    p.answers("alice", 1, {"protocolVersion": 1})
    assert len(p.of(DoStop)) == 1
    assert p.states() == [("alice", "starting", "stopping")]
    assert "start/alice" not in p.state.timers
    p.exits("alice")
    assert p.states() == [("alice", "stopped")]
    started, stopped = p.result("command-1"), p.result("command-2")
    assert started is not None
    assert stopped is not None
    assert (started.ok, stopped.ok) == (False, True)


def test_an_agent_that_leaves_while_it_starts_goes_as_soon_as_it_has() -> None:
    p = Playbook("alice", "bob")
    p.command(Start, agent=ALICE)
    p.up("alice")
    p.give(configured("bob"))
    assert p.of(DoStop) == []
    p.answers("alice", 1, {"protocolVersion": 1})
    assert len(p.of(DoStop)) == 1
    p.exits("alice")
    assert p.states() == [("alice", "stopped")]
    assert "alice" not in p.state.lives
    refused = p.result("command-1")
    assert refused is not None
    assert refused.problem is not None
    assert refused.problem.id == "agent-removed"


def test_a_restart_is_a_new_life_after_the_old_one() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.started("alice")
    first = p.inc("alice")
    p.command(Restart, agent=ALICE)
    assert p.started_lives()[1:] == []
    p.exits("alice")
    assert p.inc("alice") > first
    assert [one["id"] for one in (p.up("alice"), p.sent())[1]] == [1]
    p.answers("alice", 1, {"protocolVersion": 1})
    result = p.result("command-2")
    assert result is not None
    assert result.ok


def test_facts_of_a_life_that_is_over_are_not_heard() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    old = p.frame("alice", {"id": 1, "result": {"protocolVersion": 1}})
    p.exits("alice", asked=False)
    p.command(Start, agent=ALICE)
    p.up("alice")
    p.give(old)
    assert p.said == []


@pytest.mark.parametrize("kind", [Start, Stop, Restart, Direct])
def test_an_unknown_agent_is_named_with_its_nearest(kind: type) -> None:
    p = Playbook("alice", "bob")
    result = p.command(kind, agent=AgentName("Alcie"))
    assert result is not None
    assert result.problem is not None
    assert result.problem.message == "no such agent: Alcie; did you mean alice?"


@pytest.mark.parametrize("written", ["ALICE", "Alice", "\uff41lice"])
def test_an_agent_is_the_same_without_regard_to_case(written: str) -> None:
    p = Playbook("alice")
    assert p.direct(written) == p.direct("alice")
    p.command(Start, agent=AgentName(written))
    assert [one.agent for one in p.of(DoStart)] == ["alice"]


def test_the_limit_refuses_when_all_are_busy() -> None:
    p = Playbook("alice", "bob", "carol", maxRunningAgents=2)
    p.prompted("alice")
    p.prompted("bob")
    result = p.command(Start, agent=CAROL)
    assert result is not None
    assert result.problem is not None
    assert (
        result.problem.message
        == "too many agents running: 2 agent(s) busy (alice, bob), the limit is 2"
    )


def test_the_busy_ones_are_named_in_the_configurations_order() -> None:
    p = Playbook("dan", "bob", "carol", maxRunningAgents=2)
    p.prompted("bob")
    p.prompted("dan")
    result = p.command(Start, agent=CAROL)
    assert result is not None
    assert result.problem is not None
    assert "(dan, bob)" in result.problem.message


def test_one_that_is_to_stop_once_started_makes_room_and_is_waited_for() -> None:
    p = Playbook("alice", "bob", maxRunningAgents=1)
    p.command(Start, agent=ALICE)
    p.up("alice")
    p.command(Stop, agent=ALICE)
    assert p.command(Start, agent=BOB) is None
    assert p.of(DoStart) == []
    p.answers("alice", 1, {"protocolVersion": 1})
    assert p.of(DoStart) == []
    p.exits("alice")
    assert [one.agent for one in p.of(DoStart)] == ["bob"]


def test_a_restart_of_what_is_stopping_needs_room_like_any_start() -> None:
    p = Playbook("alice", "bob", maxRunningAgents=1)
    p.command(Start, agent=ALICE)
    p.started("alice")
    p.command(Stop, agent=ALICE)
    p.command(Start, agent=BOB)
    result = p.command(Restart, agent=ALICE)
    assert result is not None
    assert result.problem is not None
    assert result.problem.id == "too-many-agents"


def test_waiting_starts_begin_in_the_order_in_which_they_were_asked_for() -> None:
    p = Playbook("alice", "bob", "carol", "dan", maxRunningAgents=2)
    for name in ("alice", "bob"):
        p.command(Start, agent=AgentName(name))
        p.started(name)
    p.command(Start, agent=AgentName("dan"))
    p.command(Start, agent=CAROL)
    p.exits("bob")
    assert [one.agent for one in p.of(DoStart)] == ["dan"]
    p.exits("alice")
    assert [one.agent for one in p.of(DoStart)] == ["carol"]


def test_an_agent_that_asks_outside_a_turn_neither_makes_room_nor_is_idle() -> None:
    p = Playbook("alice", "bob", maxRunningAgents=1, stopIdleAgentsAfter=1_000)
    p.prompted("alice")
    p.answers("alice", 3, {"stopReason": "end_turn"})
    p.passes(5_000)
    p.writes("alice", permission(0, ("yes", "allow_once")))
    p.passes(3_600_000)
    assert p.of(DoStop) == []
    result = p.command(Start, agent=BOB)
    assert result is not None
    assert result.ok is False


def test_a_message_to_a_full_house_says_so_at_once() -> None:
    p = Playbook("alice", "bob", maxRunningAgents=1)
    p.prompted("alice")
    channel = p.direct("bob")
    message = p.send(channel, "hello")
    (_, said) = p.of(MessageUpdated)
    assert (said.message.code, said.message.answers) == ("agent-unavailable", message)
    assert said.message.error.id == "too-many-agents"
    assert p.state.talks.get(channel) is None


def test_the_idle_agent_used_least_recently_makes_room() -> None:
    p = Playbook("alice", "bob", "carol", maxRunningAgents=2)
    for name in ("alice", "bob"):
        p.command(Start, agent=AgentName(name))
        p.started(name)
        p.passes(1_000)
    channel = p.direct("alice")
    p.send(channel, "hello")
    p.answers("alice", 2, {"sessionId": "s1"})
    p.answers("alice", 3, {"stopReason": "end_turn"})
    p.command(Start, agent=CAROL)
    assert [one.agent for one in p.of(DoStop)] == ["bob"]
    assert p.of(DoStart) == []
    assert p.states() == [("bob", "ready", "stopping"), ("carol", "starting")]
    p.exits("bob")
    assert [one.agent for one in p.of(DoStart)] == ["carol"]


def test_a_lower_limit_stops_idle_ones_and_lets_busy_ones_finish() -> None:
    p = Playbook("alice", "bob", "carol")
    p.prompted("alice")
    for name in ("bob", "carol"):
        p.command(Start, agent=AgentName(name))
        p.started(name)
    p.give(configured("alice", "bob", "carol", maxRunningAgents=1))
    assert {one.agent for one in p.of(DoStop)} == {"bob", "carol"}
    p.give(configured("alice", "bob", "carol", maxRunningAgents=1))
    assert p.of(DoStop) == []


def test_a_busy_one_beyond_a_lower_limit_stops_when_it_has_finished() -> None:
    p = Playbook("alice", "bob")
    p.prompted("alice")
    p.prompted("bob", session="s2")
    p.give(configured("alice", "bob", maxRunningAgents=1))
    assert p.of(DoStop) == []
    p.answers("bob", 3, {"stopReason": "end_turn"})
    assert [one.agent for one in p.of(DoStop)] == ["bob"]
    p.exits("bob")
    assert p.states() == [("bob", "stopped")]


def test_an_idle_agent_is_stopped_and_is_no_error() -> None:
    p = Playbook("alice", stopIdleAgentsAfter=60_000)
    p.command(Start, agent=ALICE)
    p.started("alice")
    p.passes(59_000)
    assert p.of(DoStop) == []
    p.passes(31_000)
    assert len(p.of(DoStop)) == 1
    p.exits("alice")
    assert p.states() == [("alice", "stopped")]
    channel = p.direct("alice")
    p.send(channel, "hello")
    assert len(p.of(DoStart)) == 1


def test_what_comes_outside_a_turn_keeps_an_agent_from_being_idle() -> None:
    p = Playbook("alice", stopIdleAgentsAfter=60_000)
    p.prompted("alice")
    p.answers("alice", 3, {"stopReason": "end_turn"})
    for _ in range(4):
        p.passes(40_000)
        assert p.of(DoStop) == []
        p.updates("alice", chunk("still at it"))
        assert p.states() == []
    p.passes(100_000)
    assert len(p.of(DoStop)) == 1


def test_the_idle_check_comes_however_much_others_say() -> None:
    p = Playbook("alice", "bob", stopIdleAgentsAfter=10_000)
    p.command(Start, agent=ALICE)
    p.started("alice")
    p.prompted("bob")
    stopped: list[str] = []
    for _ in range(60):
        p.updates("bob", chunk("and "))
        p.passes(1_000)
        stopped += [one.agent for one in p.of(DoStop)]
    assert stopped == ["alice"]


def test_never_means_that_no_agent_is_idle() -> None:
    p = Playbook("alice", stopIdleAgentsAfter=0)
    p.command(Start, agent=ALICE)
    p.started("alice")
    p.passes(86_400_000)
    assert p.of(DoStop) == []


@pytest.mark.parametrize("first", ["message", "check"])
def test_a_message_in_the_tick_of_the_idle_check_is_answered(first: str) -> None:
    p = Playbook("alice", stopIdleAgentsAfter=1_000)
    channel = p.prompted("alice")
    p.answers("alice", 3, {"stopReason": "end_turn"})
    p.passes(29_000)
    p.mono = p.state.timers["idle"]
    both = [Send(id=CommandId("hello"), channel=channel, text="hello"), TimerFired(id="idle")]
    p.give(*(both if first == "message" else both[::-1]))
    if first == "message":
        assert p.of(DoStop) == []
        assert [one["method"] for one in p.sent()] == ["session/prompt"]
        return
    assert len(p.of(DoStop)) == 1
    p.exits("alice")
    assert p.states() == [("alice", "starting")]
    assert len(p.of(DoStart)) == 1


@pytest.mark.parametrize("waits_for", ["tool", "permission", "session"])
def test_an_agent_at_work_is_never_idle(waits_for: str) -> None:
    p = Playbook("alice", "bob", stopIdleAgentsAfter=1_000, maxRunningAgents=1)
    if waits_for == "session":
        channel = p.direct("alice")
        p.send(channel, "hello")
        p.started("alice")
        p.command(Cancel, channel=channel)
    else:
        p.prompted("alice")
    if waits_for == "tool":
        p.updates("alice", {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "long"})
    if waits_for == "permission":
        p.writes("alice", permission(0, ("yes", "allow_once")))
    p.passes(3_600_000 if waits_for != "session" else 29_000)
    assert p.of(DoStop) == []
    result = p.command(Start, agent=BOB)
    assert result is not None
    assert result.ok is False


def test_a_changed_definition_marks_the_agent_and_a_restart_applies_it() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.started("alice")
    p.give(configured(agent("alice", digest="new")))
    assert p.states() == [("alice", "ready", "outdated")]
    p.command(Restart, agent=ALICE)
    p.exits("alice")
    assert [one.digest for one in p.of(DoStart)] == ["new"]
    assert p.states()[-1] == ("alice", "starting")


def test_an_agent_that_leaves_the_configuration_is_stopped_and_what_waits_is_told() -> None:
    p = Playbook("alice", "bob")
    channel = p.prompted("alice")
    waiting = p.send(channel, "and then?")
    p.give(configured("bob"))
    assert [one["method"] for one in p.sent()] == ["session/cancel"]
    assert len(p.of(DoStop)) == 1
    told = [one.message for one in p.of(MessageUpdated) if one.message.code]
    assert [(one.code, one.answers) for one in told] == [("agent-unavailable", waiting)]
    p.exits("alice")
    assert "alice" not in p.state.lives
    assert p.messages()[told[0].id]["error"]["id"] == "agent-removed"
    ends = [one.message for one in p.of(MessageUpdated)]
    assert [one.stopReason for one in ends] == ["cancelled"]


def test_a_stop_by_hand_leaves_the_messages_in_their_order_and_none_queued() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")  # it hasn't said anything yet
    waiting = p.send(channel, "next")
    p.command(Stop, agent=ALICE)
    p.exits("alice")
    assert not p.messages()[waiting]["queued"]
    about = {one["id"]: one.get("answers") for one in p.messages().values()}
    said = [about[id_] for id_ in sorted(about) if about[id_] is not None]
    assert said[-1] == waiting
    assert len(said) == 2


@pytest.mark.parametrize("phase", ["starting", "session"])
def test_a_stop_by_hand_before_the_prompt_is_said_at_once(phase: str) -> None:
    p = Playbook("alice")
    message = p.send(p.direct("alice"), "hello")
    if phase == "session":
        p.started("alice")
    p.command(Stop, agent=ALICE)
    (said,) = p.of(MessageUpdated)
    assert (said.message.code, said.message.answers) == ("agent-unavailable", message)
    assert said.message.error.id == "agent-stopped"
    assert p.of(TurnChanged)[-1].busy is False


def test_an_agent_that_comes_back_into_the_configuration_is_shown_anew() -> None:
    p = Playbook("alice", "bob")
    p.give(configured("bob"))
    assert "alice" not in p.state.lives
    p.give(configured("alice", "bob"))
    assert p.states() == [("alice", "stopped")]


def test_an_agent_that_comes_back_while_it_is_being_stopped_stays() -> None:
    p = Playbook("alice", "bob")
    p.command(Start, agent=ALICE)
    p.started("alice")
    p.give(configured("bob"))
    p.give(configured("alice", "bob"))
    p.exits("alice")
    assert p.states() == [("alice", "stopped")]
    p.command(Start, agent=ALICE)
    assert [one.agent for one in p.of(DoStart)] == ["alice"]


def test_stop_by_hand_ends_the_answer_and_starts_nothing_again() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.updates("alice", chunk("so far"))
    waiting = p.send(channel, "next")
    p.command(Stop, agent=ALICE)
    order = [type(one) for one in p.said if isinstance(one, DoSend | DoStop)]
    assert order == [DoSend, DoStop]
    p.exits("alice")
    ended = p.of(MessageUpdated)[-1].message
    assert (ended.parts[0].text, ended.stopReason) == ("so far", "cancelled")
    p.passes(60_000)
    assert len(p.started_lives()) == 1
    assert [one["answers"] for one in p.messages().values() if one.get("code")] == [waiting]


def test_a_restart_by_hand_ends_the_answer_as_a_stop_does() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.updates("alice", chunk("so far"))
    p.writes("alice", permission(5, ("yes", "allow_once")))
    p.command(Restart, agent=ALICE)
    assert [one.get("method") or one["result"]["outcome"] for one in p.sent()] == [
        "session/cancel",
        {"outcome": "cancelled"},
    ]
    assert len(p.of(DoStop)) == 1
    p.exits("alice")
    (ended,) = [one.message for one in p.of(MessageUpdated)]
    assert (ended.parts[0].text, ended.stopReason) == ("so far", "cancelled")
    assert [one.agent for one in p.of(DoStart)] == ["alice"]


def test_a_restart_by_hand_answers_what_waits_with_the_new_life() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.send(channel, "next")
    p.command(Restart, agent=ALICE)
    p.exits("alice")
    p.started("alice")
    p.passes(400)
    assert [one["method"] for one in p.sent()] == ["session/new"]
    p.answers("alice", 2, {"sessionId": "s2"})
    assert [one["params"]["prompt"][-1]["text"] for one in p.sent()] == ["next"]


def test_an_agent_that_fails_to_start_leaves_a_word_in_the_channel() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    message = p.send(channel, "hello")
    p.up("alice")
    p.exits("alice", asked=False, code=1, stderr=("no key",))
    (said,) = p.of(MessageUpdated)
    assert (said.message.code, said.message.answers) == ("agent-unavailable", message)
    assert said.message.error.params["stderr"] == ["no key"]
    assert p.of(TurnChanged)[-1].busy is False


def test_the_orderly_close_is_done_when_nothing_is_left() -> None:
    p = Playbook("alice", "bob")
    channel = p.prompted("alice")
    waiting = p.send(channel, "next")
    p.command(Start, agent=BOB)
    assert p.command(Shutdown) is None
    closing = f"command-{p._commands}"
    assert [one.agent for one in p.of(DoStop)] == ["alice", "bob"]
    assert p.messages()[waiting]["error"]["id"] == "cancelled"
    refused = p.command(Send, channel=channel, text="wait")
    assert refused is not None
    assert refused.problem is not None
    assert refused.problem.id == "closing"
    p.exits("alice")
    assert p.result(closing) is None
    p.exits("bob")
    result = p.result(closing)
    assert result is not None
    assert result.ok


def test_a_close_answers_what_agents_ask_outside_a_turn() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.answers("alice", 3, {"stopReason": "end_turn"})
    p.writes("alice", permission(8, ("yes", "allow_once")))
    p.command(Shutdown)
    assert [(one["id"], one["result"]["outcome"]) for one in p.sent()] == [
        (8, {"outcome": "cancelled"})
    ]
    assert p.state.asks == {}


def test_a_close_with_nothing_running_is_done_at_once() -> None:
    result = Playbook("alice").command(Shutdown)
    assert result is not None
    assert result.ok
