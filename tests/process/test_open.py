"""Another configuration file, with answers under way, over kills, and back."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from websockets.exceptions import ConnectionClosed

from sk_bus import paths
from sk_bus.client import BusClient, connect
from sk_bus.commands import Cancel, Direct, Open, Send
from sk_bus.contract import Outcome
from sk_bus.errors import SidekicksError
from sk_bus.model import AgentName, CommandId, Role
from sk_bus.process import take
from sk_bus.queries import (
    SERVICES,
    Conversation,
    ConversationView,
    Current,
    CurrentConfig,
    ListAgents,
    ListChannels,
    Recent,
)
from tests.support.instance import TestInstance, running
from tests.support.page_client import PageClient
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process

HERE = """\
agents:
  - name: demo
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "2"}
"""
THERE = """\
theme: light
agents:
  - name: other
    command: sk-demo-agent
"""
BOUND = PATIENCE


class Pair:
    """A running instance, and the two files that it goes between."""

    def __init__(self, instance: TestInstance) -> None:
        self.instance = instance
        self.here = instance.config
        self.there = instance.directory / "there" / "other.yaml"
        self.there.parent.mkdir()
        self.there.write_text(THERE)
        self.agents = {self.here: "demo", self.there: "other"}
        self.said: dict[Path, tuple[str, str]] = {}

    def run(self, script: Callable[[BusClient], Awaitable[None]]) -> None:
        async def whole() -> None:
            async with asyncio.timeout(3 * BOUND), connect(self.instance.paths) as bus:
                await script(bus)

        asyncio.run(whole())


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with running(config=HERE) as instance:
        yield Pair(instance)


async def opened(bus: BusClient, path: Path) -> Outcome:
    """Ask for it; the result means that it was accepted."""
    return await bus.command(Open(id=CommandId(str(uuid4())), path=str(path)), timeout=BOUND)


async def in_force(bus: BusClient, path: Path, agent: str) -> CurrentConfig:
    """Wait until the file is in force and its agent is known."""
    async with asyncio.timeout(BOUND):
        while True:
            with suppress(SidekicksError):
                current: CurrentConfig = (await bus.query(Current(), timeout=2.0)).value
                agents = (await bus.query(ListAgents(), timeout=2.0)).value
                hello = await bus.hello(timeout=2.0)
                if (
                    current.path == hello.config == str(path)
                    and [one.name for one in agents] == [agent]
                    and hello.open
                ):
                    return current
            await asyncio.sleep(0.05)  # nothing tells of a bus that is being replaced


async def asked(bus: BusClient, agent: str, text: str) -> tuple[str, str]:
    """Send a text to an agent; channel and message."""
    made = await bus.command(Direct(id=CommandId(str(uuid4())), agent=AgentName(agent)))
    assert made.result.ok, made.result.problem
    channel = made.result.value
    sent = await bus.command(Send(id=CommandId(str(uuid4())), channel=channel, text=text))
    assert sent.result.ok, sent.result.problem
    return channel, sent.result.value


async def conversation(bus: BusClient, channel: str) -> ConversationView:
    view: ConversationView = (await bus.query(Conversation(channel=channel))).value  # type: ignore[arg-type]
    return view


async def answering(bus: BusClient, channel: str, message: str) -> None:
    """Wait until words of the answer to a message have come."""
    async with asyncio.timeout(BOUND):
        while True:
            messages = (await conversation(bus, channel)).messages
            if any(one.answers == message and one.parts for one in messages):
                return
            await asyncio.sleep(0.02)


def agents_of(instance: TestInstance) -> list[str]:
    return [line for line in instance.processes().values() if "sk-demo-agent" in line]


def reconnected(instance: TestInstance, place: tuple[int, int]) -> PageClient:
    """The page's next connection: it tries again until the gateway is back."""
    until = time.monotonic() + BOUND
    while True:
        try:
            return PageClient(instance.port, instance.token, resume=place)
        except OSError:
            assert time.monotonic() < until, "the gateway never came back"
            time.sleep(0.05)


def test_there_and_back_with_an_answer_under_way_and_a_page_open(pair: Pair) -> None:
    instance = pair.instance
    before = instance.port, instance.token
    with PageClient(*before) as page:
        channel = page.call("Direct", agent="demo")["value"]
        first = page.call("Send", channel=channel, text="echo before")["value"]
        page.until(lambda page: any(not turn["busy"] for turn in page.of("turn:changed")))
        second = page.call("Send", channel=channel, text="long 20000")["value"]
        page.until(lambda page: page.of("message:updated")[-1]["message"].get("answers") == second)
        result = page.call("Open", path=str(pair.there))
        assert (result["ok"], result["value"]) == (
            True,
            {"path": str(pair.there), "already": False},
        )
        with suppress(ConnectionClosed):
            while page.hear(BOUND)["t"] != "resync":
                pass

    async def there(bus: BusClient) -> None:
        current = await in_force(bus, pair.there, "other")
        assert (current.theme, current.source, current.valid) == ("light", "remembered", True)
        assert current.historyProblem is None
        assert (await bus.query(ListChannels())).value == ()
        assert agents_of(instance) == []
        assert (await bus.query(Recent())).value[:2] == (str(pair.there), str(pair.here))
        assert (await opened(bus, pair.here)).result.ok

    pair.run(there)
    assert (instance.port, instance.token) == before

    async def back(bus: BusClient) -> None:
        await in_force(bus, pair.here, "demo")
        view = await conversation(bus, channel)
        # The answer that the close interrupted isn't kept, what was finished is.
        assert [one.role for one in view.messages] == ["user", "agent", "user"]
        assert [view.messages[0].id, view.messages[2].id] == [first, second]
        assert all(one.done for one in view.messages)
        assert (view.busy, view.queued) == (False, 0)

    pair.run(back)
    with reconnected(instance, page.place) as again:
        assert (again.welcome["resumed"], again.welcome["config"]) == (False, str(pair.here))


def test_what_cant_be_opened_stops_nothing(pair: Pair) -> None:
    async def script(bus: BusClient) -> None:
        await in_force(bus, pair.here, "demo")
        channel, message = await asked(bus, "demo", "long 20000")
        await answering(bus, channel, message)
        for path, id_ in [(pair.there.with_name("none"), "no-such-file"), (Path("/"), "is-folder")]:
            refused = (await opened(bus, path)).result
            assert refused.problem is not None
            assert (refused.ok, refused.problem.id) == (False, id_)
        already = (await opened(bus, pair.here.parent / ".." / "sidekicks" / pair.here.name)).result
        assert (already.ok, already.value) == (True, {"path": str(pair.here), "already": True})
        view = await conversation(bus, channel)
        assert (view.busy, view.messages[-1].done) == (True, False)
        await bus.command(Cancel(id=CommandId(str(uuid4())), channel=view.channel.id))

    pair.run(script)


@pytest.mark.parametrize("victims", [["bus"], list(SERVICES)])
def test_killed_on_the_way_it_gets_there_all_the_same(pair: Pair, victims: list[str]) -> None:
    async def script(bus: BusClient) -> None:
        now = Path((await bus.hello(timeout=BOUND)).config)
        agent = pair.agents[now]
        to = pair.there if now == pair.here else pair.here
        await in_force(bus, now, agent)
        channel, message = await asked(bus, agent, "long 20000")
        await answering(bus, channel, message)
        pair.said[now] = channel, message
        opening = asyncio.create_task(opened(bus, to))
        pair.instance.kill_together(*victims)
        assert (await opening).result.ok
        await in_force(bus, to, pair.agents[to])
        assert agents_of(pair.instance) == []
        if to in pair.said:
            channel, message = pair.said[to]
            *_, last = (await conversation(bus, channel)).messages
            # Behind the question at most a word on the memory of its agent: no half an answer.
            assert message in (last.id, last.answers) or last.code == "memory-lost"
            assert last.role is not Role.AGENT

    pair.run(script)


def test_a_file_whose_history_another_holds_is_opened_in_memory(pair: Pair) -> None:
    third = pair.there.with_name("third.yaml")
    third.write_text("agents: [{name: third, command: sk-demo-agent}]")
    data = pair.instance.data.with_name(paths.hashed(paths.identity(third)))
    held = take(paths.private(data) / "bus.lock")
    assert held is not None

    async def script(bus: BusClient) -> None:
        now = Path((await bus.hello(timeout=BOUND)).config)
        await in_force(bus, now, pair.agents[now])
        assert (await opened(bus, third)).result.ok
        current = await in_force(bus, third, "third")
        assert "another Sidekicks uses it" in (current.historyProblem or "")
        channel, message = await asked(bus, "third", "echo still answered")
        await answering(bus, channel, message)
        assert (await opened(bus, now)).result.ok
        assert (await in_force(bus, now, pair.agents[now])).historyProblem is None

    try:
        pair.run(script)
        assert [path.name for path in data.iterdir()] == ["bus.lock"]
    finally:
        os.close(held)
