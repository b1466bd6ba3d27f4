"""What agents remember over their lives and ours, through all real services.

Each agent takes sessions up in its own way, or badly. What was shown is never shown again, a memory
that is lost is said once, and then the agent is told what was said.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import Iterator

import pytest
import yaml

from sk_bus.events import MessageUpdated
from sk_bus.model import Message, Role
from tests.support.conversing import Person, person, text
from tests.support.instance import TestInstance
from tests.support.shim_client import AGENT

pytestmark = pytest.mark.process

KEEPS = {
    "resumes": {"SA_RESUME": "yes", "SA_LOAD": "yes"},
    "resumes-aloud": {"SA_RESUME": "replays"},
    "loads": {"SA_LOAD": "yes"},
    "loads-null": {"SA_LOAD": "null"},
    "loads-late": {"SA_LOAD": "after"},
}
LOSES = {
    "never": {},
    "nothing": {"SA_LOAD": "nothing", "SA_CLOSE": "1"},
    "e32002": {"SA_LOAD": "-32002"},
    "e32001": {"SA_RESUME": "-32001", "SA_LOAD": "-32001"},
    "e32602": {"SA_LOAD": "-32602"},
    "e32603": {"SA_LOAD": "-32603"},
}


class World:
    def __init__(self, instance: TestInstance) -> None:
        self.instance = instance

    def methods(self, agent: str) -> list[str]:
        """What the agent was asked for, over all its lives."""
        lines = (self.instance.directory / f"record.{agent}").read_text().splitlines()
        frames = [json.loads(line.partition(" ")[2]) for line in lines]
        return [one["method"] for one in frames if "method" in one and "id" in one]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with TestInstance(config=None) as instance:
        (instance.directory / "sessions").mkdir()
        agents = [
            {
                "name": name,
                "command": sys.executable,
                "args": [str(AGENT)],
                "env": environment
                | {
                    "SA_RECORD": str(instance.directory / f"record.{name}"),
                    "SA_SESSIONS": str(instance.directory / "sessions"),
                },
            }
            for name, environment in (KEEPS | LOSES).items()
        ]
        limits = {"maxRunningAgents": 50}
        instance.config.write_text(yaml.safe_dump({"limits": limits, "agents": agents}))
        instance.up()
        yield World(instance)


async def two_lives(me: Person, agent: str) -> tuple[Message, list[Message]]:
    """A message in each of two lives of the agent; the second answer, and all that was told."""
    channel = await me.direct(agent)
    first = await me.say(channel, "!say pineapple")
    assert text(first) == "pineapple"
    restarted = await me.restart(agent)
    assert restarted.ok, restarted.problem
    second = await me.say(channel, "!echo")
    told = [
        one.message
        for one in me.events
        if isinstance(one, MessageUpdated) and one.channel == channel and one.message.done
    ]
    return second, told


def lost(told: list[Message]) -> list[Message]:
    return [one for one in told if one.code == "memory-lost"]


@pytest.mark.parametrize("agent", KEEPS)
def test_a_session_goes_on_and_nothing_is_shown_twice(agent: str, world: World) -> None:
    async def whole() -> None:
        async with person(world.instance.paths) as me:
            second, told = await two_lives(me, agent)
            assert [block["text"] for block in json.loads(text(second))] == ["!echo"]
            assert lost(told) == []
            answers = {one.id: text(one) for one in told if one.role is Role.AGENT}
            assert list(answers.values()) == ["pineapple", text(second)]

    asyncio.run(whole())
    way = "session/resume" if agent.startswith("resumes") else "session/load"
    asked = world.methods(agent)
    assert asked == [
        *("initialize", "session/new", "session/prompt"),
        *("initialize", way, "session/prompt"),
    ]


@pytest.mark.parametrize("agent", LOSES)
def test_a_memory_that_is_lost_is_said_once_and_the_past_is_told(agent: str, world: World) -> None:
    async def whole() -> None:
        async with person(world.instance.paths) as me:
            second, told = await two_lives(me, agent)
            past, message = [block["text"] for block in json.loads(text(second))]
            assert message == "!echo"
            assert past.index("!say pineapple") < past.index(f"{agent} (you):\npineapple")
            (said,) = {one.id: one for one in lost(told)}.values()
            assert (said.agent, said.answers) == (agent, None)
            channel = second.channel
            third = await me.say(channel, "!echo")
            assert [block["text"] for block in json.loads(text(third))] == ["!echo"]

    asyncio.run(whole())
    asked = world.methods(agent)
    assert asked.count("session/new") == 2
    assert asked.count("session/load") <= 1


def test_a_lost_journal_loses_no_memory(world: World) -> None:
    """A new epoch: sessions and the past come from the history."""

    async def before() -> None:
        async with person(world.instance.paths) as me:
            for agent in ("loads", "never"):
                await me.say(await me.direct(agent), "!say mango")

    async def after() -> None:
        async with person(world.instance.paths) as me:
            kept = await me.say(await me.direct("loads"), "!echo")
            assert [block["text"] for block in json.loads(text(kept))] == ["!echo"]
            told = await me.say(await me.direct("never"), "!echo")
            past, message = [block["text"] for block in json.loads(text(told))]
            assert message == "!echo"
            assert "never (you):\nmango" in past

    asyncio.run(before())
    world.instance.down()
    shutil.rmtree(world.instance.data / "journal")
    world.instance.up()
    asyncio.run(after())
