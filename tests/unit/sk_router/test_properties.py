"""What holds whatever comes: random scripts of commands, frames, exits, timers and restarts.

Every invariant is checked against what was published, never against the router's own state.
"""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sk_bus.commands import (
    Cancel,
    Restart,
    Start,
    Stop,
)
from sk_bus.events import CommandResult, MessageUpdated, PermissionResolved
from sk_bus.vocabulary import Event, encoded
from sk_router.state import snapshot
from tests.support.playbook import (
    Playbook,
    agent,
    chunk,
    folded,
    thought,
    update,
)
from tests.unit.sk_router.world import LIMIT, World, played

# One of them is met more often, so that scripts get deep.
WHO = st.sampled_from(["alice", "alice", "alice", "bob", "bob", "carol"])
TEXT = st.sampled_from(["a", "bc ", "\n", "é", "x" * 5_000])
UPDATE = st.one_of(
    TEXT.map(chunk),
    TEXT.map(thought),
    st.builds(chunk, TEXT, st.sampled_from(["m1", "m2"])),
    st.builds(
        lambda kind, id_, status: {"sessionUpdate": kind, "toolCallId": id_, "status": status},
        st.sampled_from(["tool_call", "tool_call_update"]),
        st.sampled_from(["t1", "t2"]),
        st.sampled_from(["pending", "in_progress", "completed", "failed", None]),
    ),
    st.just({"sessionUpdate": "plan", "entries": [{"content": "step"}]}),
    st.just({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
    st.just({"sessionUpdate": "brand_new"}),
)
STEP = st.one_of(
    st.tuples(st.just("send"), WHO, TEXT),
    st.tuples(st.just("talk"), WHO, TEXT),
    st.tuples(st.just("talk"), WHO, TEXT),
    st.tuples(st.just("converse"), WHO, st.sampled_from([1, 2])),
    st.tuples(st.just("converse"), WHO, st.sampled_from([1, 2])),
    st.tuples(st.just("cancel"), WHO),
    st.tuples(st.just("command"), st.sampled_from([Start, Stop, Restart]), WHO),
    st.tuples(st.just("up"), WHO),
    st.tuples(st.just("serve"), WHO),
    st.tuples(st.just("serve"), WHO),
    st.tuples(st.just("respond"), WHO, st.sampled_from(["well"] * 5 + ["badly"])),
    st.tuples(st.just("respond"), WHO, st.just("well")),
    st.tuples(st.just("respond"), WHO, st.just("well")),
    st.tuples(st.just("updates"), WHO, st.lists(UPDATE, min_size=1, max_size=4)),
    st.tuples(st.just("updates"), WHO, st.lists(UPDATE, min_size=1, max_size=4)),
    st.tuples(st.just("ask"), WHO, st.sampled_from([0, "r", 7])),
    st.tuples(st.just("ask"), WHO, st.sampled_from([0, "r", 7])),
    st.tuples(st.just("answer"), st.integers(0, 2), st.just("yes")),
    st.tuples(st.just("answer"), st.integers(0, 5), st.sampled_from(["yes", "no", "never"])),
    st.tuples(st.just("withdraw"), WHO, st.sampled_from([0, "r", 7])),
    st.tuples(st.just("exit"), WHO),
    st.tuples(st.just("time"), st.sampled_from([1, 299, 300, 2_000, 10_000, 31_000, 700_000])),
    st.tuples(
        st.just("configure"),
        st.lists(WHO, unique=True, min_size=1),
        st.integers(1, LIMIT),
        st.sampled_from(["one", "two"]),
    ),
    st.tuples(st.just("router dies")),
    st.tuples(st.just("shutdown")),
)
ROOM = st.sampled_from(["ops", "ops", "ops", "lab"])
SAYING = st.sampled_from(
    [
        "hello",
        "hello",
        "@alice hello",
        "@bob hello",
        "@alice @bob hello",
        "@bob, @carol and @alice hello",
        "@nobody hello",
        "/alice:compact now",
        "@bob @alice /compact",
        "/compact",
    ]
)
ROOM_STEP = st.one_of(
    st.tuples(st.just("say"), ROOM, SAYING),
    st.tuples(st.just("say"), ROOM, SAYING),
    st.tuples(st.just("say"), ROOM, SAYING),
    st.tuples(st.just("discuss"), ROOM, SAYING),
    st.tuples(st.just("go on"), ROOM, st.integers(1, 9)),
    st.tuples(st.just("go on"), ROOM, st.integers(1, 9)),
    st.tuples(st.just("join"), ROOM, WHO),
    st.tuples(st.just("leave"), ROOM, WHO),
    st.tuples(st.just("stop room"), ROOM),
    st.tuples(st.just("edit"), ROOM, st.integers(0, 3), SAYING),
    st.tuples(st.just("take back"), ROOM, st.integers(0, 3)),
    st.tuples(st.just("prepare"), ROOM),
    st.tuples(st.just("delete"), ROOM),
)
SCRIPTS = st.lists(STEP | ROOM_STEP, min_size=5, max_size=60)


thoroughly = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@thoroughly
@given(SCRIPTS)
def test_whatever_happens_every_promise_is_kept(script: list[tuple[Any, ...]]) -> None:
    world = played(script)
    log = world.p.log
    every_command_has_one_result(world, log)
    every_message_ends_once_and_in_order(world, log)
    every_permission_is_answered_at_most_once(world, log)
    done_messages_are_the_fold_of_their_deltas(log)
    nothing_is_left(world)


def every_command_has_one_result(world: World, log: list[Event]) -> None:
    results = Counter(one.id for one in log if isinstance(one, CommandResult))
    assert results == Counter(world.commands)


def every_message_ends_once_and_in_order(world: World, log: list[Event]) -> None:
    ends: dict[str, list[str]] = defaultdict(list)
    ended: dict[str, str] = {}
    dropped: set[str] = set()
    by: dict[str, list[str]] = defaultdict(list)
    channels: dict[str, str] = {}
    order: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for event in log:
        if not isinstance(event, MessageUpdated):
            continue
        message = event.message
        if message.role == "user":
            channels[message.id] = event.channel
        if message.role == "user" and message.error is not None:
            ends[message.id].append("dropped")
            dropped.add(message.id)
        elif message.answers is not None and message.done and message.id not in ended:
            ended[message.id] = message.answers
            ends[message.answers].append(message.id)
            by[message.answers].append(message.agent)
            assert message.answers not in dropped, "dropped, and answered"
            order[event.channel].append((message.id, message.answers))
    kept = [id_ for id_ in world.accepted if channels[id_] not in world.deleted]
    assert [id_ for id_ in kept if not ends[id_]] == [], "neither answered nor said unanswerable"
    assert all(len(set(agents)) == len(agents) for agents in by.values()), "answered twice by one"
    direct = [id_ for id_ in kept if channels[id_] not in world.rooms.values()]
    assert [id_ for id_ in direct if len(ends[id_]) != 1] == []
    assert {id_ for id_, told in ends.items() if told} <= set(world.accepted)
    for told in order.values():
        answered = [about for _, about in sorted(told)]
        assert answered == sorted(answered), "what is said of messages stands in another order"


def every_permission_is_answered_at_most_once(world: World, log: list[Event]) -> None:
    resolved = Counter(
        one.id for one in log if isinstance(one, PermissionResolved) and one.delivered
    )
    assert all(count == 1 for count in resolved.values())
    undelivered = [one for one in log if isinstance(one, PermissionResolved) and not one.delivered]
    assert not undelivered, "every line was taken in this world"
    for life, lines in world.lines.items():
        answers = Counter(json.dumps(one["id"]) for one in lines if "result" in one)
        assert answers <= world.requests[life], "a request that was answered twice"


def done_messages_are_the_fold_of_their_deltas(log: list[Event]) -> None:
    """Until a message is done, its deltas alone make it; then it is told whole."""
    done: set[str] = set()
    for index, event in enumerate(log):
        if isinstance(event, MessageUpdated) and event.message.role == "agent":
            message = event.message
            if message.done and message.id not in done:
                done.add(message.id)
                grown = folded(log[:index]).get(message.id, {"parts": []})["parts"]
                texts = [part.get("text") for part in grown]
                told = [part.get("text") for part in encoded(event)["message"]["parts"]]
                assert len(texts) == len(told)
                for mine, theirs in zip(texts, told, strict=True):
                    if isinstance(theirs, dict):
                        assert theirs["length"] == len(mine.encode())
                    else:
                        assert mine == theirs


def nothing_is_left(world: World) -> None:
    state = world.p.state
    assert state.talks == {}, "a turn or a queue that nobody ends"
    assert state.rounds == {}, "one who is to answer and never does"
    assert state.deletions == {}
    assert state.preparations == {}
    assert state.shown == {}
    left = {name: kept for name, kept in snapshot(state).items() if name != "version"}
    assert [one for one in world.deleted if one in repr(left)] == [], "more than nothing is left"
    assert state.waiting == {}
    assert state.messages == {}
    assert state.tails == {}
    assert state.early == {}
    assert state.gates == {}
    assert {key for key in state.timers if key != "idle"} == set(), "a timer of nothing"
    pending = [ask for ask in state.asks.values() if ask.agent not in world.alive]
    assert pending == [], "a permission of nobody"
    for name, life in state.lives.items():
        assert life.alive == (name in world.alive)
        assert (life.wanted, life.claimed, life.starters, life.stoppers) == (0, None, (), ())


@settings(max_examples=25, deadline=None)
@given(SCRIPTS, st.lists(st.integers(0, 59), max_size=8))
def test_deaths_of_the_router_change_nothing(
    script: list[tuple[Any, ...]], deaths: list[int]
) -> None:
    calm, killed = World(), World()
    script = [step for step in script if step != ("router dies",)]
    for index, step in enumerate(script):
        calm.perform(step)
        if index in deaths:
            killed.perform(("router dies",))
        killed.perform(step)
    assert calm.p.log == killed.p.log


SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["\ud83d", "text", "s1", "t1", "completed", "selected"]),
)
WORDS = """type text content sessionUpdate toolCallId $blob sha256 length head used size entries
    locations path line newText rawInput rawOutput title status kind name input availableCommands
    _meta options optionId toolCall resource uri terminal_output data mimeType"""
WORD = st.sampled_from(WORDS.split())
ANYTHING = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=4),
    max_leaves=12,
)
KINDS = ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"]
KINDS += ["usage_update", "available_commands_update", "of_tomorrow"]
HOSTILE = st.one_of(
    ANYTHING,
    st.builds(
        lambda kind, fields: update({**fields, "sessionUpdate": kind}),
        st.sampled_from(KINDS),
        st.dictionaries(WORD, ANYTHING, max_size=5),
    ),
    st.builds(
        lambda id_, params: {
            "id": id_,
            "method": "session/request_permission",
            "params": {"sessionId": "s1", **params},
        },
        ANYTHING,
        st.dictionaries(WORD, ANYTHING, max_size=4),
    ),
    st.builds(
        lambda id_, method, params: {"id": id_, "method": method, "params": params},
        ANYTHING,
        st.sampled_from(["fs/x", "$/cancel_request", "session/update"]),
        ANYTHING,
    ),
    st.builds(
        lambda id_, key, value: {"id": id_, key: value},
        st.sampled_from([3, "3", 3.0, None, True]),
        st.sampled_from(["result", "error"]),
        ANYTHING,
    ),
)


HOSTILE_OPENING = st.builds(
    lambda id_, key, value: {"id": id_, key: value},
    st.sampled_from([2, 2, 2, "2", 3]),
    st.sampled_from(["result", "result", "error"]),
    ANYTHING | st.just({}) | st.just({"sessionId": "s1"}) | st.just({"code": -32000}),
)
CAPABILITY = st.sampled_from(["loadSession", "sessionCapabilities", "mcpCapabilities"])
CAPABILITIES = st.dictionaries(st.sampled_from(["resume", "close", "http", "sse"]), ANYTHING)
METHOD = st.sampled_from(["id", "name", "description", "type"])


@settings(max_examples=200, deadline=None)
@given(st.lists(HOSTILE, min_size=1, max_size=8))
def test_nothing_that_an_agent_writes_brings_the_router_down(frames: list[Any]) -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    for frame in frames:
        p.writes("alice", json.dumps(frame))
    p.command(Cancel, channel=channel)
    p.exits("alice")
    p.passes(40_000)
    assert p.state.talks == {}
    assert p.state.asks == {}


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["load", "resume"]), st.lists(HOSTILE | HOSTILE_OPENING, max_size=8))
def test_nothing_written_while_a_session_is_taken_up_brings_the_router_down(
    offer: str, frames: list[Any]
) -> None:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.updates("alice", chunk("so"))
    p.answers("alice", 3, {"stopReason": "end_turn"})
    p.exits("alice", asked=False)
    p.passes(5_000)
    p.send(channel, "again")
    p.started("alice", offer)
    for frame in frames:
        p.writes("alice", json.dumps(frame))
        p.passes(300)
    p.passes(40_000)
    p.command(Cancel, channel=channel)
    p.exits("alice")
    p.passes(40_000)
    assert p.state.talks == {}
    assert p.state.gates == {}


@settings(max_examples=100, deadline=None)
@given(
    st.fixed_dictionaries(
        {"protocolVersion": st.just(1)},
        optional={
            "agentCapabilities": ANYTHING | st.dictionaries(CAPABILITY, ANYTHING | CAPABILITIES),
            "authMethods": ANYTHING | st.lists(st.dictionaries(METHOD, ANYTHING)),
        },
    )
)
def test_no_handshake_brings_the_router_down(result: dict[str, Any]) -> None:
    p = Playbook(agent("alice", mcpServers=2, mcpTransports=("http", "sse")))
    p.send(p.direct("alice"), "hello")
    p.up("alice")
    p.answers("alice", 1, result)
    assert [one["method"] for one in p.sent()] == ["session/new"]
    p.answers("alice", 2, error={"code": -32000, "message": "Log in"})
    assert p.state.talks == {}


def test_nesting_beyond_reason_is_noted_and_passed_over() -> None:
    p = Playbook("alice")
    p.prompted("alice")
    for depth in (90, 150, 900, 5_000, 200_000):
        nested = "[" * depth + "]" * depth
        p.writes("alice", '{"sessionUpdate":"x","a":' + nested + "}")
        p.writes(
            "alice", json.dumps(update({"sessionUpdate": "x"}))[:-3] + ',"a":' + nested + "}}}"
        )
    assert len(p.decision.notes) == 1


SCRIPT = [
    ("send", "alice", "a"),
    ("send", "bob", "a"),
    ("send", "carol", "a"),
    ("up", "alice"),
    ("respond", "alice", "well"),
    ("respond", "alice", "well"),
    ("updates", "alice", [chunk("a"), chunk("b")]),
    ("send", "alice", "bc "),
    ("ask", "alice", "r"),
    ("ask", "alice", 7),
    ("command", Restart, "bob"),
    ("prepare", "lab"),
    ("discuss", "ops", "@bob, @carol and @alice hello"),
    ("say", "lab", "@alice @bob hello"),
    ("say", "ops", "@alice @bob hello"),
    ("leave", "ops", "bob"),
    ("delete", "ops"),
    ("configure", ["bob"], 1, "two"),
    ("exit", "alice"),
    ("time", 31_000),
    ("shutdown",),
]


def test_no_order_of_a_set_or_a_hash_decides_anything() -> None:
    program = (
        "import hashlib; from tests.unit.sk_router.test_properties import SCRIPT, played;"
        "print(hashlib.sha256(repr(played(SCRIPT).p.log).encode()).hexdigest())"
    )
    root = Path(__file__).parents[3]
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(told) == 1
