"""What holds whatever comes: random scripts of commands, frames, exits, timers and restarts.

The world around the router is a small model: orders are carried out at once, agents answer or
don't, processes end. Every invariant is checked against what was published, never against the
router's own state.
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

from sk_bus.commands import AnswerPermission, Cancel, Direct, Restart, Send, Shutdown, Start, Stop
from sk_bus.events import CommandResult, MessageUpdated, PermissionRequested, PermissionResolved
from sk_bus.internal import DoSend, DoStart, DoStop, DoTurn
from sk_bus.model import AgentName
from sk_bus.vocabulary import Event, encoded
from tests.support.playbook import (
    Playbook,
    agent,
    chunk,
    configured,
    folded,
    permission,
    thought,
    update,
)

NAMES = ("alice", "bob", "carol")
# Of an earlier session, one takes up the thread, one reads it again, one knows nothing.
OFFERS = {"alice": ("resume", "load", "close"), "bob": ("load",), "carol": ()}
LIMIT = 2

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
SCRIPTS = st.lists(STEP, min_size=5, max_size=60)


class World:
    """Carries a script out, and looks at everything that is published."""

    def __init__(self) -> None:
        self.p = Playbook(*NAMES, maxRunningAgents=LIMIT)
        self.limit = LIMIT
        self.alive: dict[str, int] = {}
        self.stopped: set[tuple[str, int]] = set()
        self.lines: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
        self.unanswered: dict[tuple[str, int], dict[int, str]] = defaultdict(dict)
        self.sessions: dict[tuple[str, int], list[str]] = defaultdict(list)
        self.asked: list[PermissionRequested] = []
        self.requests: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
        self.given_up: set[tuple[str, int, int]] = set()
        self.turns: set[str] = set()
        self.pending: dict[str, str] = {}
        self.ready: set[tuple[str, int]] = set()
        self.commands: list[str] = []
        self.accepted: list[str] = []
        self._seen = 0

    # --- what is published ------------------------------------------------------------------

    def look(self) -> None:
        for event in self.p.log[self._seen :]:
            match event:
                case DoStart(agent=name, inc=inc):
                    assert name not in self.alive, "two processes of one agent"
                    assert len(self.alive) < self.limit, "beyond the limit"
                    self.alive[name] = inc
                case DoStop(agent=name, inc=inc):
                    assert self.alive.get(name) == inc, "a stop of nothing"
                    assert (name, inc) not in self.stopped, "stopped twice"
                    self.stopped.add((name, inc))
                    self._may_stop(name, inc)
                case DoSend():
                    self._sent(event)
                case DoTurn(agent=name, open=True):
                    self.turns.add(name)
                case DoTurn(agent=name):
                    self.turns.discard(name)
                case PermissionRequested():
                    self.asked.append(event)
                    self.pending[event.id] = event.agent
                case PermissionResolved(id=id_):
                    self.pending.pop(id_, None)
                case _:
                    pass
        self._seen = len(self.p.log)

    def _may_stop(self, name: str, inc: int) -> None:
        """Invariant 10: nobody who is at work or waited for makes room, or is idle."""
        if self.p.state.lives[name].ending not in ("idle", "evicted"):
            return
        assert name not in self.turns, "it was answering"
        assert name not in self.pending.values(), "somebody is being asked"
        waited = [n for n in self.unanswered[name, inc] if (name, inc, n) not in self.given_up]
        assert waited == [], "an answer of it is awaited"

    def _sent(self, event: DoSend) -> None:
        key = (event.agent, event.inc)
        assert self.alive.get(event.agent) == event.inc, "a line to nobody"
        assert key not in self.stopped, "a line into a closed stdin"
        frame = json.loads(event.line)
        self.lines[key].append(frame)
        assert event.n == len(self.lines[key]), "a hole in the lines"
        assert (frame.get("method") == "initialize") is (event.n == 1)
        if "method" in frame and "id" in frame:
            assert frame["id"] == event.n
            open_ = self.unanswered[key]
            if frame["method"] == "session/prompt":
                assert "session/prompt" not in open_.values(), "two prompts in flight"
            open_[event.n] = frame["method"]
            if frame["method"] in ("session/load", "session/resume"):
                self.sessions[key].append(frame["params"]["sessionId"])
            if frame["method"] == "session/close":
                self.given_up.add((*key, event.n))
        if frame.get("method") == "$/cancel_request":
            self.given_up.add((*key, frame["params"]["requestId"]))

    # --- what happens -----------------------------------------------------------------------

    def perform(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("send", name, text):
                self._send(name, text)
            case ("talk", name, text):
                self._send(name, text)
                self._serve(name)
            case ("converse", name, lives):
                self._converse(name, lives)
            case ("serve", name):
                self._serve(name)
            case ("cancel", name):
                if channel := self._channel(name):
                    self._command(Cancel, channel=channel)
            case ("command", kind, name):
                self._command(kind, agent=AgentName(name))
            case ("up", name):
                if name in self.alive:
                    self.p.up(name)
            case ("respond", name, how):
                self._respond(name, well=how == "well")
            case ("updates", name, updates):
                for session in self._sessions(name)[-1:]:
                    self.p.updates(name, *updates, session=session)
            case ("ask", name, request):
                for session in self._sessions(name)[-1:]:
                    options = (("yes", "allow_once"), ("no", "reject_once"))
                    self.requests[name, self.alive[name]][json.dumps(request)] += 1
                    self.p.writes(name, permission(request, *options, session=session))
            case ("answer", index, option):
                for one in self.asked[::-1][index : index + 1]:
                    self._command(AnswerPermission, permission=one.id, optionId=option)
            case ("withdraw", name, request):
                if name in self.alive:
                    data = {"method": "$/cancel_request", "params": {"requestId": request}}
                    self.p.writes(name, data)
            case ("exit", name):
                self._exit(name)
            case ("time", milliseconds):
                self.p.passes(milliseconds)
            case ("configure", names, limit, digest):
                self.limit = max(limit, len(self.alive))
                agents = [agent(name, digest=digest) for name in names]
                self.p.give(configured(*agents, maxRunningAgents=limit))
                self.look()
                self.limit = limit
            case ("router dies",):
                self.p.restart()
            case ("shutdown",):
                self._command(Shutdown)
        self.look()

    def _command(self, kind: type[Any], **fields: Any) -> CommandResult | None:
        result = self.p.command(kind, **fields)
        self.commands.append(f"command-{self.p._commands}")
        if result is not None:
            assert self.p.said[-1] == result or isinstance(self.p.said[-1], CommandResult)
        return result

    def _channel(self, name: str) -> str | None:
        found = [one.id for one in self.p.state.channels.values() if one.direct == name]
        return found[0] if found else None

    def _send(self, name: str, text: str) -> None:
        if self._channel(name) is None:
            self._command(Direct, agent=AgentName(name))
        channel = self._channel(name)
        if channel is not None:
            sent = self._command(Send, channel=channel, text=text)
            if sent is not None and sent.ok:
                self.accepted.append(sent.value)

    def _sessions(self, name: str) -> list[str]:
        return self.sessions[name, self.alive[name]] if name in self.alive else []

    def _respond(self, name: str, *, well: bool) -> None:
        """Answer the oldest request."""
        if name not in self.alive:
            return
        key = (name, self.alive[name])
        for n, method in sorted(self.unanswered[key].items())[:1]:
            del self.unanswered[key][n]
            if not well:
                self.p.answers(name, n, error={"code": -32603, "message": "no"})
            elif method == "initialize":
                self.ready.add(key)
                self.p.initialized(name, *OFFERS[name])
            elif method == "session/new":
                self.sessions[key].append(f"{name}-{n}")
                self.p.answers(name, n, {"sessionId": f"{name}-{n}"})
            elif method == "session/prompt":
                self.p.answers(name, n, {"stopReason": "end_turn"})
            else:
                self.p.answers(name, n, {})

    def _serve(self, name: str) -> None:
        """Go as far as a prompt, if there is one."""
        self.look()
        if name in self.alive:
            self.p.up(name)
            self.look()
        for _ in range(3):
            if name in self.alive:
                open_ = self.unanswered[name, self.alive[name]]
                if "session/prompt" not in open_.values():
                    self._respond(name, well=True)
                    self.look()
                    if any(gate.agent == name for gate in self.p.state.gates.values()):
                        self.p.passes(300)
                        self.look()

    def _converse(self, name: str, lives: int) -> None:
        """A message and its whole answer in each of so many lives, if nothing hinders."""
        for life in range(lives):
            if life:
                self._exit(name)
            self._send(name, "a")
            self._serve(name)
            for session in self._sessions(name)[-1:]:
                self.p.updates(name, chunk("so"), session=session)
            self._respond(name, well=True)
            self.p.passes(2_000)
            self.look()

    def _exit(self, name: str) -> None:
        if name in self.alive:
            inc = self.alive.pop(name)
            self.turns.discard(name)
            self.p.exits(name, asked=(name, inc) in self.stopped, code=0)
            self.look()

    def come_to_rest(self) -> None:
        """Everybody answers, what is being stopped ends, time passes."""
        for _ in range(400):
            before = len(self.p.log)
            for name in NAMES:
                if name in self.alive and (name, self.alive[name]) in self.stopped:
                    self._exit(name)
                if name in self.alive:
                    self.p.up(name)
                    self.look()
                    self._respond(name, well=True)
                    self.look()
            self.p.passes(400)
            self.look()
            if len(self.p.log) == before:
                break
        self.p.passes(40_000)
        self.look()
        for name in NAMES:
            if name in self.alive and (name, self.alive[name]) in self.stopped:
                self._exit(name)


def played(script: list[tuple[Any, ...]]) -> World:
    world = World()
    for step in script:
        world.perform(step)
    world.come_to_rest()
    return world


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
    order: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for event in log:
        if not isinstance(event, MessageUpdated):
            continue
        message = event.message
        if message.role == "user" and message.error is not None:
            ends[message.id].append("dropped")
        elif message.answers is not None and message.done and message.id not in ended:
            ended[message.id] = message.answers
            ends[message.answers].append(message.id)
            order[event.channel].append((message.id, message.answers))
    assert {id_: len(ends[id_]) for id_ in world.accepted} == dict.fromkeys(world.accepted, 1)
    assert set(ends) == set(world.accepted)
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
