"""The executor or the router, killed in each window of an agent's life: nobody can tell afterwards.

Bus, router and executor are real; the configuration and the history are the test's. The same life
is led each time: handshake, a permission that is given, a turn that is cancelled with two open, and
the stop. What came of it is held against a life in which nothing was killed.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sk_bus.client import connect
from sk_bus.events import AgentStateChanged, ConfigChanged, PermissionResolved
from sk_bus.internal import FactExited, FactUp, HistoryRestored
from sk_bus.model import AgentConfig, AgentName, Cursor, Limits, PublicConfig
from tests.support import acp_schema, rooms
from tests.support.conversing import Person, text, why
from tests.support.executing import Executing, left
from tests.support.shim_client import alive, eventually

pytestmark = pytest.mark.process

SLOW = 2  # of the lives, these end by SIGTERM only

HANDSHAKE = ["before_start", "before_up"]
HANDSHAKE += [f"{one}:{n}" for n in (1, 2) for one in ("mid_in", "before_took", "before_frame")]
TURN = ["before_turn:1", "mid_in:3", "before_took:3", "before_frame:3", "before_turn:2"]
PERMISSION = ["mid_in:4", "before_took:4", "mid_in:6", "before_took:6", "mid_in:7", "before_took:8"]
STOP = ["before_stop", "after_stop", "before_exit", "after_exit", "before_bury"]
WINDOWS = [f"agents_{one}" for one in HANDSHAKE + TURN + PERMISSION + STOP]
DECISIONS = [f"router_decided:{n}" for n in (1, 3, 4, 5, 6, 8, 10, 12, 14)]


class Lived(NamedTuple):
    """What came of a life, for everyone who watched, and for the agent."""

    answers: list[tuple[str, str]]
    states: list[tuple[str, bool]]
    resolved: list[tuple[str, str | None]]
    ups: int
    exits: list[tuple[int | None, bool, int]]
    received: list[str]


class Windows(Executing):
    """Bus, router and executor, and a person who watches them from the first event on."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.children = root / "children"
        self.names = [f"w{k}" for k in range(len(WINDOWS) + len(DECISIONS) + 1)]
        self.names += [f"slow{k}" for k in range(SLOW)]
        self._free = iter([name for name in self.names if name.startswith("w")])

    def free(self) -> str:
        """An agent that hasn't lived yet."""
        return next(self._free)

    def record(self, agent: str) -> Path:
        return self.root / f"record.{agent}"

    async def settle(self) -> None:
        """Say what the configuration and the history would say, and begin to watch."""
        self.bus = connect(self.instance)
        self.hello = await self.bus.hello()
        self.person = Person(self.bus)
        said: dict[str, tuple[Any, Any]] = {
            "config": (self._config(), "the first"),
            "history": (HistoryRestored(), self.hello.epoch),
        }
        for name, (event, position) in said.items():
            producer = await self.bus.producer(name)
            running = asyncio.create_task(producer.run())
            producer.put([event], position)
            await producer.drained()
            running.cancel()
        self.following = asyncio.create_task(
            self.person.follow(Cursor(epoch=self.hello.epoch, seq=0))
        )
        await self.person.becomes(self.names[-1], "stopped")

    def _config(self) -> ConfigChanged:
        agents = tuple(
            AgentConfig(
                name=AgentName(name),
                title=name,
                cwd=str(self.root / "home"),
                digest=self.define(
                    name=name,
                    env={
                        "SA_RECORD": str(self.record(name)),
                        "SA_CHILDREN": str(self.children),
                        "SA_IGNORE_EOF": "1" if name.startswith("slow") else "",
                    },
                ),
            )
            for name in self.names
        )
        config = PublicConfig(agents=agents, limits=Limits(maxRunningAgents=3))
        return ConfigChanged(path="/x", valid=True, config=config)

    async def lived(self, agent: str) -> Lived:
        """Lead the life."""
        me = self.person
        channel = await me.direct(agent)
        more = "!daemon" if agent.startswith("slow") else ""
        first = await me.send(channel, f"!permission !count 300 {more}")
        await me.permit((await me.asks(channel))[0], "yes")
        answers = [await me.answer(channel, first)]
        second = await me.send(channel, "!permission 2")
        await me.asks(channel, 3)
        await me.cancel(channel)
        answers.append(await me.answer(channel, second))
        assert (await me.stop(agent)).ok
        return Lived(
            answers=[(text(one), why(one)) for one in answers],
            states=[
                (one.state.value, one.stopping)
                for one in me.events
                if isinstance(one, AgentStateChanged) and one.agent == agent
            ],
            resolved=[
                (one.by, one.optionId)
                for one in me.events
                if isinstance(one, PermissionResolved) and one.channel == channel
            ],
            ups=sum(isinstance(one, FactUp) and one.agent == agent for one in me.events),
            exits=[
                (one.code, one.asked, one.taken)
                for one in me.events
                if isinstance(one, FactExited) and one.agent == agent
            ],
            received=[_kind(json.loads(line)) for line in self.received(agent)],
        )

    def received(self, agent: str) -> list[str]:
        lines = self.record(agent).read_text().splitlines()
        assert len({line.partition(" ")[0] for line in lines}) == 1, "two processes"
        return [line.partition(" ")[2] for line in lines]

    async def killed(self, name: str, window: str, agent: str) -> Lived:
        """Lead the life while ``name`` is killed in the window; it must have been."""
        self.kill(name)
        self.start(name, SK_FAIL=window)

        async def again() -> None:
            await self.died(name)
            self.start(name)

        async with asyncio.TaskGroup() as group:
            group.create_task(again())
            return await self.lived(agent)

    async def quiet(self) -> None:
        self.following.cancel()
        await self.bus.close()


def _kind(frame: dict[str, Any]) -> str:
    """A frame that the agent received, without what differs from life to life."""
    said = frame.get("method") or frame["result"]["outcome"].get("optionId", "cancelled")
    return f"{said} {frame['id']}" if "method" in frame and "id" in frame else str(said)


class World(NamedTuple):
    runner: asyncio.Runner
    windows: Windows
    undisturbed: Lived


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with rooms.folder("skw") as root, asyncio.Runner() as runner:
        windows = Windows(root)
        try:
            for service in ("bus", "router", "agents"):
                windows.start(service)
            runner.run(windows.settle())
            yield World(runner, windows, runner.run(windows.lived(windows.free())))
            runner.run(windows.quiet())
        except BaseException:
            for service in windows.processes:
                sys.stderr.write(windows.log(service))
            raise
        finally:
            windows.end()


def test_the_life_that_nobody_disturbs(world: World) -> None:
    counted = "".join(f"{k} " for k in range(300))
    lived = world.undisturbed
    assert lived.answers == [
        (f"[yes] {counted}", "end_turn"),
        ("[cancelled] [cancelled] ", "cancelled"),
    ]
    assert [state for state, _ in lived.states] == [
        *("stopped", "starting", "ready", "busy", "ready", "busy", "ready", "ready", "stopped")
    ]
    assert lived.resolved == [("cli", "yes"), ("stop", None), ("stop", None)]
    assert (lived.ups, lived.exits) == (1, [(0, True, 8)])
    assert lived.received == [
        "initialize 1",
        "session/new 2",
        "session/prompt 3",
        "yes",
        "session/prompt 5",
        "session/cancel",
        "cancelled",
        "cancelled",
    ]


@pytest.mark.parametrize("window", WINDOWS)
def test_an_executor_killed_there_changes_nothing(world: World, window: str) -> None:
    windows = world.windows
    lived = world.runner.run(windows.killed("agents", window, windows.free()))
    assert lived == world.undisturbed


@pytest.mark.parametrize("window", DECISIONS)
def test_a_router_killed_there_changes_nothing(world: World, window: str) -> None:
    windows = world.windows
    lived = world.runner.run(windows.killed("router", window, windows.free()))
    assert lived == world.undisturbed


@pytest.mark.parametrize(
    ("agent", "window"), [("slow0", "agents_after_stop"), ("slow1", "agents_before_exit")]
)
def test_killed_on_the_ladder_the_ladder_goes_on(world: World, agent: str, window: str) -> None:
    lived = world.runner.run(world.windows.killed("agents", window, agent))
    assert lived == world.undisturbed._replace(exits=[(None, True, 8)])


def test_after_all_that_only_services_are_left(world: World) -> None:
    windows = world.windows
    services = sorted(process.pid for process in windows.processes.values())
    eventually(lambda: sorted(left(windows)) == services)  # a holder goes last
    assert not any(alive(int(line)) for line in windows.children.read_text().splitlines())
    for name in windows.names:
        for line in windows.received(name):
            acp_schema.check(line)
