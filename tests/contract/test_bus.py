"""What every bus does, told once for both."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from sk_bus.client import BusClient
from sk_bus.commands import Create, Direct, Send
from sk_bus.contract import Heartbeat, Report, Resync
from sk_bus.errors import (
    EpochChangedError,
    RefusedError,
    SupersededError,
    UnreachableError,
    problem,
)
from sk_bus.events import AgentLog, CommandResult
from sk_bus.model import AgentName, BlobRef, ChannelId, CommandId, Cursor
from sk_bus.queries import Preview
from sk_bus.vocabulary import Event
from sk_bus.wire import Batch
from tests.support.patience import PATIENCE

from .conftest import Bench, producing

pytestmark = [pytest.mark.anyio, pytest.mark.process]


def line(text: str) -> AgentLog:
    return AgentLog(agent=AgentName("a"), line=text, stream="stderr")


def texts(events: list[tuple[int, Event]]) -> list[str]:
    return [event.line for _, event in events if isinstance(event, AgentLog)]


async def start(bus: BusClient) -> Cursor:
    """Before everything in the present epoch."""
    return Cursor(epoch=(await bus.hello()).epoch, seq=0)


async def events_until(bus: BusClient, last: str, after: Cursor) -> list[tuple[int, Event]]:
    """What a follower gets, up to the line ``last``."""
    got: list[tuple[int, Event]] = []
    async with asyncio.timeout(PATIENCE):
        async for batch in bus.follow(after):
            assert isinstance(batch, Batch)
            got += batch.events()
            if last in texts(batch.events()):
                break
    return got


@asynccontextmanager
async def deciding(bench: Bench) -> AsyncIterator[None]:
    """A router that answers each command with how many it has seen."""

    async def decide(ready: asyncio.Event) -> None:
        async with bench.client() as bus, producing(bus, "router") as router:
            seen = 0
            after = await start(bus)
            ready.set()
            async for batch in bus.follow(after):
                assert isinstance(batch, Batch)
                for seq, event in batch.events():
                    if isinstance(event, Direct | Create | Send):
                        seen += 1
                        result = CommandResult(id=event.id, ok=True, value=seen)
                        router.put([line(f"did {event.id}"), result], seq)

    ready = asyncio.Event()
    task = asyncio.create_task(decide(ready))
    await ready.wait()
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


# --- batches --------------------------------------------------------------------------------


async def test_numbers_have_no_hole_and_begin_after_the_epoch(bench: Bench) -> None:
    async with bench.client() as bus, producing(bus, "p") as producer:
        for n in range(50):
            producer.put([line(f"{n}.{k}") for k in range(n % 3)], n)
        producer.put([line("end")], 50)
        got = await events_until(bus, "end", await start(bus))
        hello = await bus.hello()
        assert [seq for seq, _ in got] == list(range(hello.epoch + 1, hello.head + 1))
        assert texts(got) == [f"{n}.{k}" for n in range(50) for k in range(n % 3)] + ["end"]
        await producer.drained()
        assert producer.position == 50


async def test_a_new_producer_goes_on_from_the_position_the_bus_keeps(bench: Bench) -> None:
    async with bench.client() as bus:
        async with producing(bus, "p") as producer:
            assert producer.position is None
            producer.put([line("1")], {"agents": {"a": [1, 2]}})
            await producer.drained()
        bench.kill()
        assert (await bus.producer("p")).position == {"agents": {"a": [1, 2]}}
        assert (await bus.producer("other")).position is None


async def test_an_empty_put_moves_only_the_position_and_is_seen(bench: Bench) -> None:
    async with bench.client() as bus, producing(bus, "p") as producer:
        head = (await bus.hello()).head
        follow = bus.follow(Cursor(epoch=(await bus.hello()).epoch, seq=0))
        producer.put([line("1")], 1)
        await anext(follow)
        producer.put([], 7)
        async with asyncio.timeout(PATIENCE):
            batch = await anext(follow)
        assert isinstance(batch, Batch)
        assert (batch.count, batch.producer, batch.position) == (0, "p", 7)
        assert (await bus.hello()).head == head + 1


async def test_two_processes_under_one_name_leave_only_the_first_to_move(bench: Bench) -> None:
    async with bench.client() as bus:
        old, new = await bus.producer("p"), await bus.producer("p")
        async with asyncio.timeout(PATIENCE):
            running = asyncio.create_task(new.run())
            new.put([line("new")], 1)
            await new.drained()
            running.cancel()
            old.put([line("old")], 2)
            with pytest.raises(SupersededError) as caught:
                await old.run()
        assert caught.value.position == 1
        assert texts(await events_until(bus, "new", await start(bus))) == ["new"]


async def test_events_that_leave_the_position_are_published_once(bench: Bench) -> None:
    async with bench.client() as bus, producing(bus, "p") as producer:
        for n in range(5):
            producer.put([line(str(n))], "same")
            await producer.drained()
        assert texts(await events_until(bus, "4", await start(bus))) == list("01234")


async def test_a_producer_of_an_older_epoch_is_told_so(bench: Bench) -> None:
    async with bench.client() as bus:
        producer = await bus.producer("p")
        bench.lose_journal()
        producer.put([line("1")], 1)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(EpochChangedError):
                await producer.run()


# --- followers ------------------------------------------------------------------------------


async def test_a_follower_from_anywhere_gets_exactly_what_is_after_it(bench: Bench) -> None:
    async with bench.client() as bus, producing(bus, "p") as producer:
        producer.put([line(str(n)) for n in range(6)], 1)
        producer.put([line(str(n)) for n in range(6, 10)], 2)
        await producer.drained()
        epoch = (await bus.hello()).epoch
        for after in range(10):  # also inside a batch
            got = await events_until(bus, "9", Cursor(epoch=epoch, seq=epoch + after))
            assert texts(got) == [str(n) for n in range(after, 10)]
            assert got[0][0] == epoch + after + 1


async def test_a_follower_without_an_epoch_begins_at_the_head(bench: Bench) -> None:
    async with bench.client() as bus, producing(bus, "p") as producer:
        producer.put([line("old")], 1)
        await producer.drained()
        head = (await bus.hello()).head
        follow = bus.follow(Cursor(epoch=0, seq=0))
        first = await anext(follow)
        assert isinstance(first, Resync)
        assert first.head == head
        producer.put([line("new")], 2)
        batch = await anext(follow)
        assert isinstance(batch, Batch)
        assert (batch.first, texts(batch.events())) == (head + 1, ["new"])


@pytest.mark.parametrize("seq", [1, 2**60])
async def test_a_follower_from_nowhere_is_told_to_resynchronise(bench: Bench, seq: int) -> None:
    async with bench.client() as bus:
        hello = await bus.hello()
        async with asyncio.timeout(PATIENCE):
            first = await anext(bus.follow(Cursor(epoch=hello.epoch, seq=seq)))
        assert first == Resync(epoch=hello.epoch, head=hello.head, floor=hello.floor)


async def test_a_follower_learns_of_a_new_epoch(bench: Bench) -> None:
    async with bench.client() as bus:
        before = await bus.hello()
        follow = bus.follow(Cursor(epoch=before.epoch, seq=0))
        async with producing(bus, "p") as producer:
            producer.put([line("1")], 1)
            await anext(follow)
        bench.lose_journal()
        async with asyncio.timeout(PATIENCE):
            told = await anext(follow)
        assert isinstance(told, Resync)
        assert told.epoch > before.head


async def test_what_is_pruned_is_gone_for_followers_too(bench: Bench) -> None:
    async with bench.client() as bus, producing(bus, "p") as producer:
        hello = await bus.hello()
        producer.put([line("1"), line("2")], 1)
        await producer.drained()
        producer.put([line("3")], 2)
        await producer.drained()
        for service in ("agents", "history", "config", "router"):
            floor = hello.epoch + 3 if service == "router" else None
            report = Report(
                service=service, pid=1, epoch=hello.epoch, cursor=hello.epoch + 3, floor=floor
            )
            await bus.report(report)
        assert await bus.prune() == hello.epoch + 3
        assert texts(await events_until(bus, "3", Cursor(epoch=hello.epoch, seq=0))) == ["3"]
        told = await anext(bus.follow(Cursor(epoch=hello.epoch, seq=hello.epoch + 1)))
        assert isinstance(told, Resync)


async def test_reports_come_back_in_heartbeats(bench: Bench) -> None:
    async with bench.client() as bus:
        hello = await bus.hello()
        follow = bus.follow(await start(bus), heartbeats=True)
        reading = asyncio.ensure_future(anext(follow))
        report = Report(service="x", pid=7, epoch=hello.epoch, cursor=5, position=[1, {"a": 2}])
        async with asyncio.timeout(PATIENCE):
            assert await bus.report(report) == hello
            beat: Any = await reading
            while not (isinstance(beat, Heartbeat) and "x" in beat.reports):
                await bus.report(report)
                beat = await anext(follow)
        assert beat.reports["x"].position == [1, {"a": 2}]
        assert beat.reports["x"].heard > 0


async def test_who_wants_heartbeats_alone_is_given_nothing_else(bench: Bench) -> None:
    async with bench.client() as bus, producing(bus, "p") as producer:
        epoch = (await bus.hello()).epoch
        beats = bus.beats()
        async with asyncio.timeout(PATIENCE):
            first = await anext(beats)
            producer.put([line("1")], 1)
            await producer.drained()
            await bus.report(Report(service="x", pid=7, epoch=epoch, cursor=5))
            second = await anext(beats)
            while second.head == epoch:  # it was on its way before
                second = await anext(beats)
        assert (first.epoch, first.head) == (epoch, epoch)
        assert (second.epoch, second.head) == (epoch, epoch + 1)


# --- commands -------------------------------------------------------------------------------


async def test_a_command_ends_once_however_often_it_is_sent(bench: Bench) -> None:
    await bench.open()
    async with deciding(bench), bench.client() as bus:
        command = Direct(id=CommandId("k"), agent=AgentName("a"))
        first = await bus.command(command)
        bench.kill()
        assert await bus.command(command) == first
        assert await bus.outcome("k") == first
        other = await bus.command(Direct(id=CommandId("k2"), agent=AgentName("a")))
        assert (first.result.value, other.result.value) == (1, 2)
        got = await events_until(bus, "did k2", await start(bus))
        assert texts(got) == ["did k", "did k2"]
        assert first.seq < other.seq


async def test_a_command_id_with_other_content_is_refused(bench: Bench) -> None:
    await bench.open()
    async with deciding(bench), bench.client() as bus:
        await bus.command(Direct(id=CommandId("k"), agent=AgentName("a")))
        with pytest.raises(RefusedError) as caught:
            await bus.command(Direct(id=CommandId("k"), agent=AgentName("b")))
        assert caught.value.problem.id == "command-id-used"


@pytest.mark.parametrize("id_", ["", "x" * 65])
async def test_a_command_needs_an_id_of_at_most_64_characters(bench: Bench, id_: str) -> None:
    async with bench.client() as bus:
        with pytest.raises(RefusedError) as caught:
            await bus.command(Direct(id=CommandId(id_), agent=AgentName("a")))
        assert caught.value.problem.id == "malformed-command"


async def test_commands_wait_until_the_history_has_spoken(bench: Bench) -> None:
    async with deciding(bench), bench.client() as bus:
        head = (await bus.hello()).head
        command = Direct(id=CommandId("k"), agent=AgentName("a"))
        with pytest.raises(UnreachableError):
            await bus.command(command, timeout=0.3)
        assert (await bus.hello()).head == head
        sent = asyncio.create_task(bus.command(command))
        await bench.open()
        assert (await sent).result.ok


async def test_a_long_text_travels_as_a_blob(bench: Bench) -> None:
    await bench.open()
    async with deciding(bench), bench.client() as bus:
        text = "é" * 10_000
        await bus.command(Send(id=CommandId("k"), channel=ChannelId("c"), text=text))
        got = await events_until(bus, "did k", await start(bus))
        (sent,) = [event for _, event in got if isinstance(event, Send)]
        assert isinstance(sent.text, BlobRef)
        assert sent.text.length == 20_000


async def test_nobody_decides_and_the_caller_is_told_in_time(bench: Bench) -> None:
    await bench.open()
    async with bench.client() as bus:
        with pytest.raises(UnreachableError):
            await bus.command(Direct(id=CommandId("k"), agent=AgentName("a")), timeout=0.3)
        assert await bus.outcome("k") is None


# --- queries --------------------------------------------------------------------------------


async def test_a_query_that_nobody_answers_ends_at_its_deadline(bench: Bench) -> None:
    async with bench.client() as bus:
        with pytest.raises(UnreachableError) as caught:
            await bus.query(Preview(channel=ChannelId("c"), text=""), timeout=0.2)
        assert caught.value.problem == problem(
            "unreachable", caught.value.problem.message, **caught.value.problem.params
        )
