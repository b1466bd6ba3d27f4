"""What an answer is made of: text, thoughts, tools, plans; what comes early, late, unasked."""

from typing import Any

import orjson
import pytest

from sk_bus.commands import Cancel
from sk_bus.events import CommandsChanged, MessageDelta, MessageUpdated, UsageChanged
from sk_bus.internal import SessionChanged
from sk_bus.model import BlobRef, ChannelId
from sk_bus.vocabulary import encoded
from sk_bus.wire import packed
from tests.support.playbook import Playbook, chunk, permission, thought, update


def prompted() -> tuple[Playbook, ChannelId]:
    p = Playbook("alice")
    return p, p.prompted("alice")


def answer(p: Playbook) -> dict[str, Any]:
    """The last message of an agent, as a follower has it."""
    return [m for m in p.messages().values() if m["role"] == "agent"][-1]


def parts(p: Playbook) -> list[tuple[str, str]]:
    return [(part["type"], part.get("text", "")) for part in answer(p)["parts"]]


def tool(p: Playbook, id_: str = "t1") -> dict[str, Any]:
    found = [
        part["tool"]
        for part in answer(p)["parts"]
        if part["type"] == "tool" and part["tool"]["id"] == id_
    ]
    assert len(found) == 1, "one card for one call"
    return found[0]


def call(id_: str = "t1", **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call", "toolCallId": id_, **fields}


def patch(id_: str = "t1", **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": id_, **fields}


def end(p: Playbook, n: int = 3) -> None:
    p.answers("alice", n, {"stopReason": "end_turn"})


# --- text -----------------------------------------------------------------------------------


def test_text_and_thoughts_take_turns_as_parts() -> None:
    p, _ = prompted()
    p.updates("alice", thought("let "), thought("me"), chunk("He"), chunk("llo"), thought("ok"))
    assert parts(p) == [("thought", "let me"), ("text", "Hello"), ("thought", "ok")]


def test_text_that_follows_on_in_one_batch_is_one_delta() -> None:
    p, _ = prompted()
    p.updates("alice", chunk("one "))
    p.updates("alice", *[chunk(word) for word in ("two ", "three ", "four")])
    assert [(one.text, one.rev) for one in p.of(MessageDelta)] == [("two three four", 2)]


def test_no_delta_is_larger_than_16_kb() -> None:
    p, _ = prompted()
    text = "é" * 30_000
    p.updates("alice", chunk(text), chunk("x" * 5_000), chunk(text))
    sizes = [len(one.text.encode()) for one in p.of(MessageDelta)]
    assert max(sizes) <= 16 * 1024
    assert parts(p) == [("text", text + "x" * 5_000 + text)]


def test_a_new_message_id_begins_a_new_part() -> None:
    p, _ = prompted()
    p.updates("alice", chunk("a", "m1"), chunk("b", "m1"), chunk("c", "m2"), chunk("d", "m2"))
    assert parts(p) == [("text", "ab"), ("text", "cd")]


def test_a_tool_between_begins_a_new_part_and_usage_does_not() -> None:
    p, _ = prompted()
    usage = {"sessionUpdate": "usage_update", "used": 5, "size": 10}
    p.updates("alice", chunk("a"), usage, chunk("b"), call(title="T"), chunk("c"))
    assert parts(p) == [("text", "ab"), ("tool", ""), ("text", "c")]


def test_the_update_of_an_older_tool_does_not_part_a_sentence() -> None:
    p, _ = prompted()
    p.updates("alice", call(), chunk("half "), patch(status="completed"), chunk("a sentence"))
    assert parts(p) == [("tool", ""), ("text", "half a sentence")]


def test_the_done_message_is_the_fold_of_its_deltas() -> None:
    p, _ = prompted()
    p.updates("alice", chunk("a"), thought("b"), call(), chunk("c"))
    grown = answer(p)["parts"]
    end(p)
    assert [one["type"] for one in grown] == [one["type"] for one in answer(p)["parts"]]
    assert answer(p)["parts"][0] == grown[0]


def test_an_empty_chunk_makes_no_part() -> None:
    p, _ = prompted()
    p.updates("alice", chunk(""))
    assert answer(p)["parts"] == []


def test_half_of_a_surrogate_pair_costs_one_character_and_no_frame() -> None:
    p, _ = prompted()
    line = (
        '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
        '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\\ud83db"}}}}'
    )
    p.writes("alice", line)
    assert parts(p) == [("text", "a\N{REPLACEMENT CHARACTER}b")]


def test_a_long_text_is_told_by_reference_when_done_and_whole_in_deltas() -> None:
    p, _ = prompted()
    for _ in range(5):
        p.updates("alice", chunk("x" * 4_000))
    assert parts(p) == [("text", "x" * 20_000)]
    end(p)
    text = p.of(MessageUpdated)[-1].message.parts[0].text
    assert isinstance(text, BlobRef)
    assert (text.length, text.head) == (20_000, "x" * 2_000)
    assert p.decision.blobs == {text.sha256: "x" * 20_000}


def test_the_first_update_tells_that_the_agent_has_seen_the_message() -> None:
    p, _ = prompted()
    p.updates("alice", chunk("a"), chunk("b"))
    assert [one.seen for one in p.of(SessionChanged)] == [answer(p)["answers"]]
    end(p)
    assert p.of(SessionChanged) == []


# --- other content --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "image", "mimeType": "image/png", "data": "aGk="},
        ),
        (
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
            {"type": "resource", "uri": "file:///a", "name": "a"},
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "text": "hi"}},
            {"type": "resource", "uri": "file:///a", "name": "", "text": "hi"},
        ),
        (
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {
                "type": "other",
                "raw": {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            },
        ),
        ({"type": "hologram", "x": 1}, {"type": "other", "raw": {"type": "hologram", "x": 1}}),
        ({"type": "image", "data": 7}, {"type": "other", "raw": {"type": "image", "data": 7}}),
    ],
)
def test_content_of_any_kind_is_kept(content: dict[str, Any], part: dict[str, Any]) -> None:
    p, _ = prompted()
    p.updates("alice", {"sessionUpdate": "agent_message_chunk", "content": content}, chunk("x"))
    assert answer(p)["parts"] == [part, {"type": "text", "text": "x"}]


@pytest.mark.parametrize(
    "raw",
    [
        {"sessionUpdate": "brand_new_kind", "x": 1},
        {"sessionUpdate": "_vendor/x"},
        {"sessionUpdate": None},
        {"no": "kind"},
        {"sessionUpdate": "agent_message_chunk", "content": "bare"},
        {"sessionUpdate": "tool_call"},
    ],
)
def test_an_update_that_nobody_knows_is_kept_raw(raw: dict[str, Any]) -> None:
    p, _ = prompted()
    p.updates("alice", raw, chunk("x"))
    assert answer(p)["parts"] == [{"type": "other", "raw": raw}, {"type": "text", "text": "x"}]
    assert len(p.decision.notes) == 1


@pytest.mark.parametrize(
    "kind",
    ["session_info_update", "current_mode_update", "config_option_update", "user_message_chunk"],
)
def test_what_is_no_part_of_an_answer_leaves_it_alone(kind: str) -> None:
    p, _ = prompted()
    p.updates("alice", {"sessionUpdate": kind, "content": {"type": "text", "text": "hello"}})
    assert [one for one in p.said if not isinstance(one, SessionChanged)] == []


def test_an_update_without_an_object_harms_nobody() -> None:
    p, _ = prompted()
    p.writes(
        "alice",
        {"method": "session/update", "params": {"sessionId": "s1", "update": [1]}},
        {"method": "session/update", "params": []},
        {"method": "session/update"},
        [1, 2],
        123,
        {"jsonrpc": "2.0"},
        update(chunk("still here")),
    )
    assert parts(p) == [("text", "still here")]


def test_a_plan_is_replaced_whole_where_it_stands() -> None:
    p, _ = prompted()
    one = {"content": "one", "priority": "high", "status": "pending"}
    p.updates("alice", {"sessionUpdate": "plan", "entries": [one, {"no": "content"}, 7]})
    p.updates("alice", chunk("x"), {"sessionUpdate": "plan", "entries": [{"content": "two"}]})
    assert [part["type"] for part in answer(p)["parts"]] == ["plan", "text"]
    assert answer(p)["parts"][0]["steps"] == [
        {"content": "two", "priority": "medium", "status": "pending"}
    ]


def test_what_is_unknown_and_long_is_told_by_reference() -> None:
    p, _ = prompted()
    small = {"sessionUpdate": "brand_new", "data": ["x" * 90] * 40}
    large = {"sessionUpdate": "brand_new", "data": ["x" * 90] * 1_000}
    p.updates("alice", small, large)
    first, second = (part["raw"] for part in answer(p)["parts"])
    assert first == small
    assert (second["type"], second["$blob"]["length"]) == ("brand_new", len(orjson.dumps(large)))
    assert orjson.loads(p.decision.blobs[second["$blob"]["sha256"]]) == large


@pytest.mark.parametrize(
    ("one", "count", "most"),
    [
        ({"sessionUpdate": "brand_new", "data": ["x" * 90] * 100}, 300, 300 * 1_024),
        ({"sessionUpdate": "brand_new", "data": ["é" * 90] * 5}, 250, 256 * 1_024),
        (
            {"sessionUpdate": "new", "$blob": {"sha256": "a", "length": 1, "head": "h" * 99_999}},
            9,
            2**15,
        ),
        (
            {"type": "new", "$blob": {"sha256": "a" * 64, "length": 1, "head": "h" * 99_999}},
            9,
            2**15,
        ),
    ],
    ids=["long", "short", "as if told before", "told before, as it says"],
)
def test_many_updates_of_a_kind_unknown_make_no_message_without_end(
    one: dict[str, Any], count: int, most: int
) -> None:
    p, _ = prompted()
    p.updates("alice", *[one] * count)
    end(p)
    (told,) = [one for one in p.of(MessageUpdated) if one.message.done]
    assert len(told.message.parts) == count
    assert len(packed(encoded(told))) < most


def test_many_pictures_make_no_message_without_end() -> None:
    p, _ = prompted()
    image = {"type": "image", "mimeType": "image/png", "data": "x" * 10_000}
    p.updates("alice", *[{"sessionUpdate": "agent_message_chunk", "content": image}] * 80)
    end(p)
    (told,) = [one for one in p.of(MessageUpdated) if one.message.done]
    assert len(packed(encoded(told))) < 256 * 1_024


STEP = {"content": "é" * 1_500, "priority": "p" * 500, "status": "s" * 500}
COMMAND = {"name": "n" * 100, "description": "é" * 1_500, "input": {"hint": "h" * 500}}


@pytest.mark.parametrize(
    "listed",
    [
        {"sessionUpdate": "plan", "entries": [STEP] * 500},
        {"sessionUpdate": "available_commands_update", "availableCommands": [COMMAND] * 500},
    ],
)
def test_a_list_without_end_makes_an_event_within_bounds(listed: dict[str, Any]) -> None:
    p, _ = prompted()
    p.updates("alice", listed)
    told = p.of(CommandsChanged) or [one for one in p.of(MessageDelta) if one.part is not None]
    assert 100 * 1024 < len(packed(encoded(told[0]))) < 256 * 1024


def test_of_a_command_with_a_name_of_any_length_no_half_is_offered() -> None:
    p, _ = prompted()
    commands = [{"name": "n" * 101}, {"name": "plan", "description": "é" * 300}]
    p.updates(
        "alice", {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    )
    (changed,) = p.of(CommandsChanged)
    assert [(one.name, one.description) for one in changed.commands] == [("plan", "é" * 248 + "…")]


def test_usage_and_commands_are_told_and_change_no_message() -> None:
    p, channel = prompted()
    commands = [{"name": "plan", "description": "d", "input": {"hint": "h"}}, {"name": 7}]
    p.updates(
        "alice",
        {"sessionUpdate": "usage_update", "used": 53, "size": None},
        {"sessionUpdate": "available_commands_update", "availableCommands": commands},
        {"sessionUpdate": "usage_update"},
    )
    assert [(one.channel, one.usage.used, one.usage.size) for one in p.of(UsageChanged)] == [
        (channel, 53, 0)
    ]
    (changed,) = p.of(CommandsChanged)
    assert [(one.name, one.hint) for one in changed.commands] == [("plan", "h")]
    assert p.of(MessageUpdated) == []


# --- tools ----------------------------------------------------------------------------------


def test_absent_and_null_mean_unchanged_and_lists_are_replaced() -> None:
    p, _ = prompted()
    p.updates(
        "alice",
        call(
            title="Edit",
            kind="edit",
            status="in_progress",
            rawInput={"path": "/a", "n": 1},
            locations=[{"path": "/a", "line": 3}, {"line": 1}, None],
        ),
        patch(title=None, kind=None, status=None, rawInput=None, locations=None, content=None),
    )
    assert tool(p) == {
        "id": "t1",
        "title": "Edit",
        "kind": "edit",
        "status": "in_progress",
        "input": '{"path":"/a","n":1}',
        "output": "",
        "locations": [{"path": "/a", "line": 3}],
        "diffs": [],
    }
    p.updates("alice", patch(locations=[], status="completed"))
    assert (tool(p)["locations"], tool(p)["status"]) == ([], "completed")


def test_an_update_before_its_call_and_a_call_told_twice_are_one_card() -> None:
    p, _ = prompted()
    p.updates("alice", patch(status="in_progress"), call(title="T", status="pending"))
    p.updates("alice", call(title="T2"), *[patch(status="in_progress") for _ in range(500)])
    assert (tool(p)["title"], tool(p)["status"]) == ("T2", "in_progress")


def test_a_diff_and_its_output() -> None:
    p, _ = prompted()
    content = [
        {"type": "diff", "path": "/a", "oldText": None, "newText": "new"},
        {"type": "diff", "path": "/b", "oldText": "x", "newText": "y"},
        {"type": "content", "content": {"type": "text", "text": "\x1b[31mred\x1b[0m"}},
        {"type": "text", "text": "bare"},
        {"type": "terminal", "terminalId": "1"},
    ]
    p.updates("alice", call(content=content))
    assert tool(p)["output"] == "\x1b[31mred\x1b[0m\nbare"
    assert [(d["path"], d["newFile"]) for d in tool(p)["diffs"]] == [("/a", True), ("/b", False)]
    p.updates("alice", patch(content=[]))
    assert (tool(p)["output"], tool(p)["diffs"]) == ("", [])


@pytest.mark.parametrize(
    ("patches", "output"),
    [
        ([{"rawOutput": "raw"}], "raw"),
        ([{"rawOutput": {"a": 1}}], '{"a":1}'),
        ([{"rawOutput": {"a": 1}}, {"rawOutput": {"a": 1, "b": 2}}], '{"a":1,"b":2}'),
        ([{"rawOutput": "ra"}, {"rawOutput": "raw"}], "raw"),
        ([{"content": [{"type": "text", "text": "nice"}]}, {"rawOutput": {"a": 1}}], "nice"),
        # mistral-vibe's todo: a result for the model, one for people, and one for programs
        (
            [{"content": [{"type": "text", "text": '{"b":2}'}], "rawOutput": {"a": 1}}],
            '{"b":2}',
        ),
        (
            [
                {"_meta": {"terminal_output_delta": {"data": "one "}}},
                {"_meta": {"terminal_output_delta": {"data": "two"}}},
            ],
            "one two",
        ),
    ],
)
def test_raw_output_stands_in_for_what_can_be_read(
    patches: list[dict[str, Any]], output: str
) -> None:
    p, _ = prompted()
    p.updates("alice", *[patch(**one) for one in patches])
    assert tool(p)["output"] == output


def test_a_long_output_is_told_by_reference_at_once() -> None:
    p, _ = prompted()
    p.updates("alice", patch(rawOutput="x" * 20_000))
    assert tool(p)["output"]["length"] == 20_000
    assert list(p.decision.blobs.values()) == ["x" * 20_000]


def test_a_string_that_the_executor_took_out_stays_out() -> None:
    p, _ = prompted()
    blob = {"sha256": "ab" * 32, "length": 70_000, "head": "begin"}
    p.updates("alice", call(title={"$blob": blob}, rawInput={"$blob": blob}))
    assert (tool(p)["title"], tool(p)["input"]) == ("begin", blob)


def test_calls_without_a_result_are_ended_with_the_turn() -> None:
    p, _ = prompted()
    p.updates("alice", call("t1"), call("t2", status="completed"), call("t3", status="failed"))
    end(p)
    assert tool(p, "t1")["ended"] == "unreported"
    assert [tool(p, id_).get("ended") for id_ in ("t2", "t3")] == [None, None]
    assert tool(p, "t1")["status"] == "pending"


def test_after_a_cancel_no_card_spins_and_only_an_end_revives_one() -> None:
    p, channel = prompted()
    p.updates("alice", call("t1"), call("t2", status="in_progress"))
    p.command(Cancel, channel=channel)
    assert [tool(p, id_)["ended"] for id_ in ("t1", "t2")] == ["cancelled", "cancelled"]
    p.updates("alice", patch("t1", status="in_progress"), patch("t2", status="completed"))
    assert tool(p, "t1")["ended"] == "cancelled"
    assert tool(p, "t1")["status"] == "pending"
    assert (tool(p, "t2").get("ended"), tool(p, "t2")["status"]) == (None, "completed")


def test_the_same_call_id_in_a_later_turn_is_another_call() -> None:
    p, channel = prompted()
    p.updates("alice", call(title="first", status="completed"))
    end(p)
    p.passes(5_000)
    p.send(channel, "again")
    p.updates("alice", call(title="second"))
    assert tool(p)["title"] == "second"
    assert len([m for m in p.messages().values() if m["role"] == "agent"]) == 2


# --- early, late, unasked -------------------------------------------------------------------


def test_updates_before_the_session_is_known_are_taken_when_it_is() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    p.send(channel, "hello")
    p.started("alice")
    p.updates(
        "alice",
        {"sessionUpdate": "usage_update", "used": 1, "size": 2},
        {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "x"}]},
    )
    p.updates("alice", {"sessionUpdate": "usage_update", "used": 9, "size": 9}, session="other")
    assert p.of(UsageChanged) == []
    p.answers("alice", 2, {"sessionId": "s1"})
    assert [one.usage.used for one in p.of(UsageChanged)] == [1]
    assert len(p.of(CommandsChanged)) == 1
    assert p.state.early == {}


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        ({"content": {"type": "image", "mimeType": "image/png", "data": "AA=="}}, "image"),
        ({"content": {"type": "text", "text": {"no": "text"}}}, "other"),
        ({"sessionUpdate": "plan", "entries": [{"content": "step", "status": "pending"}]}, "plan"),
        ({"sessionUpdate": "of tomorrow"}, "other"),
        (call(title="Read"), "tool"),
    ],
)
def test_early_text_stands_before_what_followed_it(second: dict[str, Any], kind: str) -> None:
    p = Playbook("alice")
    p.send(p.direct("alice"), "hello")
    p.started("alice")
    p.updates("alice", chunk("early "), chunk("text"), {**chunk(""), **second}, chunk("late"))
    p.answers("alice", 2, {"sessionId": "s1"})
    shown = "".join(text for _, text in parts(p)[:-2])
    assert shown == "early text"
    assert parts(p)[-2:] == [(kind, ""), ("text", "late")]


def test_too_many_early_updates_are_dropped_with_a_note() -> None:
    p = Playbook("alice")
    p.send(p.direct("alice"), "hello")
    p.started("alice")
    p.updates("alice", *[chunk("x" * 1_000) for _ in range(300)])
    assert len(p.state.early["alice"].lines) < 200
    assert p.decision.notes


def test_early_updates_are_kept_without_what_nobody_reads_of_them() -> None:
    p = Playbook("alice")
    p.send(p.direct("alice"), "hello")
    p.started("alice")
    listed = [{"name": "review", "description": ""}]
    meta = {"skills": [f"skill {n}" for n in range(50_000)]}  # qwen-code sends 561 KB in one line
    p.updates(
        "alice",
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": listed,
            "_meta": meta,
        },
    )
    p.answers("alice", 2, {"sessionId": "s1"})
    assert [[command.name for command in one.commands] for one in p.of(CommandsChanged)] == [
        ["review"]
    ]


@pytest.mark.parametrize("waited", [True, False])
def test_what_came_early_for_a_session_that_failed_is_forgotten(waited: bool) -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    p.send(channel, "hello")
    p.started("alice")
    p.updates("alice", {"sessionUpdate": "usage_update", "used": 1, "size": 2})
    if not waited:
        p.passes(30_000)
    p.answers("alice", 2, error={"code": -32603, "message": "no model"})
    assert p.state.early == {}
    p.send(channel, "again")
    p.answers("alice", p.last_n("alice"), {"sessionId": "s1"})
    assert p.of(UsageChanged) == []


def test_what_came_early_in_a_life_that_ended_is_forgotten() -> None:
    p = Playbook("alice")
    p.send(p.direct("alice"), "hello")
    p.started("alice")
    p.updates("alice", {"sessionUpdate": "usage_update", "used": 1, "size": 2})
    p.exits("alice", asked=False, code=1)
    assert p.state.early == {}


@pytest.mark.parametrize("listed", [[{"name": "y"}], []])
def test_the_last_list_of_commands_counts_whole_be_it_empty(listed: list[Any]) -> None:
    p, _ = prompted()
    kind = "available_commands_update"
    p.updates("alice", {"sessionUpdate": kind, "availableCommands": [{"name": "x"}]})
    p.updates("alice", {"sessionUpdate": kind, "availableCommands": listed})
    (said,) = p.of(CommandsChanged)
    assert [one.name for one in said.commands] == [one["name"] for one in listed]


@pytest.mark.parametrize(
    "updates",
    [
        [chunk("text")],
        [thought("thought")],
        [{"sessionUpdate": "tool_call", "toolCallId": "t1", "status": "completed"}],
        [{"sessionUpdate": "plan", "entries": [{"content": "step"}]}],
        [{"sessionUpdate": "usage_update", "used": 1, "size": 2}],
        [],
    ],
)
def test_an_answer_of_any_kind_or_none_is_a_message(updates: list[Any]) -> None:
    p, _ = prompted()
    p.updates("alice", *updates)
    end(p)
    assert (answer(p)["done"], answer(p)["stopReason"]) == (True, "end_turn")
    shown = [one for one in updates if one["sessionUpdate"] != "usage_update"]
    assert len(answer(p)["parts"]) == len(shown)


def test_five_hundred_updates_of_a_call_are_one_card() -> None:
    p, _ = prompted()
    for n in range(500):
        p.updates("alice", patch(title=f"step {n}"))
    assert [part["tool"]["title"] for part in answer(p)["parts"]] == ["step 499"]


def test_calls_of_an_agent_that_ends_are_ended_too() -> None:
    p, _ = prompted()
    p.updates("alice", call(status="in_progress"))
    p.exits("alice", asked=False, code=1)
    (tool,) = [part["tool"] for part in answer(p)["parts"]]
    assert (tool["status"], tool["ended"]) == ("in_progress", "unreported")


def test_a_greeting_before_the_prompt_is_a_message_of_its_own() -> None:
    p = Playbook("alice")
    channel = p.direct("alice")
    p.send(channel, "hello")
    p.started("alice")
    p.updates("alice", chunk("Welcome"))
    p.answers("alice", 2, {"sessionId": "s1"})
    greeting = answer(p)
    assert (greeting["parts"][0]["text"], greeting["done"]) == ("Welcome", True)
    assert "answers" not in greeting
    p.updates("alice", chunk("Hi"))
    assert answer(p)["parts"][0]["text"] == "Hi"
    assert answer(p)["id"] != greeting["id"]


def test_what_comes_within_2_s_of_the_end_amends_the_message() -> None:
    p, _ = prompted()
    p.updates("alice", chunk("th"), call())
    end(p)
    before = answer(p)
    p.passes(1_999)
    p.updates("alice", patch(status="completed"), chunk("EM"))
    told = p.of(MessageUpdated)
    assert len(told) == 1
    amended = told[0].message
    assert (amended.id, amended.done, amended.stopReason) == (before["id"], True, "end_turn")
    assert [part.type for part in amended.parts] == ["text", "tool", "text"]
    assert amended.parts[1].tool.status == "completed"
    assert amended.parts[1].tool.ended is None


def test_the_amended_message_is_whole_however_long_it_is() -> None:
    p, _ = prompted()
    for _ in range(5):
        p.updates("alice", chunk("x" * 4_000))
    end(p)
    p.updates("alice", chunk("tail"))
    text = p.of(MessageUpdated)[-1].message.parts[0].text
    assert p.decision.blobs[text.sha256] == "x" * 20_000 + "tail"


def test_what_comes_later_is_a_message_of_its_own_and_ends_by_itself() -> None:
    p, _ = prompted()
    p.updates("alice", chunk("answer"))
    end(p)
    p.passes(10_000)
    p.updates("alice", chunk("by the "))
    p.passes(1_500)
    p.updates("alice", chunk("way"))
    assert (answer(p)["parts"][0]["text"], answer(p)["done"]) == ("by the way", False)
    p.passes(2_000)
    assert answer(p)["done"]
    assert len([m for m in p.messages().values() if m["role"] == "agent"]) == 2
    assert p.state.messages == {}
    assert p.state.tails == {}


def test_a_prompt_ends_what_nobody_asked_for() -> None:
    p, channel = prompted()
    end(p)
    p.passes(10_000)
    p.updates("alice", chunk("background"))
    p.send(channel, "next")
    assert answer(p)["done"]
    p.updates("alice", chunk("foreground"))
    assert answer(p)["parts"][0]["text"] == "foreground"


def test_an_agent_that_ends_ends_what_nobody_asked_for() -> None:
    p, _ = prompted()
    end(p)
    p.passes(10_000)
    p.updates("alice", chunk("background"))
    p.exits("alice", asked=False, code=1)
    assert answer(p)["done"]


def test_an_unknown_kind_outside_a_turn_is_noted_and_makes_no_message() -> None:
    p, _ = prompted()
    end(p)
    p.passes(10_000)
    p.updates("alice", {"sessionUpdate": "brand_new_kind"})
    assert p.of(MessageUpdated) == []
    assert p.decision.notes


# --- requests and notifications that nobody knows -------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "craft/drainMidTurnQueue",
        "_vendor/ask",
    ],
)
@pytest.mark.parametrize("request_id", [0, "uuid", None])
def test_a_request_that_we_did_not_offer_is_answered(method: str, request_id: Any) -> None:
    p, _ = prompted()
    p.writes("alice", {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {}})
    (sent,) = p.sent()
    assert (sent["id"], sent["error"]["code"]) == (request_id, -32601)


def test_a_notification_that_we_do_not_know_is_not_answered() -> None:
    p, _ = prompted()
    p.writes("alice", {"jsonrpc": "2.0", "method": "_auth/status_update", "params": {}})
    assert p.said == []


def test_ids_of_the_two_directions_are_apart() -> None:
    p, _ = prompted()
    p.writes("alice", permission(3, ("yes", "allow_once")))
    end(p)
    assert answer(p)["stopReason"] == "end_turn"
