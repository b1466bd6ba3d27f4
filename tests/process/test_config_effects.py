"""Editing the file of a running Sidekicks: what changes at once, and what is left alone."""

import asyncio
from collections.abc import Iterator

import pytest

from sk_bus.events import ConfigChanged
from sk_bus.internal import FactExited
from sk_bus.queries import Current, CurrentConfig, ListAgents
from sk_demo.scenes import long_text
from tests.support.conversing import Person, person
from tests.support.instance import TestInstance, running

pytestmark = pytest.mark.process

BEFORE = """\
theme: dark
limits: {maxRunningAgents: 4}
agents:
  - {name: talks, command: sk-demo-agent, env: {SK_DEMO_PACE: "3"}}
  - {name: changes, command: sk-demo-agent}
  - {name: leaves, command: sk-demo-agent}
  - {name: stays, command: sk-demo-agent}
"""
# Another order, title, theme; an argument more for one, and one fewer of them.
AFTER = """\
theme: light
language: fr
limits: {maxRunningAgents: 4}
agents:
  - {name: stays, command: sk-demo-agent, title: Still here}
  - {name: talks, command: sk-demo-agent, env: {SK_DEMO_PACE: "3"}, title: The talker}
  - {name: changes, command: sk-demo-agent, args: [--more]}
"""
BROKEN = ("agents: [", "theme: blue", "\t", "agents: 3", "agents: 'a", "a: &a [*a]")


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    with running(config=BEFORE) as made:
        yield made


def ended(one: Person) -> list[str]:
    return [event.agent for event in one.events if isinstance(event, FactExited)]


def configs(one: Person) -> list[ConfigChanged]:
    return [event for event in one.events if isinstance(event, ConfigChanged)]


def test_the_file_is_edited_while_an_agent_answers(instance: TestInstance) -> None:
    async def script() -> None:
        async with person(instance.paths) as one:
            for agent in ("changes", "leaves", "stays"):
                assert (await one.start(agent)).ok
            channel = await one.direct("talks")
            message = await one.send(channel, "long 100000")
            await one.until(lambda: one.grown(message))

            for count, broken in enumerate(BROKEN, 1):
                instance.config.write_text(broken)
                await one.until(lambda count=count: len(configs(one)) == count)
            assert [one.valid for one in configs(one)] == [False] * len(BROKEN)
            assert ended(one) == []

            instance.config.write_text(AFTER)
            await one.until(lambda: configs(one)[-1].valid)
            await one.until(lambda: ended(one) == ["leaves"])
            await one.until(lambda: one.states["changes"].outdated)
            shown = await one.ask(ListAgents())
            assert [(agent.name, agent.title, agent.outdated) for agent in shown] == [
                ("stays", "Still here", False),
                ("talks", "The talker", False),
                ("changes", "changes", True),
            ]
            current: CurrentConfig = await one.ask(Current())
            assert (current.theme, current.language) == ("light", "fr")

            # What a restart applies is applied; the answer went on all the while.
            assert (await one.restart("changes")).ok
            assert not one.states["changes"].outdated
            so_far = len(one.grown(message))
            await one.until(lambda: len(one.grown(message)) > so_far + 100)
            await one.cancel(channel)
            answer = await one.answer(channel, message)
            assert answer.stopReason == "cancelled"
            assert long_text(100_000).startswith(one.grown(message))
            assert ended(one) == ["leaves", "changes"]

    asyncio.run(script())


def test_a_file_is_checked_where_no_sidekicks_runs() -> None:
    with TestInstance(config=None) as nobody:
        folder = nobody.directory / "project"
        folder.mkdir()
        (folder / "run").touch(mode=0o700)
        file = folder / "my.yaml"
        file.write_text("theme: blue\nagents:\n- name: no\n  command: ./run\n")
        checked = nobody.cli("config", "validate", str(file), check=False)
        first, second = checked.stdout.splitlines()
        assert checked.returncode == 6
        assert first == f"{file}:1:8: error: theme is one of: system, light, dark"
        assert second.startswith(f"{file}:3:9: error: name must be text, but is true or false")
        # Relative to its own folder, wherever it is checked from.
        file.write_text("agents: [{name: a, command: ./run}, {name: b, command: ./none}]")
        (line,) = nobody.cli("config", "validate", str(file)).stdout.splitlines()
        assert line.startswith(f"{file}:1:56: warning: ./none is no program that can be run")


def test_a_running_one_checks_a_file_in_another_folder(instance: TestInstance) -> None:
    folder = instance.directory / "elsewhere"
    folder.mkdir()
    (folder / "run").touch(mode=0o700)
    file = folder / "my.yaml"
    file.write_text("agents: [{name: a, command: ./run, mine: 1}]")
    checked = instance.cli("config", "validate", str(file), check=False)
    assert (checked.returncode, len(checked.stdout.splitlines())) == (6, 1)
    assert checked.stdout.startswith(f"{file}:1:36: err")
