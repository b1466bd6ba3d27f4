"""Turns of direct conversations: the queue, cancel, the quiet between prompts, how answers end."""

import json

import pytest

from sk_bus.commands import Cancel, Direct, Send
from sk_bus.events import (
    AgentStateChanged,
    ChannelsChanged,
    CommandResult,
    MessageUpdated,
    PermissionRequested,
    PermissionResolved,
    TurnChanged,
)
from sk_bus.internal import DoSend, DoStart, DoStop, DoTurn, FactFrame, SessionChanged
from sk_bus.model import AgentName, BlobRef, ChannelId, WaitingFor
from sk_router.acp import messages
from tests.support.playbook import Playbook, agent, chunk, permission, update

ALICE = AgentName("alice")


def prompts(p: Playbook, name: str = "alice") -> list[str]:
    return [
        one["params"]["prompt"][-1]["text"]
        for one in p.sent(name)
        if one.get("method") == "session/prompt"
    ]


def end(p: Playbook, reason: str = "end_turn", name: str = "alice") -> None:
    calls = [one.n for one in p.state.lives[name].calls if one.method == "session/prompt"]
    p.answers(name, calls[0], {"stopReason": reason})


def test_the_first_answer_from_nothing_to_its_end() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    p.send(channel, "hello")
    p.up("alice")
    p.answers("alice", 1, {"protocolVersion": 1})
    assert p.states() == [("alice", "ready"), ("alice", "busy")]
    assert [(one["method"], one["id"]) for one in p.sent()] == [("session/new", 2)]
    p.answers("alice", 2, {"sessionId": "s1"})
    order = [type(one) for one in p.said if isinstance(one, DoTurn | DoSend)]
    assert order == [DoTurn, DoSend]
    assert p.sent()[0]["params"] == {
        "sessionId": "s1",
        "prompt": [{"type": "text", "text": "hello"}],
    }
    end(p)
    assert p.states() == [("alice", "ready")]
    assert [(one.busy, one.queued) for one in p.of(TurnChanged)] == [(False, 0)]
    assert [one.open for one in p.of(DoTurn)] == [False]


def test_half_of_a_surrogate_pair_in_a_message_is_marked_and_sent() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    end(p)
    p.passes(1_000)
    p.send(channel, "a\udcff b\ud83d\ude00")
    assert prompts(p) == ["a\ufffd b\U0001f600"]


def test_an_old_message_with_half_of_a_surrogate_pair_is_told_all_the_same() -> None:
    line = messages.request(3, "session/prompt", {"prompt": [{"text": "a\udcff"}]})
    assert json.loads(line)["params"] == {"prompt": [{"text": "a\ufffd"}]}


def test_the_direct_conversation_is_made_once() -> None:
    p = Playbook("alice")
    first = p.direct("alice")
    assert [one.channels[0].direct for one in p.of(ChannelsChanged)] == ["alice"]
    assert p.direct("alice") == first
    assert p.of(ChannelsChanged) == []


def test_a_second_prompt_goes_into_the_same_session() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    end(p)
    p.passes(5_000)
    p.send(channel, "more")
    assert [one["method"] for one in p.sent()] == ["session/prompt"]


def test_a_session_gets_the_mcp_servers_by_their_place_only() -> None:
    p = Playbook(agent("alice", mcpServers=2))
    channel = p.direct("alice")
    p.send(channel, "hello")
    p.started("alice")
    assert p.sent()[0]["params"] == {
        "cwd": "/home/alice",
        "mcpServers": {"$def": "digest-of-alice#/mcpServers"},
    }


def test_a_new_life_opens_a_new_session() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.exits("alice", asked=False, code=1)
    p.passes(400)
    p.send(channel, "again")
    p.started("alice")
    assert [one["method"] for one in p.sent()] == ["session/new"]


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("@bob /x `y`", "@bob /x `y`"),
        ("/bob:status", "/bob:status"),
        ("/alice:status now", "/status now"),
        ("  /alice:status", "  /alice:status"),
        ("/compact", "/compact"),
    ],
)
def test_the_agent_of_a_direct_conversation_gets_the_text_verbatim(text: str, prompt: str) -> None:
    p = Playbook("alice", "bob")
    p.prompted("alice", text)
    assert prompts(p) == [prompt]


def test_a_long_text_is_named_by_its_hash() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    blob = BlobRef(sha256="ab" * 32, length=20_000, head="long")
    result = p.command(Send, channel=channel, text=blob)
    assert result is not None
    assert result.ok
    p.started("alice")
    p.answers("alice", 2, {"sessionId": "s1"})
    assert prompts(p) == [{"$blob": "ab" * 32}]


@pytest.mark.parametrize(
    ("command", "fields", "id_"),
    [
        (Send, {"channel": "c0000000000000009.0", "text": "x"}, "no-such-channel"),
        (Send, {"channel": "HERE", "text": " \n\t"}, "empty-text"),
        (Cancel, {"channel": "c0000000000000009.0"}, "no-such-channel"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(
    command: type, fields: dict[str, str], id_: str
) -> None:
    p = Playbook("alice")
    here = p.direct("alice")
    result = p.command(command, **{k: here if v == "HERE" else v for k, v in fields.items()})
    assert result is not None
    assert result.problem is not None
    assert result.problem.id == id_
    assert p.said == [result]


def test_messages_sent_meanwhile_are_answered_in_the_order_of_acceptance() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice", "zero")
    ids = [p.send(channel, word) for word in ("one", "two", "three")]
    assert [p.messages()[one]["queued"] for one in ids] == [True, True, True]
    assert p.of(TurnChanged)[-1].queued == 3
    got = []
    for _ in ids:
        end(p)
        p.passes(300)
        got += prompts(p)
    assert got == ["one", "two", "three"]
    assert [p.messages()[one]["queued"] for one in ids] == [False, False, False]


def test_an_idle_channel_answers_at_once_and_is_never_shown_as_queued() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    assert not any(one.message.queued for one in p.log if isinstance(one, MessageUpdated))


def test_the_next_prompt_waits_for_300_ms_of_quiet() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.send(channel, "next")
    end(p)
    p.passes(299)
    assert prompts(p) == []
    p.updates("alice", chunk("tail"))
    p.passes(299)
    assert prompts(p) == []
    p.passes(1)
    assert prompts(p) == ["next"]


def test_the_next_prompt_waits_for_2_s_at_most() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.send(channel, "next")
    end(p)
    for _ in range(9):
        p.passes(200)
        assert prompts(p) == []
        p.updates("alice", chunk("."))
    p.passes(200)
    assert prompts(p) == ["next"]


def test_a_message_into_the_quiet_waits_as_well() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    end(p)
    message = p.send(channel, "next")
    assert prompts(p) == []
    assert p.messages()[message]["queued"]
    p.passes(300)
    assert prompts(p) == ["next"]
    assert not p.messages()[message]["queued"]


def test_what_an_answer_brings_when_it_brings_nothing() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    end(p, "refusal")
    (ended,) = p.of(MessageUpdated)
    assert (ended.message.done, ended.message.parts, ended.message.stopReason) == (
        True,
        (),
        "refusal",
    )


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", "of_a_kind_to_come"])
def test_a_stop_reason_is_told_as_it_is(reason: str) -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.updates("alice", chunk("x"))
    end(p, reason)
    assert p.of(MessageUpdated)[-1].message.stopReason == reason


def test_an_error_is_told_in_the_agents_words() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.updates("alice", chunk("partly"))
    p.send(channel, "next")
    p.answers(
        "alice",
        3,
        error={"code": -32603, "message": "Internal error", "data": {"details": "no model"}},
    )
    ended = next(one.message for one in p.of(MessageUpdated) if one.message.role == "agent")
    assert (ended.done, ended.stopReason) == (True, None)
    assert ended.error is not None
    assert ended.error.message == "Internal error: no model"
    assert ended.parts[0].text == "partly"
    p.passes(300)
    assert prompts(p) == ["next"]


def test_an_error_without_a_word_before_shows_the_agent_nothing() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.answers("alice", 3, error={"code": -32603, "message": "no model"})
    assert p.state.sessions[f"{channel}/alice"].seen is None


def test_nothing_is_ordered_of_a_life_that_nothing_reaches() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.command(Cancel, channel=channel)
    p.passes(10_000)  # it is taken down, and the turn is over before it is gone
    assert [one for one in p.said if isinstance(one, DoTurn | DoSend)] == []
    p.exits("alice")
    p = Playbook("alice")
    p.prompted("alice")
    p.exits("alice", asked=False, code=1)
    assert [one for one in p.said if isinstance(one, DoTurn | DoSend)] == []


def test_an_answer_without_a_stop_reason_is_an_error_and_no_hang() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.answers("alice", 3, None)
    ended = p.of(MessageUpdated)[-1].message
    assert ended.error is not None
    assert ended.error.id == "no-stop-reason"


def test_a_response_whose_id_came_back_as_a_string_is_ours() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.writes("alice", {"id": "3", "result": {"stopReason": "end_turn"}})
    assert p.of(TurnChanged)[-1].busy is False


def test_an_answer_is_taken_once() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    end(p)
    p.answers("alice", 3, {"stopReason": "end_turn"})
    assert p.said == []
    p.writes("alice", {"id": None, "error": {"code": -32700, "message": "Parse error"}})
    assert p.said == []


def test_an_agent_that_ends_in_mid_answer_ends_the_answer() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.updates("alice", chunk("so far"))
    p.send(channel, "next")
    p.exits("alice", asked=False, code=3)
    ended = next(one.message for one in p.of(MessageUpdated) if one.message.role == "agent")
    assert ended.parts[0].text == "so far"
    assert ended.error is not None
    assert ended.error.message == "alice ended by itself (exit code 3)"
    assert p.of(AgentStateChanged)[0].state == "error"
    p.passes(300)
    assert len(p.of(DoStart)) == 1


# --- sessions -------------------------------------------------------------------------------


def waiting_for_session() -> tuple[Playbook, ChannelId]:
    p = Playbook(agent("alice", startTimeout=5_000))
    channel = p.direct("alice")
    p.send(channel, "hello")
    p.started("alice")
    return p, channel


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        ({"error": {"code": -32603, "message": "Bad"}}, "agent-unavailable", "Bad"),
        ({"result": None}, "agent-unavailable", "alice opened no session"),
        ({"result": {"sessionId": 7}}, "agent-unavailable", "alice opened no session"),
    ],
)
def test_a_session_that_fails_leaves_the_agent_ready(
    answer: dict[str, object], code: str, said: str
) -> None:
    p, _ = waiting_for_session()
    p.writes("alice", {"id": 2, **answer})
    (message,) = p.of(MessageUpdated)
    assert (message.message.code, message.message.error.message) == (code, said)
    assert p.states() == [("alice", "ready")]


def test_a_session_that_takes_too_long_fails_the_turn_and_not_the_agent() -> None:
    p, channel = waiting_for_session()
    p.passes(5_000)
    (message,) = p.of(MessageUpdated)
    assert (message.message.code, message.message.error.id) == (
        "agent-unavailable",
        "session-late",
    )
    assert p.states() == [("alice", "ready")]
    p.answers("alice", 2, {"sessionId": "late"})
    assert p.of(SessionChanged) == []
    p.send(channel, "again")
    assert [one["method"] for one in p.sent()] == ["session/new"]


def test_a_cancel_before_the_prompt_sends_nothing() -> None:
    p, channel = waiting_for_session()
    p.command(Cancel, channel=channel)
    assert p.sent() == []
    ended = p.of(MessageUpdated)[-1].message
    assert (ended.stopReason, ended.parts, ended.answers is None) == ("cancelled", (), False)
    p.answers("alice", 2, {"sessionId": "s1"})
    assert p.sent() == []
    p.send(channel, "again")
    assert prompts(p) == ["again"]


def test_a_session_that_is_being_opened_is_not_asked_for_twice() -> None:
    p, channel = waiting_for_session()
    p.command(Cancel, channel=channel)
    p.send(channel, "again")
    assert p.sent() == []
    p.answers("alice", 2, {"sessionId": "s1"})
    assert prompts(p) == ["again"]


# --- cancel ---------------------------------------------------------------------------------


def test_cancel_goes_in_the_order_of_the_protocol() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    ask = ("yes", "allow_once")
    p.writes("alice", permission("a", ask), permission("b", ask, toolCallId="t2"))
    p.command(Cancel, channel=channel)
    assert [one.get("method", one.get("id")) for one in p.sent()] == ["session/cancel", "a", "b"]
    assert [one["result"] for one in p.sent()[1:]] == [{"outcome": {"outcome": "cancelled"}}] * 2
    assert [one.by for one in p.of(PermissionResolved)] == ["stop", "stop"]
    assert p.of(MessageUpdated) == []
    end(p, "cancelled")
    assert p.of(MessageUpdated)[-1].message.stopReason == "cancelled"


def test_a_permission_asked_after_the_cancel_is_answered_and_never_shown() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.command(Cancel, channel=channel)
    p.writes("alice", permission(9, ("yes", "allow_once")))
    assert p.of(PermissionRequested) == []
    assert p.sent()[0] == {
        "jsonrpc": "2.0",
        "id": 9,
        "result": {"outcome": {"outcome": "cancelled"}},
    }


@pytest.mark.parametrize(
    "answer",
    [{"result": {"stopReason": "end_turn"}}, {"error": {"code": -32800, "message": "cancelled"}}],
)
def test_a_cancel_logged_before_the_response_is_shown_as_cancelled(
    answer: dict[str, object],
) -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.updates("alice", chunk("so far"))
    p.command(Cancel, channel=channel)
    p.updates("alice", chunk(" and more"))
    p.writes("alice", {"id": 3, **answer})
    ended = p.of(MessageUpdated)[-1].message
    assert (ended.stopReason, ended.error, ended.parts[0].text) == (
        "cancelled",
        None,
        "so far and more",
    )


def test_cancel_drops_what_waits_and_says_so_of_each() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    ids = [p.send(channel, word) for word in ("one", "two")]
    p.command(Cancel, channel=channel)
    assert [p.messages()[one]["error"]["id"] for one in ids] == ["cancelled", "cancelled"]
    assert p.of(TurnChanged)[-1].queued == 0
    end(p)
    p.passes(5_000)
    assert prompts(p) == []


def test_a_message_after_the_cancel_waits_for_the_old_response() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.updates("alice", chunk("old"))
    p.command(Cancel, channel=channel)
    p.send(channel, "new")
    assert prompts(p) == []
    p.updates("alice", chunk(" tail"))
    end(p, "cancelled")
    p.passes(300)
    assert prompts(p) == ["new"]
    p.updates("alice", chunk("fresh"))
    texts = [m["parts"][0]["text"] for m in p.messages().values() if m["role"] == "agent"]
    assert texts == ["old tail", "fresh"]
    assert len(p.started_lives()) == 1


def test_an_agent_that_does_not_answer_cancel_is_taken_down() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.command(Cancel, channel=channel)
    p.passes(9_999)
    assert p.of(DoStop) == []
    p.passes(1)
    assert len(p.of(DoStop)) == 1
    assert p.of(MessageUpdated)[-1].message.stopReason == "cancelled"
    assert p.of(TurnChanged)[-1].busy is False
    assert p.states() == [("alice", "busy", "stopping")]
    p.exits("alice")
    shown = p.of(AgentStateChanged)[-1]
    assert (shown.state, shown.error.message) == ("error", "did not answer cancel")


def test_a_message_behind_a_deaf_agent_is_answered_by_its_next_life() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.command(Cancel, channel=channel)
    p.send(channel, "next")
    p.passes(10_300)
    assert p.of(DoStart) == []
    p.exits("alice")
    assert len(p.of(DoStart)) == 1
    p.started("alice")
    p.answers("alice", 2, {"sessionId": "s2"})
    assert prompts(p) == ["next"]


def test_cancel_with_nothing_under_way_does_nothing() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    result = p.command(Cancel, channel=channel)
    assert result is not None
    assert result.ok
    assert p.said == [result]


def test_a_second_cancel_says_nothing_more_to_the_agent() -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.command(Cancel, channel=channel)
    p.command(Cancel, channel=channel)
    assert p.sent() == []


def test_a_cancel_while_the_agent_starts_lets_it_start() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    p.send(channel, "hello")
    p.command(Cancel, channel=channel)
    assert p.of(DoStop) == []
    p.started("alice")
    assert p.states() == [("alice", "ready")]
    assert p.sent() == []


# --- several channels -----------------------------------------------------------------------


def two_rooms() -> tuple[Playbook, ChannelId, ChannelId]:
    """A second conversation with the same agent, as a restored history may bring it."""
    from sk_bus.internal import HistoryRestored
    from sk_bus.model import Channel

    rooms = [ChannelId(f"c000000000000000{n}.0") for n in (1, 2)]
    p = Playbook("alice")
    channels = tuple(Channel(id=room, direct=ALICE, members=(ALICE,)) for room in rooms)
    p.give(HistoryRestored(channels=channels))
    return p, rooms[0], rooms[1]


def test_channels_that_wait_for_an_agent_get_it_in_the_order_of_acceptance() -> None:
    p, here, there = two_rooms()
    p.send(here, "one")
    p.started("alice")
    p.answers("alice", 2, {"sessionId": "s1"})
    p.send(there, "two")
    told = p.of(TurnChanged)[-1]
    assert (told.channel, told.waitingFor) == (there, WaitingFor(agent=ALICE, channel=here))
    p.send(here, "three")
    end(p)
    assert [one["method"] for one in p.sent()] == ["session/new"]
    p.answers("alice", 4, {"sessionId": "s2"})
    assert prompts(p) == ["two"]
    p.answers("alice", 5, {"stopReason": "end_turn"})
    p.passes(300)
    assert prompts(p) == ["three"]


def test_updates_are_told_apart_by_their_session() -> None:
    p, here, there = two_rooms()
    p.send(here, "one")
    p.started("alice")
    p.answers("alice", 2, {"sessionId": "s1"})
    end(p)
    p.send(there, "two")
    p.answers("alice", 4, {"sessionId": "s2"})
    p.updates("alice", chunk("late"), session="s1")
    p.updates("alice", chunk("here"), session="s2")
    p.updates("alice", chunk("nowhere"), session="s3")
    channels = {
        m["channel"]: m["parts"][0]["text"]
        for m in p.messages().values()
        if m["role"] == "agent" and m["parts"]
    }
    assert channels == {here: "late", there: "here"}


def test_results_come_last_in_their_batch() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    p.send(channel, "hello")
    assert isinstance(p.said[-1], CommandResult)
    assert sum(isinstance(one, CommandResult) for one in p.said) == 1


def test_a_router_that_dies_between_any_two_inputs_leaves_no_trace() -> None:
    calm, killed = Playbook("alice"), Playbook("alice")
    for p in (calm, killed):
        frames = [update(chunk(word)) for word in ("one ", "two ", "three")]
        channel = p.prompted("alice")
        for frame in frames:
            if p is killed:
                p.restart()
            p.writes("alice", frame)
        p.send(channel, "next")
        if p is killed:
            p.restart()
        end(p)
        p.passes(300)
    assert calm.log == killed.log


def test_a_frame_that_is_no_json_is_noted_and_passed_over() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    p.give(FactFrame(agent=ALICE, inc=p.inc("alice"), end=1, line="{"))
    assert p.said == []
    assert p.decision.notes == ["alice: a frame that isn't JSON"]


def nested(levels: int, **top: object) -> str:
    """A frame of which one member is as deep as that, with brackets in a string on the way."""
    frame = {"jsonrpc": "2.0", "note": 'a "[{" b', **top, "more": {}}
    deep = '{"]":' * levels + '"}"' + "}" * levels
    return json.dumps(frame)[:-3] + deep + "}"


DEPTHS = [101, 300, 1_100, 20_000]


@pytest.mark.parametrize("levels", DEPTHS)
def test_an_answer_that_is_nested_too_deeply_ends_its_turn_as_an_error_does(levels: int) -> None:
    p = Playbook("alice")
    p.prompted("alice")
    (call,) = [one.n for one in p.state.lives["alice"].calls if one.method == "session/prompt"]
    p.give(
        FactFrame(
            agent=ALICE,
            inc=p.inc("alice"),
            end=1,
            line=nested(levels, id=call, result={"stopReason": "end_turn"}),
        )
    )
    (ended,) = [one.message for one in p.of(MessageUpdated)]
    assert ended.done
    assert ended.error is not None
    assert "nested more than 100 levels deep" in ended.error.message
    assert p.decision.notes[0] == "alice: a frame that is nested more than 100 levels deep"


@pytest.mark.parametrize("levels", DEPTHS)
def test_a_request_that_is_nested_too_deeply_is_refused(levels: int) -> None:
    p = Playbook("alice")
    p.prompted("alice")
    line = nested(levels, id="seven", method="session/request_permission", params={})
    p.give(FactFrame(agent=ALICE, inc=p.inc("alice"), end=1, line=line))
    error = {"code": -32602, "message": "nested more than 100 levels deep"}
    assert p.sent() == [{"jsonrpc": "2.0", "id": "seven", "error": error}]


@pytest.mark.parametrize("levels", DEPTHS)
def test_a_notification_that_is_nested_too_deeply_is_noted(levels: int) -> None:
    p = Playbook("alice")
    p.prompted("alice")
    line = nested(levels, method="session/update", params={"sessionId": "s1"})
    p.give(FactFrame(agent=ALICE, inc=p.inc("alice"), end=1, line=line))
    assert p.said == []
    assert p.decision.notes == ["alice: a frame that is nested more than 100 levels deep"]


def test_direct_finds_what_the_history_kept() -> None:
    p, here, _ = two_rooms()
    result = p.command(Direct, agent=ALICE)
    assert result is not None
    assert result.value == here
