"""The router's shell on a bus in memory: it takes up its work where another left it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sk_bus import assembly
from sk_bus.client import BusClient
from sk_bus.commands import Delete, Direct, Open, Send, Shutdown
from sk_bus.contract import Producer
from sk_bus.errors import RefusedError, problem
from sk_bus.events import AgentLog, MessageDelta, MessageUpdated
from sk_bus.internal import (
    DoSend,
    DoStart,
    DoStop,
    FactExited,
    FactFrame,
    FactUp,
    FileClosed,
    FileOpenable,
    HistoryRestored,
    MemoryChanged,
)
from sk_bus.memory import MemoryBus
from sk_bus.model import AgentName, BlobRef, Cursor, Role
from sk_bus.paths import Instance
from sk_bus.queries import Preview
from sk_bus.service import Service
from sk_bus.vocabulary import Event
from sk_bus.wire import Batch
from sk_router import service as shell
from sk_router.decide import decide
from sk_router.snapshots import SnapshotFiles
from sk_router.state import State
from tests.support.patience import PATIENCE
from tests.support.playbook import chunk, configured, folded, update

ALICE = AgentName("alice")


def once(body: Callable[[Path], Awaitable[None]]) -> Callable[[Path], None]:
    def test(tmp_path: Path) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(PATIENCE):
                await body(tmp_path)

        asyncio.run(bounded())

    test.__name__ = body.__name__
    return test


class Executor:
    """What carries out orders, with an agent that answers a prompt by its own words."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self.lines: list[tuple[int, int]] = []
        self.words = ["one ", "two ", "three"]
        self.held = asyncio.Event()
        self.held.set()

    async def run(self, bus: BusClient) -> None:
        async for batch in bus.follow(Cursor(epoch=bus_epoch(bus), seq=0)):
            if isinstance(batch, Batch):
                for seq, event in batch.events():
                    await self._obey(seq, event)

    async def _obey(self, seq: int, event: Event) -> None:
        match event:
            case DoStart(agent=agent, inc=inc):
                self._producer.put([FactUp(agent=agent, inc=inc, pid=1)], seq)
            case DoSend(agent=agent, inc=inc, n=n, line=line):
                self.lines.append((inc, n))
                await self._answer(seq, agent, inc, json.loads(line))
            case DoStop(agent=agent, inc=inc):
                gone = FactExited(agent=agent, inc=inc, taken=0, asked=True, code=0)
                self._producer.put([gone], seq)

    async def _answer(self, seq: int, agent: AgentName, inc: int, frame: dict[str, Any]) -> None:
        def said(data: Any) -> FactFrame:
            return FactFrame(agent=agent, inc=inc, end=0, line=json.dumps(data))

        match frame["method"]:
            case "initialize":
                answers = [said({"id": frame["id"], "result": {"protocolVersion": 1}})]
            case "session/new":
                answers = [said({"id": frame["id"], "result": {"sessionId": "s1"}})]
            case "session/prompt":
                answers = [said(update(chunk(word))) for word in self.words]
                answers.append(said({"id": frame["id"], "result": {"stopReason": "end_turn"}}))
            case method:
                raise AssertionError(method)
        for index, one in enumerate(answers):
            if index == 2:
                await self.held.wait()
            self._producer.put([one], seq)


_EPOCH: dict[int, int] = {}


def bus_epoch(bus: BusClient) -> int:
    return _EPOCH[id(bus)]


class World:
    """A bus with history's word in it, an executor, and routers that come and go."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.bus = MemoryBus(directory=directory)
        self.client = self.bus.client()
        _EPOCH[id(self.client)] = self.bus.hello.epoch
        self.tasks: list[asyncio.Task[Any]] = []

    async def begin(self) -> None:
        for name, event in (("history", HistoryRestored()), ("config", configured("alice"))):
            producer = await self.client.producer(name)
            run = asyncio.ensure_future(producer.run())
            producer.put([event], 1)
            await producer.drained()
            run.cancel()
        producer = await self.client.producer("agents")
        self.executor = Executor(producer)
        self.tasks.append(asyncio.ensure_future(producer.run()))
        self.tasks.append(asyncio.ensure_future(self.executor.run(self.client)))

    @asynccontextmanager
    async def router(self) -> AsyncIterator[Service]:
        client = self.bus.client()
        instance = Instance(name="test", state=self.directory, run=self.directory)
        service = Service("router", instance, client, self.bus.hello)
        self.bus.serve("router", service.answered)
        task = asyncio.ensure_future(shell._router(service))
        try:
            yield service
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def died(self) -> None:
        """A router that ends by itself."""
        instance = Instance(name="test", state=self.directory, run=self.directory)
        await shell._router(Service("router", instance, self.bus.client(), self.bus.hello))

    def log(self) -> list[Event]:
        return [event for batch in self.bus.batches for _, event in batch.events()]

    async def until(self, reached: Callable[[list[Event]], bool]) -> list[Event]:
        async for _ in self.client.follow(Cursor(epoch=self.bus.hello.epoch, seq=0)):
            if reached(self.log()):
                break
        return self.log()

    async def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


@asynccontextmanager
async def world(directory: Path) -> AsyncIterator[World]:
    made = World(directory)
    await made.begin()
    try:
        yield made
    finally:
        await made.end()


def answers(log: list[Event]) -> list[Any]:
    return [
        one.message
        for one in log
        if isinstance(one, MessageUpdated) and one.message.role is Role.AGENT and one.message.done
    ]


async def asked(world: World, text: str = "hello") -> None:
    direct = await world.client.command(Direct(id="direct", agent=ALICE))
    await world.client.command(Send(id="send", channel=direct.result.value, text=text))


@once
async def test_a_message_is_answered(tmp_path: Path) -> None:
    async with world(tmp_path) as w, w.router():
        await asked(w)
        log = await w.until(lambda log: bool(answers(log)))
        (answer,) = answers(log)
        assert [part.text for part in answer.parts] == ["one two three"]
        assert w.executor.lines == [(w.executor.lines[0][0], n) for n in (1, 2, 3)]


@once
async def test_a_router_that_dies_in_mid_answer_is_taken_over_without_a_trace(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        w.executor.held.clear()
        async with w.router():
            await asked(w)
            await w.until(lambda log: any(isinstance(one, MessageDelta) for one in log))
        w.executor.held.set()
        async with w.router():
            log = await w.until(lambda log: bool(answers(log)))
        (answer,) = answers(log)
        assert [part.text for part in answer.parts] == ["one two three"]
        assert [n for _, n in w.executor.lines] == [1, 2, 3]
        assert folded(log)[answer.id]["parts"][0]["text"] == "one two three"


def state_of(world: World) -> State:
    """What the router's own words make, up to now."""
    state = State()
    for batch in world.bus.batches:
        if batch.producer == "router":
            for _, event in batch.events():
                shell.evolve(state, event)
    return state


@once
async def test_a_snapshot_stands_in_for_the_journal(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        async with w.router():
            await asked(w)
            await w.until(lambda log: bool(answers(log)))
        position = (await w.client.producer("router")).position
        epoch = w.bus.hello.epoch
        state = state_of(w)
        files = SnapshotFiles(tmp_path)
        files.write(epoch, position, state)
        assert [one.state for one in files.read(epoch, position)] == [state]
        w.bus.batches[:] = [one for one in w.bus.batches if one.first > position]
        async with w.router():
            sent = await w.client.command(Send(id="more", channel=channel_of(state), text="again"))
            assert sent.result.ok
            await w.until(lambda log: any(one.answers == sent.result.value for one in answers(log)))
        assert [n for _, n in w.executor.lines] == [1, 2, 3, 4]


@once
async def test_after_a_deletion_neither_snapshots_nor_the_journal_need_what_was_said(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w, w.router() as router:
        await asked(w, "vermillion")
        log = await w.until(lambda log: bool(answers(log)))
        gone = await w.client.command(Delete(id="gone", channel=answers(log)[0].channel))
        assert gone.result.ok
        while (router.floor or 0) <= gone.seq:  # noqa: ASYNC110  it says nothing when it is done
            await asyncio.sleep(0)
        for name in ("router.snapshot", "router.snapshot.1"):
            assert b"vermillion" not in (tmp_path / name).read_bytes()
    w.bus.batches[:] = [one for one in w.bus.batches if one.first >= (router.floor or 0)]
    async with w.router():
        again = await w.client.command(Direct(id="again", agent=ALICE))
        assert again.result.ok


async def logged(world: World, count: int) -> int:
    """So many lines of an agent's log, which are no input; the seq of the last."""
    producer = await world.client.producer("logger")
    run = asyncio.ensure_future(producer.run())
    for _ in range(count):
        producer.put([AgentLog(agent=ALICE, stream="stderr", line="noise")], None)
    await producer.drained()
    run.cancel()
    return world.bus.hello.head


@once
async def test_lines_that_concern_the_router_not_are_left_behind_and_not_kept_in_the_journal(
    tmp_path: Path,
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shell, "_SNAPSHOT_AFTER", 10)
        async with world(tmp_path) as w:
            async with w.router() as router:
                await asked(w)
                log = await w.until(lambda log: bool(answers(log)))
                channel = answers(log)[0].channel
                said = w.bus.hello.head
                while (router.floor or 0) <= said:
                    await logged(w, 10)
                # What the executor may forget hangs on our place, not on our snapshots.
                assert (await w.client.producer("router")).position > said
            # All that was said of the channel leaves the journal: the snapshots have it.
            w.bus.batches[:] = [one for one in w.bus.batches if one.first >= (router.floor or 0)]
            async with w.router():
                sent = await w.client.command(Send(id="more", channel=channel, text="again"))
                await w.until(
                    lambda log: any(one.answers == sent.result.value for one in answers(log))
                )
            assert [n for _, n in w.executor.lines] == [1, 2, 3, 4]


async def died_while_forgetting(directory: Path, *, after: int) -> None:
    """A router that dies when so many of the two snapshots behind a deletion are made."""

    class Dying(shell._Live):
        async def _forget(self, own: Batch) -> None:
            left = iter(range(after))
            keep = self._keep

            async def kept() -> None:
                if next(left, None) is None:
                    raise KilledError
                await keep()

            self._keep = kept  # type: ignore[method-assign]
            await super()._forget(own)
            self._keep = keep  # type: ignore[method-assign]

    async with world(directory) as w:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shell, "_Live", Dying)
            died = asyncio.ensure_future(w.died())
            await asked(w, "vermillion")
            log = await w.until(lambda log: bool(answers(log)))
            # The journal has it all, and so has a snapshot.
            epoch, position = w.bus.hello.epoch, (await w.client.producer("router")).position
            SnapshotFiles(directory).write(epoch, position, state_of(w))
            gone = await w.client.command(Delete(id="gone", channel=answers(log)[0].channel))
            with pytest.RaisesGroup(KilledError):
                await died
        async with w.router() as router:
            while (router.floor or 0) <= gone.seq:  # noqa: ASYNC110  it says nothing when it is done
                await asyncio.sleep(0)
            for name in ("router.snapshot", "router.snapshot.1"):
                assert b"vermillion" not in (directory / name).read_bytes()


class KilledError(Exception):
    """A test's way to end a router at a place."""


@once
async def test_a_router_that_died_before_it_let_go_of_a_deleted_channel_lets_go_later(
    tmp_path: Path,
) -> None:
    await died_while_forgetting(tmp_path, after=0)


@once
async def test_a_router_that_died_between_its_two_snapshots_lets_go_later(tmp_path: Path) -> None:
    await died_while_forgetting(tmp_path, after=1)


def channel_of(state: State) -> Any:
    (channel,) = state.channels
    return channel


@once
async def test_a_snapshot_that_runs_ahead_of_the_log_is_not_used(tmp_path: Path) -> None:
    files = SnapshotFiles(tmp_path)
    files.write(1_000, 1_500, State())
    assert files.read(1_000, 1_499) == []
    assert files.read(2_000, 2_500) == []
    assert len(files.read(1_000, 1_500)) == 1


@once
async def test_a_snapshot_cut_short_is_as_good_as_none(tmp_path: Path) -> None:
    files = SnapshotFiles(tmp_path)
    files.write(1_000, 1_500, State())
    whole = (tmp_path / "router.snapshot").read_bytes()
    (tmp_path / "router.snapshot").write_bytes(whole[: len(whole) // 2])
    assert files.read(1_000, 1_500) == []


@once
async def test_a_long_answer_is_told_by_reference_and_its_file_is_there(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.executor.words = ["x" * 5_000] * 5
        async with w.router():
            await asked(w)
            log = await w.until(lambda log: bool(answers(log)))
        (answer,) = answers(log)
        (part,) = answer.parts
        assert isinstance(part.text, BlobRef)
        assert part.text.length == 25_000
        blob = tmp_path / "blobs" / part.text.sha256[:2] / part.text.sha256
        assert blob.read_text() == "x" * 25_000
        assert folded(log[: log.index(next(one for one in log if is_done(one)))])[answer.id][
            "parts"
        ] == [{"type": "text", "text": "x" * 25_000}]


def is_done(event: Event) -> bool:
    return bool(answers([event]))


@once
async def test_shutdown_is_answered_when_every_agent_is_gone(tmp_path: Path) -> None:
    async with world(tmp_path) as w, w.router():
        await asked(w)
        await w.until(lambda log: bool(answers(log)))
        outcome = await w.client.command(Shutdown(id="close"))
        assert outcome.result.ok
        assert any(isinstance(one, FactExited) for one in w.log())


@once
async def test_preview_reads_what_ones_own_command_did(tmp_path: Path) -> None:
    async with world(tmp_path) as w, w.router():
        made = await w.client.command(Direct(id="direct", agent=ALICE))
        query = Preview(channel=made.result.value, text="hello")
        seen = await w.client.query(query, after=made.seq)
        assert [(one.agent, one.starts) for one in seen.value.answering] == [("alice", True)]
        with pytest.raises(RefusedError, match="no such channel"):
            await w.client.query(Preview(channel="c0000000000000001.0", text=""))  # type: ignore[arg-type]


@once
async def test_nobody_else_reads_the_routers_memory_to_follow_a_conversation(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w, w.router():
        await asked(w)
        log = await w.until(lambda log: bool(answers(log)))
        assert any(isinstance(one, MemoryChanged) for one in log)
        public = [one for one in log if not isinstance(one, MemoryChanged)]
        assert folded(public) == folded(log)


async def passed_over(directory: Path, deciding: Any) -> None:
    """A router that fails on a message says so, and goes on with the next."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shell, "decide", deciding)
        async with world(directory) as w:
            async with w.router():
                direct = await w.client.command(Direct(id="direct", agent=ALICE))
            channel = direct.result.value
            waiting = asyncio.ensure_future(
                w.client.command(Send(id="bad", channel=channel, text="poison"))
            )
            for _ in range(2):
                with pytest.raises(ExceptionGroup):
                    await w.died()
            async with w.router() as service:
                outcome = await waiting
                assert outcome.result.problem is not None
                assert outcome.result.problem.id == "fault"
                await w.client.command(Send(id="good", channel=channel, text="hello"))
                log = await w.until(lambda log: bool(answers(log)))
                assert [part.text for part in answers(log)[0].parts] == ["one two three"]
                assert service.state == "degraded"
            assert folded(log) is not None


def poisoned(inputs: Any) -> bool:
    return any(isinstance(one.event, Send) and one.event.text == "poison" for one in inputs)


@once
async def test_an_input_that_the_decider_fails_on_is_passed_over_and_said(tmp_path: Path) -> None:
    def failing(state: State, inputs: Any, text_of: Any) -> Any:
        if poisoned(inputs):
            raise AssertionError("a fault of ours")
        return decide(state, inputs, text_of)

    await passed_over(tmp_path, failing)


@once
async def test_an_input_of_which_more_follows_than_the_bus_can_take_is_passed_over_and_said(
    tmp_path: Path,
) -> None:
    def flooding(state: State, inputs: Any, text_of: Any) -> Any:
        decision = decide(state, inputs, text_of)
        if poisoned(inputs):
            decision.events.append(AgentLog(agent=ALICE, line="x" * 200_000, stream="stderr"))
        return decision

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(assembly, "_LARGEST_PUT", 100_000)
        await passed_over(tmp_path, flooding)


@once
async def test_a_full_disk_is_no_fault_of_the_input(tmp_path: Path) -> None:
    def full(_store: Any, _text: str) -> Any:
        raise OSError(28, "No space left on device")

    async with world(tmp_path) as w:
        w.executor.words = ["x" * 20_000]  # so long that it becomes a blob
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(shell.BlobStore, "put", full)
            first = asyncio.ensure_future(w.died())
            await asked(w)
            for router in (first, w.died()):
                with pytest.raises(ExceptionGroup):
                    await router
        async with w.router() as service:
            log = await w.until(lambda log: bool(answers(log)))
            assert answers(log)[0].parts[0].text.length == 20_000
            assert service.state == "running"


@once
async def test_how_far_an_open_has_come_stands_in_the_reports_also_of_the_next_router(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        config = await w.client.producer("config")
        w.tasks.append(asyncio.ensure_future(config.run()))

        def reported(**wanted: object) -> Callable[[dict[str, Any]], bool]:
            return lambda opening: all(opening.get(key) == value for key, value in wanted.items())

        async def until(reached: Callable[[dict[str, Any]], bool]) -> None:
            async for beat in w.client.beats():
                report = beat.reports.get("router")
                if report is not None and reached(report.details.get("opening", {})):
                    return

        async with w.router() as first:
            opening = asyncio.ensure_future(w.client.command(Open(id="open", path="other.yaml")))
            await until(reported(command="open", path="other.yaml", closes=False))
        assert first.details["opening"]["path"] == "other.yaml"
        async with w.router():
            await until(reported(command="open", closes=False))
            config.put([FileOpenable(command="open", path="/a/other.yaml")], config.position)
            assert (await opening).result.value == {"path": "/a/other.yaml", "already": False}
            await until(reported(path="/a/other.yaml", closes=True, closed=True))
        assert FileClosed(next="/a/other.yaml") in w.log()


@once
async def test_an_open_that_is_refused_leaves_nothing_in_the_reports(tmp_path: Path) -> None:
    async with world(tmp_path) as w, w.router() as service:
        config = await w.client.producer("config")
        w.tasks.append(asyncio.ensure_future(config.run()))
        opening = asyncio.ensure_future(w.client.command(Open(id="open", path="none")))
        await w.until(lambda log: any(isinstance(one, Open) for one in log))
        why = problem("no-such-file", "there is none")
        config.put([FileOpenable(command="open", path="/none", problem=why)], config.position)
        assert (await opening).result.problem == why
        # A command that is answered later: whatever was to be told has been told.
        await w.client.command(Direct(id="direct", agent=ALICE))
        assert "opening" not in service.details
