"""Two agents in one channel, through all real services: each reads what the other was told."""

import asyncio
from collections.abc import Iterator

import pytest

from sk_bus.commands import Create
from sk_bus.model import ChannelId, Message
from tests.support.conversing import Person, person, text
from tests.support.instance import TestInstance

pytestmark = pytest.mark.process

TWO = """\
agents:
  - name: alice
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "0"}
  - name: bob
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "0"}
"""


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    with TestInstance(config=TWO) as made:
        made.up()
        yield made


async def channel(me: Person, name: str) -> ChannelId:
    made = await me.give(Create, name=name)
    assert made.ok, made.problem
    return ChannelId(made.value)


def answer(message: Message) -> tuple[str, str]:
    return message.agent, text(message)


def test_the_second_repeats_the_code_that_the_first_was_told(instance: TestInstance) -> None:
    async def whole() -> None:
        async with person(instance.paths) as me:
            room = await channel(me, "codes")
            told = await me.say(room, "@alice the code is heron-4711, please remember it")
            assert told.agent == "alice"
            asked = await me.say(room, "@bob what is the code?")
            assert answer(asked) == ("bob", "The code is **heron-4711**: you said so.")

    asyncio.run(whole())


def test_one_whose_memory_was_lost_is_told_and_so_is_the_other(instance: TestInstance) -> None:
    async def whole() -> None:
        async with person(instance.paths) as me:
            room = await channel(me, "restarts")
            await me.say(room, "@alice the code is quartz")
            restarted = await me.restart("alice")
            assert restarted.ok, restarted.problem
            again = await me.say(room, "@alice which code was it?")
            assert answer(again) == ("alice", "The code is **quartz**: you said so.")
            after = await me.say(room, "@bob what is the code?")
            assert answer(after) == ("bob", "The code is **quartz**: you said so.")

    asyncio.run(whole())
