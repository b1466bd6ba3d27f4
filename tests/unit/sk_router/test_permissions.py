"""Permission requests: the agent's own options, one answer, and no wait without an end."""

from typing import Any

import pytest

from sk_bus.commands import AnswerPermission, Cancel, Restart, Stop
from sk_bus.events import MessageDelta, PermissionRequested, PermissionResolved
from sk_bus.internal import DoSend, DoStop
from sk_bus.model import AgentName, ChannelId
from sk_bus.vocabulary import encoded
from sk_bus.wire import packed
from tests.support.playbook import Playbook, chunk, permission

ALICE = AgentName("alice")


def asked(*options: tuple[str, str], request: Any = 0, **tool: Any) -> tuple[Playbook, ChannelId]:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.writes("alice", permission(request, *options, **tool))
    return p, channel


def pending(p: Playbook) -> PermissionRequested:
    return next(one for one in reversed(p.log) if isinstance(one, PermissionRequested))


def answer(p: Playbook, option: str, **more: Any) -> Any:
    result = p.command(AnswerPermission, permission=pending(p).id, optionId=option, **more)
    assert result is not None
    return result


def test_options_are_shown_in_the_agents_order_with_its_names_and_kinds() -> None:
    p, _ = asked(("delta", "allow_once"), ("alpha", "allow_once"), ("beta", "allow_persistent"))
    assert [(one.optionId, one.name, one.kind) for one in pending(p).options] == [
        ("delta", "Delta", "allow_once"),
        ("alpha", "Alpha", "allow_once"),
        ("beta", "Beta", "allow_persistent"),
    ]


@pytest.mark.parametrize("request_id", [0, 7, "0", "b1c2-uuid", None, 1.5])
def test_the_chosen_id_and_the_request_id_go_back_as_they_came(request_id: Any) -> None:
    p, _ = asked(("päivä \t1", "allow_once"), request=request_id)
    assert answer(p, "päivä \t1", by="page").ok
    assert p.sent() == [
        {
            "jsonrpc": "2.0",
            "id": request_id,
            "result": {"outcome": {"outcome": "selected", "optionId": "päivä \t1"}},
        }
    ]
    (resolved,) = p.of(PermissionResolved)
    assert (resolved.by, resolved.optionId) == ("page", "päivä \t1")


def test_options_without_end_make_an_event_within_bounds() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    frame = permission(0, ("yes", "allow_once"), ("o" * 1_001, "allow_once"))
    many = [{"optionId": f"{n}", "name": "é" * 1_500, "kind": "k" * 1_500} for n in range(300)]
    frame["params"]["options"] += many
    p.writes("alice", frame)
    told = pending(p)
    assert [one.optionId for one in told.options[:2]] == ["yes", "0"]
    assert len(packed(encoded(told))) < 256 * 1024


@pytest.mark.parametrize("request_id", [[1], {"$def": "digest-of-alice#/env"}])
def test_an_id_that_is_none_is_never_sent_back(request_id: Any) -> None:
    p, _ = asked(("yes", "allow_once"), request=request_id)
    assert p.said == []
    assert p.decision.notes


def test_an_option_that_was_not_offered_sends_nothing() -> None:
    p, _ = asked(("yes", "allow_once"))
    result = answer(p, "Yes")
    assert result.problem.id == "no-such-option"
    assert p.said == [result]
    assert answer(p, "yes").ok


def test_the_first_answer_wins_and_the_second_hears_so() -> None:
    p, _ = asked(("yes", "allow_once"), ("no", "reject_once"))
    assert answer(p, "yes").ok
    result = answer(p, "no")
    assert (result.ok, result.problem.id) == (False, "no-longer-asked")
    assert p.said == [result]


@pytest.mark.parametrize("id_", ["nonsense", "p9999999999999999.0", "m0000000000001001.0"])
def test_a_permission_that_never_was_is_told_from_one_that_is_over(id_: str) -> None:
    p = Playbook("alice")
    result = p.command(AnswerPermission, permission=id_, optionId="yes")
    assert result is not None
    assert result.problem is not None
    assert result.problem.id == "no-such-permission"


def test_a_request_for_a_call_that_nobody_announced_makes_one() -> None:
    p, _ = asked(("yes", "allow_once"), toolCallId="new", title="rm -rf", kind="execute")
    call = pending(p).toolCall
    assert (call.id, call.title, call.kind) == ("new", "rm -rf", "execute")
    (message,) = [m for m in p.messages().values() if m["role"] == "agent"]
    assert message["id"] == pending(p).messageId
    assert message["parts"][0]["tool"]["title"] == "rm -rf"


def test_a_request_with_only_an_id_is_shown_with_what_was_announced() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.updates(
        "alice",
        {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Edit", "kind": "edit"},
    )
    p.writes("alice", permission(0, ("yes", "allow_once")))
    assert (pending(p).toolCall.title, pending(p).toolCall.kind) == ("Edit", "edit")
    assert p.of(MessageDelta) == []


def test_a_request_without_a_call_id_is_shown_all_the_same() -> None:
    p, _ = asked(("yes", "allow_once"), toolCallId=None, title="Go?")
    assert pending(p).toolCall.title == "Go?"


@pytest.mark.parametrize("status", ["in_progress", "completed"])
def test_the_request_stays_whatever_the_status_of_its_call(status: str) -> None:
    p, _ = asked(("yes", "allow_once"))
    p.updates("alice", {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": status})
    assert p.of(PermissionResolved) == []
    assert answer(p, "yes").ok


def test_several_may_be_open_and_each_is_answered_for_itself() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.writes("alice", *[permission(n, ("yes", "allow_once"), toolCallId=f"t{n}") for n in (5, 6)])
    first, second = p.of(PermissionRequested)
    for one, request in ((second, 6), (first, 5)):
        result = p.command(AnswerPermission, permission=one.id, optionId="yes")
        assert result is not None
        assert result.ok
        assert [line["id"] for line in p.sent()] == [request]


def test_refusals_of_the_turn_are_counted() -> None:
    p, channel = asked(("no", "reject_once"), ("never", "reject_always"), ("yes", "allow_once"))
    answer(p, "no")
    p.writes("alice", permission(1, ("never", "reject_always")))
    assert pending(p).rejections == 1
    answer(p, "never")
    p.writes("alice", permission(2, ("yes", "allow_once")))
    assert pending(p).rejections == 2
    p.answers("alice", 3, {"stopReason": "end_turn"})
    p.passes(300)
    p.send(channel, "next")
    p.writes("alice", permission(3, ("yes", "allow_once")))
    assert pending(p).rejections == 0


def test_an_empty_list_of_options_can_only_be_cancelled() -> None:
    p, channel = asked()
    assert pending(p).options == ()
    assert not answer(p, "yes").ok
    p.command(Cancel, channel=channel)
    assert [one.optionId for one in p.of(PermissionResolved)] == [None]


def test_options_that_are_none_are_left_out() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    frame = permission(0, ("yes", "allow_once"))
    frame["params"]["options"] += [None, 7, {"name": "no id"}, {"optionId": 5}, {"optionId": "x"}]
    p.writes("alice", frame)
    assert [(one.optionId, one.name) for one in pending(p).options] == [("yes", "Yes"), ("x", "x")]


def test_the_agent_may_take_its_request_back() -> None:
    p, _ = asked(("yes", "allow_once"), request="r1")
    p.writes("alice", {"method": "$/cancel_request", "params": {"requestId": "r2"}})
    assert p.said == []
    p.writes("alice", {"method": "$/cancel_request", "params": {"requestId": "r1"}})
    assert [(one.by, one.optionId) for one in p.of(PermissionResolved)] == [("agent", None)]
    assert [one["result"]["outcome"] for one in p.sent()] == [{"outcome": "cancelled"}]


def test_an_agent_that_dies_first_ends_the_wait() -> None:
    p, _ = asked(("yes", "allow_once"))
    p.exits("alice", asked=False, code=1)
    assert [(one.by, one.delivered) for one in p.of(PermissionResolved)] == [("agent", True)]
    assert p.sent() == []
    assert answer(p, "yes").problem.id == "no-longer-asked"


def test_an_answer_that_the_agent_died_before_is_told_as_not_delivered() -> None:
    p, _ = asked(("yes", "allow_once"))
    answer(p, "yes", by="page")
    p.exits("alice", asked=False, code=1, taken=3)
    assert [(one.by, one.optionId, one.delivered) for one in p.of(PermissionResolved)] == [
        ("page", "yes", False)
    ]


def test_an_answer_that_was_taken_is_not_told_again() -> None:
    p, _ = asked(("yes", "allow_once"))
    answer(p, "yes")
    p.exits("alice", asked=False, code=1, taken=4)
    assert p.of(PermissionResolved) == []


def test_an_answer_was_taken_when_the_turn_has_ended() -> None:
    p, _ = asked(("yes", "allow_once"))
    answer(p, "yes")
    p.answers("alice", 3, {"stopReason": "end_turn"})
    p.exits("alice", asked=False, code=1, taken=3)
    assert p.of(PermissionResolved) == []


def test_a_turn_that_ends_with_a_request_open_answers_it() -> None:
    p, _ = asked(("yes", "allow_once"), request="r")
    p.answers("alice", 3, {"stopReason": "end_turn"})
    assert [one["id"] for one in p.sent()] == ["r"]
    assert [one.by for one in p.of(PermissionResolved)] == ["agent"]


def test_a_request_while_the_agent_is_being_stopped_is_not_shown() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.command(Stop, agent=ALICE)
    p.writes("alice", permission(0, ("yes", "allow_once")))
    assert p.said == []


def test_a_request_outside_a_turn_is_shown_and_answered() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.answers("alice", 3, {"stopReason": "end_turn"})
    p.passes(5_000)
    p.writes("alice", permission(0, ("yes", "allow_once")))
    assert pending(p).rejections == 0
    p.passes(60_000)
    assert answer(p, "yes").ok
    assert p.state.lives["alice"].idle == p.mono


def test_a_request_outside_a_turn_ends_with_its_agent() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.answers("alice", 3, {"stopReason": "end_turn"})
    p.passes(5_000)
    p.writes("alice", permission(8, ("yes", "allow_once")))
    p.exits("alice", asked=False, code=1)
    assert [one.by for one in p.of(PermissionResolved)] == ["agent"]
    assert p.state.asks == {}


@pytest.mark.parametrize("kind", [Stop, Restart])
def test_a_request_outside_a_turn_is_cancelled_before_a_stop(kind: type) -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.answers("alice", 3, {"stopReason": "end_turn"})
    p.passes(5_000)
    p.writes("alice", permission(8, ("yes", "allow_once")))
    p.command(kind, agent=ALICE)
    assert [(one["id"], one["result"]["outcome"]) for one in p.sent()] == [
        (8, {"outcome": "cancelled"})
    ]
    assert [one.by for one in p.of(PermissionResolved)] == ["stop"]
    order = [type(one) for one in p.said if isinstance(one, DoSend | DoStop)]
    assert order == [DoSend, DoStop]


def test_a_request_of_an_unknown_session_is_refused_and_not_left() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.writes("alice", permission(4, ("yes", "allow_once"), session="other"))
    assert [(one["id"], one["error"]["code"]) for one in p.sent()] == [(4, -32602)]


def test_text_goes_on_in_the_same_part_around_an_answered_request() -> None:
    p, _ = asked(("yes", "allow_once"))
    p.updates("alice", chunk("done"))
    (message,) = [m for m in p.messages().values() if m["role"] == "agent"]
    assert [part["type"] for part in message["parts"]] == ["tool", "text"]
