"""The rules of ACP that clients get wrong, by their numbers, as far as the decider keeps them.

R17, R25, R26 and R29 are about processes and pipes: the executor's tests hold them.
"""

import json
from typing import Any

import pytest

from sk_bus.commands import AnswerPermission, Cancel, Start
from sk_bus.events import (
    CommandsChanged,
    PermissionRequested,
    PermissionResolved,
    UsageChanged,
)
from sk_bus.internal import DoSend, DoStop, MemoryChanged, SessionChanged
from sk_bus.model import AgentName, ChannelId
from tests.support.playbook import Playbook, agent, chunk, permission, thought

ALICE, BOB = AgentName("alice"), AgentName("bob")


def prompted() -> tuple[Playbook, ChannelId]:
    p = Playbook("alice")
    return p, p.prompted("alice")


def answer(p: Playbook) -> dict[str, Any]:
    """The last message of an agent, as a follower has it."""
    made: dict[str, Any] = [m for m in p.messages().values() if m["role"] == "agent"][-1]
    return made


def tool(p: Playbook) -> dict[str, Any]:
    (found,) = [part["tool"] for part in answer(p)["parts"] if part["type"] == "tool"]
    made: dict[str, Any] = found
    return made


def call(kind: str = "tool_call", **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": kind, "toolCallId": "t1", **fields}


def end(p: Playbook, n: int = 3, **result: Any) -> None:
    p.answers("alice", n, {"stopReason": "end_turn", **result})


# --- cancellation ---------------------------------------------------------------------------


def test_r1_a_cancel_ends_tools_then_tells_the_agent_then_answers_what_it_asks() -> None:
    p, channel = prompted()
    p.updates("alice", call(status="in_progress"))
    p.writes("alice", permission("a", ("yes", "allow_once")))
    p.writes("alice", permission("b", ("yes", "allow_once")))
    p.command(Cancel, channel=channel)
    assert p.sent() == [
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s1"}},
        {"jsonrpc": "2.0", "id": "a", "result": {"outcome": {"outcome": "cancelled"}}},
        {"jsonrpc": "2.0", "id": "b", "result": {"outcome": {"outcome": "cancelled"}}},
    ]
    assert tool(p)["ended"] == "cancelled"
    p.updates("alice", chunk("last words"))
    assert answer(p)["parts"][-1]["text"] == "last words"
    p.answers("alice", 3, {"stopReason": "cancelled"})
    assert answer(p)["stopReason"] == "cancelled"


def test_r2_what_is_asked_after_the_cancel_is_answered_at_once_and_each_request_once() -> None:
    p, channel = prompted()
    p.writes("alice", permission("early", ("yes", "allow_once")))
    (asked,) = p.of(PermissionRequested)
    p.command(Cancel, channel=channel)
    result = p.command(AnswerPermission, permission=asked.id, optionId="yes")
    assert result is not None
    assert (result.ok, p.sent()) == (False, [])
    p.writes("alice", permission("late", ("yes", "allow_once")))
    assert [one["id"] for one in p.sent()] == ["late"]
    assert p.of(PermissionRequested) == []


@pytest.mark.parametrize(
    "response",
    [
        {"result": {"stopReason": "end_turn"}},
        {"result": {"stopReason": "refusal"}},
        {"result": None},
        {"error": {"code": -32800, "message": "cancelled"}},
        {"error": {"code": -32603, "message": "boom"}},
    ],
)
def test_r3_while_cancelling_any_response_is_shown_as_cancelled(response: dict[str, Any]) -> None:
    p, channel = prompted()
    p.command(Cancel, channel=channel)
    p.send(channel, "next")
    assert p.sent() == []
    p.writes("alice", {"id": 3, **response})
    assert (answer(p)["stopReason"], answer(p).get("error")) == ("cancelled", None)
    p.passes(300)
    assert [one["method"] for one in p.sent()] == ["session/prompt"]


def test_r3_the_wait_for_the_response_is_bounded() -> None:
    p, channel = prompted()
    p.command(Cancel, channel=channel)
    p.passes(9_999)
    assert p.of(DoStop) == []
    p.passes(1)
    assert len(p.of(DoStop)) == 1


@pytest.mark.parametrize("request_id", [0, "uuid"])
def test_r4_the_agent_may_cancel_its_request(request_id: Any) -> None:
    p, _ = prompted()
    p.writes("alice", permission(request_id, ("yes", "allow_once")))
    params = {"requestId": request_id}
    p.writes("alice", {"method": "$/cancel_request", "params": params})
    assert [(one["id"], one["result"]["outcome"]) for one in p.sent()] == [
        (request_id, {"outcome": "cancelled"})
    ]
    assert [one.by for one in p.of(PermissionResolved)] == ["agent"]
    p.writes("alice", {"method": "$/cancel_request", "params": params})
    assert p.said == []


@pytest.mark.parametrize("unknown", [7, "0", None, {"a": 1}, False, 0.0])
def test_r4_a_cancel_of_what_nobody_asked_is_ignored(unknown: Any) -> None:
    p, _ = prompted()
    p.writes("alice", permission(0, ("yes", "allow_once")))
    p.writes("alice", {"method": "$/cancel_request", "params": {"requestId": unknown}})
    assert p.said == []


def test_r4_the_agent_cancels_its_own_requests_only() -> None:
    p = Playbook("alice", "bob")
    p.prompted("alice")
    p.prompted("bob", session="s2")
    p.writes("alice", permission("r", ("yes", "allow_once")))
    p.writes("bob", {"method": "$/cancel_request", "params": {"requestId": "r"}})
    assert p.said == []


def test_r4_a_request_of_ours_that_is_given_up_is_cancelled() -> None:
    p = Playbook("alice")
    p.send(p.direct("alice"), "hello")
    p.started("alice")
    p.passes(30_000)
    (sent,) = p.sent()
    assert (sent["method"], sent["params"]) == ("$/cancel_request", {"requestId": 2})
    p.answers("alice", 2, error={"code": -32800, "message": "cancelled"})
    assert p.sent() == []


# --- order and timing -----------------------------------------------------------------------


def test_r5_what_comes_before_the_session_is_known_is_taken_once_it_is() -> None:
    p = Playbook("alice")
    p.send(p.direct("alice"), "hello")
    p.started("alice")
    listed = [{"name": "plan", "description": ""}]
    p.updates("alice", {"sessionUpdate": "usage_update", "used": 1, "size": 2})
    p.updates("alice", {"sessionUpdate": "available_commands_update", "availableCommands": listed})
    assert p.of(CommandsChanged) == []
    p.answers("alice", 2, {"sessionId": "s1"})
    assert len(p.of(UsageChanged)) == 1
    assert len(p.of(CommandsChanged)) == 1


def test_r6_frames_are_taken_in_the_order_of_the_wire() -> None:
    p, _ = prompted()
    numbers = [f"{n} " for n in range(1_000)]
    for start in range(0, 1_000, 100):
        p.updates("alice", *[chunk(one) for one in numbers[start : start + 100]])
    assert answer(p)["parts"] == [{"type": "text", "text": "".join(numbers)}]


def test_r6_a_request_that_waits_for_a_person_holds_nothing_up() -> None:
    p, _ = prompted()
    p.writes("alice", permission(0, ("yes", "allow_once")))
    p.updates("alice", chunk("meanwhile"))
    assert answer(p)["parts"][-1] == {"type": "text", "text": "meanwhile"}


def test_r7_what_comes_outside_a_turn_is_kept() -> None:
    p, _ = prompted()
    p.updates("alice", chunk("answer"))
    end(p)
    p.updates("alice", chunk(", and its tail"))
    assert answer(p)["parts"] == [{"type": "text", "text": "answer, and its tail"}]
    p.passes(60_000)
    p.updates("alice", chunk("by the way"))
    p.passes(2_000)
    assert answer(p)["parts"] == [{"type": "text", "text": "by the way"}]
    assert answer(p).get("answers") is None


@pytest.mark.parametrize("session", ["unknown", "", None, 1, ["s1"], {"s1": 1}])
def test_r7b_frames_are_told_apart_by_their_session_alone(session: Any) -> None:
    p, _ = prompted()
    p.updates("alice", chunk("for nobody"), session=session)
    assert p.said == []
    assert p.decision.notes == ["alice: an update of a session that we don't know"]


# --- tolerance ------------------------------------------------------------------------------

KINDS: list[dict[str, Any]] = [
    {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "hello"}},
    chunk("text"),
    thought("thought"),
    call(title="look", kind="of tomorrow", status="odd"),
    call("tool_call_update", status="completed"),
    {"sessionUpdate": "plan", "entries": [{"content": "a"}, "bad", {"status": "pending"}]},
    {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "x"}, 5]},
    {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
    {"sessionUpdate": "current_mode_update", "modeId": "ask"},
    {"sessionUpdate": "config_option_update", "configOptions": [{"type": "slider", "id": "x"}]},
    {"sessionUpdate": "session_info_update", "title": None, "updatedAt": 5},
    {"sessionUpdate": "usage_update", "used": 1, "size": None, "cost": {"amount": "x"}},
    {"sessionUpdate": "notice", "severity": "dire", "title": "Look"},
    {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "done"},
    {"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": None},
    {"sessionUpdate": "subagent_update"},
    {"sessionUpdate": "brand_new_kind", "x": [1]},
    {"sessionUpdate": "_vendor/x"},
    {"sessionUpdate": None},
    {},
]


@pytest.mark.parametrize("state", ["prompt", "after", "outside"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.get("sessionUpdate")))
def test_r8_no_kind_of_update_ends_anything(kind: dict[str, Any], state: str) -> None:
    p, channel = prompted()
    if state != "prompt":
        end(p)
        p.passes(1_000 if state == "after" else 60_000)
    p.updates("alice", kind)
    if state == "prompt":
        p.updates("alice", chunk("on"))
        end(p)
    p.passes(5_000)
    p.send(channel, "still there?")
    assert [one["method"] for one in p.sent()] == ["session/prompt"]


def test_r8_a_kind_that_nobody_knows_is_kept_as_it_came() -> None:
    p, _ = prompted()
    odd = {"sessionUpdate": "brand_new", "deep": {"er": [1, None]}}
    p.updates("alice", odd)
    assert answer(p)["parts"] == [{"type": "other", "raw": odd}]


@pytest.mark.parametrize("missing", [{}, {"content": None, "locations": None, "title": None}])
def test_r9_absent_and_null_mean_unchanged(missing: dict[str, Any]) -> None:
    p, _ = prompted()
    content = [{"type": "content", "content": {"type": "text", "text": "found"}}]
    p.updates("alice", call(title="look", content=content, locations=[{"path": "/a"}]))
    p.updates("alice", call("tool_call_update", status="completed", **missing))
    assert (tool(p)["title"], tool(p)["output"]) == ("look", "found")
    assert tool(p)["locations"] == [{"path": "/a"}]


def test_r9_an_empty_list_clears() -> None:
    p, _ = prompted()
    content = [{"type": "content", "content": {"type": "text", "text": "found"}}]
    p.updates("alice", call(content=content, locations=[{"path": "/a"}]))
    p.updates("alice", call("tool_call_update", content=[], locations=[]))
    assert (tool(p)["output"], tool(p)["locations"]) == ("", [])


def test_r10_a_tool_call_is_one_whatever_comes_first() -> None:
    p, _ = prompted()
    p.updates("alice", call("tool_call_update", status="in_progress"))
    p.writes("alice", permission(0, ("yes", "allow_once"), title="from the request"))
    p.updates("alice", call(title="announced"), call(title="announced again"))
    assert (tool(p)["title"], tool(p)["status"]) == ("announced again", "in_progress")
    end(p)
    assert (tool(p)["status"], tool(p)["ended"]) == ("in_progress", "unreported")


def test_r11_options_go_by_their_ids() -> None:
    p, _ = prompted()
    offered = [("alpha", "allow_always"), ("beta", "allow_always"), ("#/x y", "of tomorrow")]
    p.writes("alice", permission(0, *offered))
    (asked,) = p.of(PermissionRequested)
    assert [(one.optionId, one.kind) for one in asked.options] == offered
    p.command(AnswerPermission, permission=asked.id, optionId="#/x y")
    (sent,) = p.sent()
    assert sent["result"]["outcome"] == {"outcome": "selected", "optionId": "#/x y"}


@pytest.mark.parametrize("request_id", [0, -1, 2**53, 1.5, "3", "8b0c-uuid", "", None])
def test_r12_an_id_goes_back_exactly_as_it_came(request_id: Any) -> None:
    p, _ = prompted()
    p.writes("alice", {"id": request_id, "method": "_vendor/ask"})
    (sent,) = p.sent()
    assert (type(sent["id"]), sent["id"]) == (type(request_id), request_id)


def test_r12_our_ids_and_theirs_are_apart() -> None:
    p, _ = prompted()
    p.writes("alice", permission(3, ("yes", "allow_once")))
    assert len(p.of(PermissionRequested)) == 1
    p.writes("alice", {"id": "3", "result": {"stopReason": "end_turn"}})
    assert answer(p)["stopReason"] == "end_turn"
    p.writes("alice", {"id": 3, "result": {"stopReason": "refusal"}})
    assert p.decision.notes == ["alice: an answer that nothing waits for: id 3"]


def test_r12_true_is_no_number() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.up("alice")
    p.writes("alice", {"id": True, "result": {"protocolVersion": 1}})
    assert p.states() == []
    p.writes("alice", {"id": 1, "result": {"protocolVersion": 1}})
    assert p.states() == [("alice", "ready")]


def test_r13_an_error_beside_a_result_wins() -> None:
    p, _ = prompted()
    both = {"result": {"stopReason": "end_turn"}, "error": {"code": 401, "message": "no key"}}
    p.writes("alice", {"id": 3, **both})
    assert answer(p)["error"]["message"] == "no key"


def test_r13_an_array_is_no_frame() -> None:
    p, _ = prompted()
    p.writes("alice", '[{"id": 3, "result": {"stopReason": "end_turn"}}]')
    assert p.said == []
    assert p.decision.notes == ["alice: no frame of ACP: no object"]


def user(text: str) -> dict[str, Any]:
    return chunk(text, kind="user_message_chunk")  # type: ignore[no-any-return]


def test_r14_the_prompt_that_comes_back_is_not_shown_twice() -> None:
    p, _ = prompted()
    p.updates("alice", user("hello"), chunk("hi"))
    end(p)
    p.updates("alice", user("hello"))
    assert answer(p)["parts"] == [{"type": "text", "text": "hi"}]


def test_r14_outside_our_prompts_a_users_words_are_shown() -> None:
    p, _ = prompted()
    end(p)
    p.passes(60_000)
    p.updates("alice", user("wake up"), chunk("at your service"))
    p.passes(2_000)
    assert [part["text"] for part in answer(p)["parts"]] == ["wake up", "at your service"]


@pytest.mark.parametrize("content", [{"type": "text", "text": ""}, {"type": "image"}, None])
def test_r14_a_users_words_that_are_none_make_no_message(content: Any) -> None:
    p, _ = prompted()
    end(p)
    p.passes(60_000)
    p.updates("alice", {"sessionUpdate": "user_message_chunk", "content": content})
    assert [one for one in p.said if not isinstance(one, MemoryChanged)] == []


def test_r15_what_a_load_replays_is_not_shown_and_what_it_tells_of_itself_counts() -> None:
    p, channel = prompted()
    p.updates("alice", chunk("hi"))
    end(p)
    p.passes(5_000)
    p.exits("alice", asked=False)
    p.send(channel, "more")
    p.started("alice", "load")
    before = p.messages()
    p.updates("alice", user("hello"), chunk("hi"), call(status="completed"))
    p.updates("alice", {"sessionUpdate": "usage_update", "used": 7, "size": 9})
    assert [one.usage.used for one in p.of(UsageChanged)] == [7]
    p.answers("alice", 2, None)
    p.updates("alice", chunk("hi"))
    p.passes(300)
    assert p.messages() == before


@pytest.mark.parametrize("line", ["{}", '{"level": "info", "id": 1}', '"x"', "12", "null", "[1]"])
def test_r16_json_that_is_no_frame_disturbs_nothing(line: str) -> None:
    p, _ = prompted()
    p.writes("alice", line)
    assert p.said == []
    assert len(p.decision.notes) == 1
    end(p)
    assert answer(p)["stopReason"] == "end_turn"


def test_r18_what_we_write_is_one_line_of_json() -> None:
    p = Playbook("alice")
    p.prompted("alice", "two\nlines\r\nand \u2028 a third \ud83d\ude00")
    lines = [one.line for one in p.log if isinstance(one, DoSend)]
    assert len(lines) == 3
    for line in lines:
        assert "\n" not in line
        assert json.loads(line)["jsonrpc"] == "2.0"


def test_r19_version_1_is_asked_for_and_nothing_is_offered_that_we_do_not_serve() -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.up("alice")
    (sent,) = p.sent()
    assert sent["params"]["protocolVersion"] == 1
    assert sent["params"]["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    }


@pytest.mark.parametrize("version", [0, 2, "1", None, True, 1.5])
def test_r19_only_version_1_is_accepted(version: Any) -> None:
    p = Playbook("alice")
    p.command(Start, agent=ALICE)
    p.started("alice", protocolVersion=version)
    assert len(p.of(DoStop)) == 1
    p.exits("alice")
    error = p.state.lives["alice"].error
    assert error is not None
    assert error.message == (
        f"alice speaks version {json.dumps(version)} of ACP; Sidekicks speaks version 1"
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"details": "no such folder"}, "Internal error: no such folder"),
        ("no such folder", "Internal error: no such folder"),
        ({"path": "/x"}, 'Internal error: {"path":"/x"}'),
        ("Internal error", "Internal error"),
        ({}, "Internal error"),
        (None, "Internal error"),
    ],
)
def test_r20_what_hides_in_an_errors_data_is_said(data: Any, said: str) -> None:
    p, _ = prompted()
    p.answers("alice", 3, error={"code": -32603, "message": "Internal error", "data": data})
    assert answer(p)["error"]["message"] == said


def test_r21_a_slash_command_is_the_text_of_the_first_block() -> None:
    p = Playbook("alice")
    p.prompted("alice", "/compact now")
    (sent,) = p.sent()
    assert sent["params"]["prompt"] == [{"type": "text", "text": "/compact now"}]


@pytest.mark.parametrize("options", [None, [], [{"type": "boolean", "id": "x"}], {"a": 1}, "x"])
def test_r22_options_of_any_shape_open_a_session(options: Any) -> None:
    p = Playbook("alice")
    p.send(p.direct("alice"), "hello")
    p.started("alice")
    result = {"sessionId": "s1", "configOptions": options, "modes": options, "models": options}
    p.answers("alice", 2, result)
    assert [one.sessionId for one in p.of(SessionChanged)] == ["s1"]


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("fs/read_text_file", -32601),
        ("terminal/create", -32601),
        ("elicitation/create", -32602),
        ("craft/drainMidTurnQueue", -32601),
        ("_vendor/ask", -32601),
        ("initialize", -32601),
        ("", -32601),
    ],
)
@pytest.mark.parametrize("state", ["prompt", "outside"])
def test_r23_no_request_is_left_without_an_answer(method: str, code: int, state: str) -> None:
    p, _ = prompted()
    if state == "outside":
        end(p)
    p.writes("alice", {"id": 0, "method": method, "params": {"mode": "form"}})
    (sent,) = p.sent()
    assert (sent["id"], sent["error"]["code"]) == (0, code)


def test_r24_the_last_word_on_the_context_window_counts() -> None:
    p, _ = prompted()
    for used in (5, 7):
        p.updates("alice", {"sessionUpdate": "usage_update", "used": used, "size": 9})
    assert [(one.usage.used, one.usage.size) for one in p.of(UsageChanged)] == [(7, 9)]
    end(p, usage={"totalTokens": 100_000})
    assert p.of(UsageChanged) == []


# --- process --------------------------------------------------------------------------------


def test_r27_an_exit_in_mid_turn_ends_it_with_its_reason() -> None:
    p, channel = prompted()
    p.updates("alice", chunk("half an"))
    p.writes("alice", permission(0, ("yes", "allow_once")))
    p.exits("alice", asked=False, code=3, stderr=("out of", "tokens"))
    assert answer(p)["error"]["message"] == "alice ended by itself (exit code 3)"
    assert answer(p)["error"]["params"]["stderr"] == ["out of", "tokens"]
    assert p.state.asks == {}
    p.passes(5_000)
    p.send(channel, "again")
    p.started("alice", "resume")
    assert [one["params"]["sessionId"] for one in p.sent()] == ["s1"]


def test_r28_a_prompt_is_waited_for_without_a_bound() -> None:
    p = Playbook(agent("alice", startTimeout=1_000))
    p.prompted("alice")
    p.passes(86_400_000)
    assert p.of(DoStop) == []
    end(p)
    assert answer(p)["stopReason"] == "end_turn"


def test_r30_meta_may_stand_anywhere_and_ours_holds_nothing_of_our_own() -> None:
    p, _ = prompted()
    meta = {"_meta": {"vendor": [1]}}
    p.writes(
        "alice",
        {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": "s1", "update": {**chunk("hi"), **meta}, **meta},
            **meta,
        },
    )
    assert answer(p)["parts"] == [{"type": "text", "text": "hi"}]
    known = {"jsonrpc", "id", "method", "params"}
    assert all(set(json.loads(one.line)) <= known for one in p.log if isinstance(one, DoSend))
