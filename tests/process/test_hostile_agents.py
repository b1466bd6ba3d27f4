"""Agents that do every wrong thing, each through all real services: the turn ends, says why, and
leaves nothing behind; the next message works, and the other agents go on.

One instance serves them all; each agent's misbehaviour is in its environment or in the prompt.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from sk_agents.flood import LINES
from sk_bus.events import AgentLog
from sk_bus.model import AgentName, BlobRef, Message, OtherPart, TextPart, ToolPart
from sk_bus.queries import Blob, Logs
from tests.support import acp_schema
from tests.support.conversing import Person, person, text, why
from tests.support.instance import TestInstance
from tests.support.scripted_faults import NOISE
from tests.support.shim_client import AGENT, alive

pytestmark = pytest.mark.process

# How long a start and a session may take, where one is to take too long; a start that is to succeed
# has as long as a busy machine may need for it.
PATIENT = {"mute": "1s", "wrong-init": "1s", "new-mute": "6s"}
AGENTS: dict[str, dict[str, str]] = {
    "good": {},
    "bystander": {},
    "banner": {"SA_BANNER": "Loaded cached credentials."},
    "chatty": {"SA_STDERR_LINES": "300", "SA_CHATTER": "0.05"},
    "binary": {"SA_BINARY": "5000000", "SA_STDERR_LINES": "300"},
    "string-init": {"SA_INIT_ID": "string"},
    "echoes": {"SA_VERSION": "echo"},
    "early": {"SA_EARLY": "1"},
    "same-session": {"SA_SAME_SESSION": "1"},
    "boolean": {"SA_CONFIG": "boolean", "SA_MODES": "1"},
    "optional-login": {"SA_AUTH": "optional"},
    # Starts that fail.
    "exits": {"SA_EXIT_ON_START": "127", "SA_STDERR_LINES": "300"},
    "exits-well": {"SA_EXIT_ON_START": "0", "SA_LEAVES": "1"},
    "mute": {"SA_INIT_SILENT": "1"},
    "wrong-init": {"SA_INIT_ID": "wrong"},
    "version-2": {"SA_VERSION": "2"},
    "version-one": {"SA_VERSION": "one"},
    "version-refused": {"SA_VERSION": "error"},
    # Too short to count as a secret, which would be masked in the error.
    "init-error": {"SA_INIT_ERROR": "no luck"},
    # Sessions that fail.
    "new-error": {"SA_NEW_ERROR": "no room"},
    "new-mute": {"SA_NEW_SILENT": "1"},
    "new-empty": {"SA_NEW_EMPTY": "1"},
    "login": {"SA_AUTH": "yes"},
    "terminal-login": {"SA_AUTH": "terminal"},
    "bare-login": {"SA_AUTH": "none"},
    # For ends, each with processes of its own that ignore SIGTERM.
    **{f"ends-{k}": {} for k in range(6)},
    "ends-4": {"SA_IGNORE_EOF": "1"},
    **{f"deaf-{k}": {} for k in range(4)},
    "stubborn": {"SA_IGNORE_EOF": "1", "SA_IGNORE_TERM": "1", "SA_LEAVES": "1"},
}


class World:
    """The instance, and what its agents wrote down."""

    def __init__(self, instance: TestInstance) -> None:
        self.instance = instance

    def children(self, *agents: str) -> list[int]:
        """What these agents started (all of them, if none is named)."""
        paths = [self.instance.directory / f"children.{name}" for name in agents or AGENTS]
        return [int(line) for path in paths if path.exists() for line in path.open()]

    def frames(self, agent: str) -> list[dict[str, Any]]:
        """What the agent received, over all its lives."""
        lines = (self.instance.directory / f"record.{agent}").read_text().splitlines()
        return [json.loads(line.partition(" ")[2]) for line in lines]

    def records(self) -> list[str]:
        """Every line that any agent received."""
        paths = self.instance.directory.glob("record.*")
        return [line.partition(" ")[2] for path in paths for line in path.read_text().splitlines()]

    @asynccontextmanager
    async def person(self) -> AsyncIterator[Person]:
        async with person(self.instance.paths) as made:
            yield made


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with TestInstance(config=None) as instance:
        defined = [
            {
                "name": name,
                "command": sys.executable,
                "args": [str(AGENT)],
                "startTimeout": PATIENT.get(name, "90s"),
                "env": environment
                | {
                    "SA_RECORD": str(instance.directory / f"record.{name}"),
                    "SA_CHILDREN": str(instance.directory / f"children.{name}"),
                },
            }
            for name, environment in AGENTS.items()
        ]
        defined.append({"name": "nowhere", "command": "/no/such/program"})
        defined.append({"name": "unfound", "command": "no-such-program"})
        gone = instance.directory / "gone"
        gone.mkdir()
        defined.append({"name": "homeless", "command": sys.executable, "cwd": str(gone)})
        instance.config.write_text(
            yaml.safe_dump({"limits": {"maxRunningAgents": 50}, "agents": defined})
        )
        instance.up()
        gone.rmdir()
        asyncio.run(known(instance))
        yield World(instance)


async def known(instance: TestInstance) -> None:
    """Wait until the router has the configuration."""
    async with person(instance.paths, past=True) as me:
        await me.becomes("homeless", "stopped")


def run(test: Callable[..., Coroutine[Any, Any, None]], world: World, *arguments: Any) -> None:
    async def whole() -> None:
        async with world.person() as me:
            await test(me, *arguments)

    asyncio.run(whole())


def logged(me: Person, agent: str) -> list[str]:
    """The lines of the agent's log that came by the bus."""
    return [one.line for one in me.events if isinstance(one, AgentLog) and one.agent == agent]


# --- what an answer survives --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("before !noise after", "before after "),
        ("before !invalid-utf8 after", "before after "),
        ("before !batch after", "before after "),
        ("before !deep 20 !deep 400 !deep 600 !deep 1000 !deep 5000 after", "before after "),
        ("before !surrogate after", "before half\N{REPLACEMENT CHARACTER} after "),
        ("before !unknown after", "before [-32601] after "),
        ("before !extra after", "before extra after "),
        ("before !formless after", "before after "),
        ("before !wrong-session after", "before after "),
        ("before !mode !mode-id !config !partial-config !title after", "before after "),
        ("before !tool !tools 3 !orphan x !plan !thought hm !image !usage !commands", "before "),
        ("!odd-ids", "[9 of 9] "),
        ("!fs !terminal !elicitation", "[-32601] " * 6 + "[-32602] "),
        ("!stray-permission", "[-32602] "),
        ("!withdraw !withdraw", "[cancelled] [cancelled] "),
        ("early !early late", "early late "),
        ("!late 100 soon", "soon late "),
        ("text !garbage", "text "),
        ("text !twice", "text "),
        ("text !string-id", "text "),
        ("!string-ids !fs", "[-32601] [-32601] "),
        ("!stderr 2000 !flood 300000 text", "text "),
        ("!split", "häppchen🍰 "),
    ],
)
def test_an_answer_survives(world: World, prompt: str, said: str) -> None:
    async def test(me: Person) -> None:
        channel = await me.direct("good")
        answer = await me.say(channel, prompt)
        assert answer.stopReason == "end_turn"
        with contextlib.suppress(TimeoutError):  # some of it comes after the end
            await me.until(lambda: text(me.now(answer)) == said)
        assert text(me.now(answer)) == said
        assert me.states["good"].state.value == "ready"

    run(test, world)


@pytest.mark.parametrize(
    "agent",
    ["banner", "chatty", "string-init", "echoes", "early", "boolean", "optional-login"],
)
def test_an_agent_of_odd_manners_answers(world: World, agent: str) -> None:
    async def test(me: Person) -> None:
        channel = await me.direct(agent)
        assert text(await me.say(channel, "hello")) == "hello "
        assert (await me.stop(agent)).ok

    run(test, world)


def test_an_echo_of_the_prompt_is_not_shown(world: World) -> None:
    async def test(me: Person) -> None:
        answer = await me.say(await me.direct("good"), "!echo-user")
        assert (answer.stopReason, answer.parts) == ("end_turn", ())

    run(test, world)


def test_a_strange_stop_reason_is_told_as_it_is(world: World) -> None:
    async def test(me: Person) -> None:
        answer = await me.say(await me.direct("good"), "!reason tired")
        assert (answer.stopReason, answer.error) == ("tired", None)

    run(test, world)


def test_a_permission_with_strange_options_goes_back_byte_for_byte(world: World) -> None:
    async def test(me: Person) -> None:
        channel = await me.direct("good")
        sent = await me.send(channel, "!strange-options")
        (asked,) = await me.asks(channel)
        assert [one.optionId for one in asked.options] == ["proceed_once", "A", "B"]
        assert (await me.permit(asked, "B")).ok
        assert text(await me.answer(channel, sent)) == "[B] "

    run(test, world)


def test_unknown_kinds_are_shown_raw_and_tools_are_ended(world: World) -> None:
    async def test(me: Person) -> None:
        answer = await me.say(await me.direct("good"), "!unknown !tools 3 !late-tool 100")
        raw = [part.raw for part in answer.parts if isinstance(part, OtherPart)]
        assert [one.get("sessionUpdate", one.get("type")) for one in raw] == [
            "mood_changed",
            "hologram",
        ]
        tools = {part.tool.id: part.tool for part in answer.parts if isinstance(part, ToolPart)}
        assert tools["tool-0"].status == "completed"
        assert (tools["tool-1"].ended, tools["slow"].ended) == ("unreported", "unreported")
        await me.until(
            lambda: (
                [
                    part.tool.status
                    for part in me.now(answer).parts
                    if isinstance(part, ToolPart) and part.tool.id == "slow"
                ]
                == ["completed"]
            )
        )

    run(test, world)


def test_an_agent_that_names_each_session_alike_answers_in_each_of_its_lives(world: World) -> None:
    async def test(me: Person) -> None:
        channel = await me.direct("same-session")
        assert text(await me.say(channel, "one")) == "one "
        assert (await me.restart("same-session")).ok
        assert text(await me.say(channel, "two")) == "two "

    run(test, world)


# --- noise and floods ---------------------------------------------------------------------------


def test_every_line_that_is_no_frame_stands_once_in_the_log(world: World) -> None:
    async def test(me: Person) -> None:
        await me.say(await me.direct("good"), "!noise")
        no_frames = [line for line in NOISE if not line.startswith(b"{")]
        assert logged(me, "good") == [
            line.decode(errors="replace").removesuffix("\r") for line in no_frames
        ]

    run(test, world)


def test_a_flood_on_stderr_is_limited_and_said_so(world: World) -> None:
    async def test(me: Person) -> None:
        channel = await me.direct("binary")
        began = time.monotonic()
        assert text(await me.say(channel, "hello !stderr 1000")) == "hello "
        await me.stop("binary")
        await me.until(lambda: any("lines left out" in line for line in logged(me, "binary")))
        lines = logged(me, "binary")
        # So many in a second, and one that says how many were left out.
        assert len(lines) <= (LINES + 1) * (time.monotonic() - began + 2)
        assert max(len(line) for line in lines) < 17_000
        kept = await me.ask(Logs(agent=AgentName("binary")))
        assert kept == tuple(f"stderr line {k}" for k in range(800, 1000))

    run(test, world)


@pytest.mark.parametrize("length", [65_535, 65_536, 2**20])
def test_a_line_of_a_length_that_readers_trip_over_passes(world: World, length: int) -> None:
    async def test(me: Person) -> None:
        channel = await me.direct("good")
        # The text has that length, or the line that holds it, about.
        lengths = [length, *range(length - 180, length - 160)]
        sent = await me.send(channel, " ".join(f"!bigline {one}" for one in lengths))
        assert (await me.answer(channel, sent)).stopReason == "end_turn"
        assert len(me.grown(sent)) == sum(lengths)

    run(test, world)


def test_a_line_of_20_mib_passes_through_everything(world: World) -> None:
    length = 20 * 2**20

    async def test(me: Person) -> None:
        channel = await me.direct("good")
        sent = await me.send(channel, f"!bigline {length}")
        answer = await me.answer(channel, sent)
        (part,) = answer.parts
        assert isinstance(part, TextPart)
        assert isinstance(part.text, BlobRef)
        assert part.text.length == length
        assert part.text.sha256 == hashlib.sha256(b"x" * length).hexdigest()
        last = Blob(sha256=part.text.sha256, offset=length - 10, limit=20)
        assert await me.ask(last) == b"x" * 10
        assert me.grown(sent) == "x" * length

    before = peaks(world)
    run(test, world)
    grown = {name: peak - before[name] for name, peak in peaks(world).items()}
    # A line is in a process a few times at once (bytes, text, JSON), never many times.
    assert max(grown.values()) < 12 * length // 2**20, grown


def peaks(world: World) -> dict[str, int]:
    """The largest memory of each component so far, in MiB."""
    return {name: _peak(pid) for name, pid in world.instance.pids().items()}


def _peak(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


# --- turns that fail, of an agent that goes on --------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("text !error", "Internal error: no tokens"),
        ("text !both", "both"),
        ("text !null", "good didn't say how its answer ended"),
        ("text !no-reason", "good didn't say how its answer ended"),
    ],
)
def test_a_turn_that_fails_says_why_and_the_next_works(
    world: World, prompt: str, reason: str
) -> None:
    async def test(me: Person) -> None:
        channel = await me.direct("good")
        answer = await me.say(channel, prompt)
        assert (text(answer), answer.stopReason, why(answer)) == ("text ", None, reason)
        again = await me.say(channel, "again")
        assert (text(again), again.stopReason) == ("again ", "end_turn")

    run(test, world)


# --- cancels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("text !hang", "text "),
        ("text !cancel-error", "text "),
        ("text !cancel-reason end_turn", "text "),
        ("text !cancel-reason refusal", "text "),
        ("text !permission 2", "text [cancelled] [cancelled] "),
        ("text !late-permission", "text [cancelled] "),
        ("text !no-options", "text [cancelled] "),
    ],
)
def test_what_is_cancelled_ends_cancelled_and_the_same_process_serves_on(
    world: World, prompt: str, said: str
) -> None:
    async def test(me: Person) -> None:
        channel = await me.direct("good")
        sent = await me.send(channel, prompt)
        await me.until(lambda: "text " in me.grown(sent))
        if "-options" in prompt or "!permission" in prompt:
            await me.asks(channel, 2 if "!permission" in prompt else 1)
        await me.cancel(channel)
        answer = await me.answer(channel, sent)
        assert (text(answer), answer.stopReason, answer.error) == (said, "cancelled", None)
        assert text(await me.say(channel, "again")) == "again "
        assert me.states["good"].state.value == "ready"

    run(test, world)


def test_an_agent_that_ignores_a_cancel_is_ended_with_all_it_started(world: World) -> None:
    prompts = {
        "deaf-0": "text !grandchild !daemon !silent",
        "deaf-1": "text !hang-cancel",
        "deaf-2": "text !wrong-id",
        "deaf-3": "text !deaf",
        "stubborn": "text !silent",
    }

    async def deaf(me: Person, agent: str, prompt: str) -> None:
        channel = await me.direct(agent)
        sent = await me.send(channel, prompt)
        await me.until(lambda: "text " in me.grown(sent))
        if agent == "deaf-3":
            # Its answer came: what it doesn't read any more is the next prompt.
            await me.answer(channel, sent)
            sent = await me.send(channel, "unread")
            await me.until(lambda: me.states[agent].state.value == "busy")
        await me.cancel(channel)
        answer = await me.answer(channel, sent)
        assert (answer.stopReason, answer.error) == ("cancelled", None)
        ended = await me.becomes(agent, "error")
        assert ended.error is not None
        assert ended.error.message == "did not answer cancel"
        assert text(await me.say(channel, "again")) == "again "

    async def test(me: Person) -> None:
        stream = asyncio.create_task(streamed(me))
        await asyncio.gather(*(deaf(me, agent, prompt) for agent, prompt in prompts.items()))
        await stream

    run(test, world)


async def streamed(me: Person) -> None:
    """Another agent's answer, meanwhile: nothing of it is lost."""
    answer = await me.say(await me.direct("bystander"), "!count 1000 2000")
    assert text(answer) == "".join(f"{k} " for k in range(1000))


# --- ends ---------------------------------------------------------------------------------------


def test_an_agent_that_ends_in_mid_answer_says_how_and_leaves_nothing(world: World) -> None:
    ends = {
        "ends-0": ("!grandchild !exit 3", "agent-ended", "exit code 3"),
        "ends-1": ("!grandchild !exit 0", "agent-finished", "exit code 0"),
        "ends-2": ("!grandchild !kill", "agent-killed", "signal 9, SIGKILL"),
        "ends-3": ("!grandchild !half", "agent-finished", "exit code 0"),
        "ends-4": ("!close", "closed-its-pipes", "closed its stdin or stdout"),
    }

    async def ending(me: Person, agent: str, prompt: str, problem: str, named: str) -> None:
        channel = await me.direct(agent)
        answer = await me.say(channel, f"text !daemon {prompt}")
        assert (text(answer), answer.stopReason) == ("text ", None)
        assert answer.error is not None
        assert (answer.error.id, named in why(answer)) == (problem, True)
        ended = await me.becomes(agent, "error")
        assert ended.error == answer.error
        again = await me.say(channel, "again")
        assert (text(again), again.stopReason) == ("again ", "end_turn")
        assert (await me.stop(agent)).ok
        assert me.states[agent].state.value == "stopped"

    async def test(me: Person) -> None:
        stream = asyncio.create_task(streamed(me))
        await asyncio.gather(*(ending(me, agent, *end) for agent, end in ends.items()))
        await stream

    run(test, world)
    children = world.children(*ends)
    assert len(children) == 2 * len(ends) - 1
    assert not any(alive(pid) for pid in children)


def test_an_idle_agent_that_is_killed_from_outside_shows_it_at_once(world: World) -> None:
    async def test(me: Person) -> None:
        channel = await me.direct("ends-5")
        await me.say(channel, "hello")
        (pid,) = {
            int(line.split()[0])
            for line in (world.instance.directory / "record.ends-5").read_text().splitlines()
        }
        os.kill(pid, 15)
        ended = await me.becomes("ends-5", "error")
        assert ended.error is not None
        assert ended.error.id == "agent-killed"
        assert "SIGTERM" in ended.error.message
        assert text(await me.say(channel, "again")) == "again "

    run(test, world)


# --- starts and sessions that fail --------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "problem", "named"),
    [
        ("exits", "start-failed", "exit code 127"),
        ("exits-well", "start-failed", "exit code 0"),
        ("mute", "start-late", "no answer to initialize in 1 s"),
        ("wrong-init", "start-late", "no answer to initialize in 1 s"),
        ("version-2", "wrong-protocol", "speaks version 2 of ACP; Sidekicks speaks version 1"),
        ("version-one", "wrong-protocol", '"one"'),
        ("version-refused", "agent-error", "unsupported protocol version 1"),
        ("init-error", "agent-error", "no luck"),
        ("nowhere", "command-not-found", "/no/such/program"),
        ("unfound", "not-on-path", "/usr/bin"),  # the PATH that was searched
        ("homeless", "cwd-missing", "/gone"),
    ],
)
def test_a_start_that_fails_says_why_and_leaves_nothing(
    world: World, agent: str, problem: str, named: str
) -> None:
    async def test(me: Person) -> None:
        refused = await me.start(agent)
        assert refused.problem is not None
        assert (refused.problem.id, named in refused.problem.message) == (problem, True)
        state = await me.becomes(agent, "error")
        assert state.error == refused.problem
        answer = await me.say(await me.direct(agent), "hello")
        assert (answer.code, answer.error) == ("agent-unavailable", refused.problem)
        if agent == "exits":
            lines = [f"stderr line {k}" for k in range(281, 300)]
            assert refused.problem.params["stderr"] == [*lines, "can't start: no licence"]

    run(test, world)
    assert not any(alive(pid) for pid in world.children(agent))


@pytest.mark.parametrize(
    ("agent", "code", "named"),
    [
        ("new-error", "agent-unavailable", "no room"),
        ("new-mute", "agent-unavailable", "no answer to session/new in 6 s"),
        ("new-empty", "agent-unavailable", "opened no session"),
        ("login", "login-needed", "Authentication required"),
        ("terminal-login", "login-needed", "Authentication required"),
        ("bare-login", "login-needed", "Authentication required"),
    ],
)
def test_a_session_that_fails_says_why_and_is_not_tried_again_by_itself(
    world: World, agent: str, code: str, named: str
) -> None:
    async def test(me: Person) -> None:
        channel = await me.direct(agent)
        for _ in range(2):
            answer: Message = await me.say(channel, "hello")
            assert (answer.code, named in why(answer)) == (code, True)
            assert me.states[agent].state.value == "ready"
        methods = [frame["method"] for frame in world.frames(agent)]
        assert methods.count("session/new") == 2
        assert "authenticate" not in methods

    run(test, world)


# --- at the very end ----------------------------------------------------------------------------


def test_after_the_close_nothing_of_any_agent_is_left(world: World) -> None:
    world.instance.down()
    assert world.instance.processes() == {}
    assert not any(alive(pid) for pid in world.children())
    records = world.records()
    for line in records:
        acp_schema.check(line)
    # All that reached an agent was ordered; so it is enough that others look at the orders.
    assert Counter(map(kind, records)) <= Counter(map(kind, world.instance.sent()))


def kind(line: str) -> str:
    """The method of a frame, or what kind of answer it is."""
    frame = json.loads(line)
    return str(frame.get("method") or sorted(frame))
