"""Several agents in one channel, through all real services: each reads what the other was told, one
answers after the other, and whatever dies meanwhile changes nothing.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from sk_bus.commands import AddMember, Create, Delete, EditQueued, Prepare, RemoveQueued
from sk_bus.errors import SidekicksError
from sk_bus.events import CommandsChanged, PermissionRequested, PermissionResolved
from sk_bus.model import AgentName, ChannelId, Message
from sk_bus.queries import Commands, Conversation, Preview
from tests.support.conversing import Person, person, text
from tests.support.instance import TestInstance

pytestmark = pytest.mark.process

AGENTS = """\
agents:
  - name: alice
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "0"}
  - name: bob
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "0"}
  - name: carol
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "0"}
  - name: ruled
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "0"}
    permissions:
      - {kind: execute, command: "rm -r /demo/*", answer: reject_once}
"""


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    with TestInstance(config=AGENTS) as made:
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


# --- turns, the queue and Prepare, while components die -------------------------------------


async def asked(me: Person, room: ChannelId, count: int) -> PermissionRequested:
    """The latest of ``count`` permission requests in the channel."""
    return (await me.asks(room, count))[count - 1]


def test_what_dies_between_two_answers_changes_neither(instance: TestInstance) -> None:
    async def whole() -> None:
        async with person(instance.paths) as me:
            room = await channel(me, "deaths")
            message = await me.send(room, "@alice @bob permission")
            for count, names in enumerate([("router", "agents"), ("bus", "router")], start=1):
                request = await asked(me, room, count)
                for name in names:
                    instance.kill(name)
                assert (await me.permit(request, "allow-once")).ok
            await me.answer(room, message)
            told = me.answers(message)
            assert [(one.agent, one.stopReason) for one in told] == [
                ("alice", "end_turn"),
                ("bob", "end_turn"),
            ]

    asyncio.run(whole())


def test_what_waits_is_edited_and_taken_back_once(instance: TestInstance) -> None:
    async def whole() -> None:
        async with person(instance.paths) as me:
            room = await channel(me, "queue")
            await me.send(room, "@alice permission")
            request = await asked(me, room, 1)
            one, two, three = [await me.send(room, f"@bob plan {n}") for n in range(3)]
            instance.kill("router")
            edited = {"channel": room, "messageId": one, "text": "@alice the code is 4711"}
            results = await asyncio.gather(
                me.give(EditQueued, **edited),
                me.give(RemoveQueued, channel=room, messageId=two),
                me.give(RemoveQueued, channel=room, messageId=two),
            )
            assert sorted(result.ok for result in results) == [False, True, True]
            assert (await me.permit(request, "allow-once")).ok
            await me.answer(room, three)
            assert [[told.agent for told in me.answers(each)] for each in (one, two, three)] == [
                ["alice"],
                [],
                ["bob"],
            ]
            assert "4711" in text(me.answers(one)[0])
            late = await me.give(EditQueued, **edited)
            assert late.problem is not None
            assert late.problem.id == "not-waiting"

    asyncio.run(whole())


def test_a_channel_is_deleted_in_mid_answer_and_its_agents_live(instance: TestInstance) -> None:
    async def whole() -> None:
        async with person(instance.paths) as me:
            room = await channel(me, "doomed")
            await me.send(room, "@alice @bob permission")
            await asked(me, room, 1)
            deleted = await me.give(Delete, channel=room)
            assert deleted.ok, deleted.problem
            with pytest.raises(SidekicksError):
                await me.ask(Conversation(channel=room))
            assert (await me.becomes("alice", "ready")).error is None

    asyncio.run(whole())


def test_commands_are_prepared_once_and_known_after_the_next_launch(
    instance: TestInstance,
) -> None:
    async def prepared(name: str) -> tuple[Any, Any]:
        async with person(instance.paths) as me:
            room = await channel(me, name)
            assert (await me.give(AddMember, channel=room, agent=AgentName("carol"))).ok
            done = await me.give(Prepare, channel=room)
            assert done.ok, done.problem
            if done.value["opened"]:
                await me.until(lambda: any(isinstance(one, CommandsChanged) for one in me.events))
            commands = await me.ask(Commands(agent=AgentName("carol")))
            return done.value["opened"], [one.name for one in commands]

    opened, commands = asyncio.run(prepared("first launch"))
    assert (opened, "plan" in commands) == (["carol"], True)
    instance.down()
    instance.up()
    assert asyncio.run(prepared("second launch")) == ([], commands)


def test_a_rule_of_the_file_answers_and_the_channel_says_so(instance: TestInstance) -> None:
    async def whole() -> None:
        async with person(instance.paths) as me:
            room = await channel(me, "rules")
            refused = await me.say(room, "@ruled permission")
            assert "You refused" in text(refused)
            assert me.asked == []
            (resolved,) = [one for one in me.events if isinstance(one, PermissionResolved)]
            assert (resolved.by, resolved.optionId) == ("rule", "reject-once")
            kept = (await me.ask(Conversation(channel=room))).messages
            (said,) = [one for one in kept if one.code == "permission-ruled"]
            assert said.error is not None
            assert "command: rm -r /demo/*" in said.error.message

    asyncio.run(whole())


def test_preview_names_those_who_then_answer(instance: TestInstance) -> None:
    async def whole() -> None:
        async with person(instance.paths) as me:
            room = await channel(me, "previews")
            words = "@bob and @alice: long 3, @dan"
            view = await me.ask(Preview(channel=room, text=words))
            assert [(one.agent, one.joins) for one in view.answering] == [
                ("bob", True),
                ("alice", True),
            ]
            assert view.unknown == ("dan",)
            message = await me.send(room, words)
            await me.answer(room, message)
            assert [one.agent for one in me.answers(message)] == ["bob", "alice"]

    asyncio.run(whole())
