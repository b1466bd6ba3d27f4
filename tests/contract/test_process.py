"""What only the real bus can show: deaths, disks, other people's bytes, lazy readers."""

import asyncio
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import zmq

from sk_bus import paths
from sk_bus.client import BusClient
from sk_bus.codec import plain
from sk_bus.commands import Direct
from sk_bus.contract import Heartbeat, Resync
from sk_bus.model import AgentName, CommandId, Cursor
from sk_bus.wire import Batch, packed, reply_from, request
from tests.support.patience import PATIENCE

from .conftest import BUS, ZmqBench, producing
from .test_bus import deciding, events_until, line, start, texts

pytestmark = [pytest.mark.anyio, pytest.mark.process]


async def all_of(bus: BusClient, count: int) -> list[str]:
    got: list[str] = []
    seqs: list[int] = []
    async with asyncio.timeout(PATIENCE) as bound:  # for what comes next, not for all of it
        async for batch in bus.follow(await start(bus)):
            bound.reschedule(asyncio.get_running_loop().time() + PATIENCE)
            assert isinstance(batch, Batch)
            seqs += [seq for seq, _ in batch.events()]
            got += texts(batch.events())
            if len(got) >= count:
                break
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
    return got


@pytest.mark.parametrize("seed", [1, 2])
async def test_kills_at_random_moments_lose_and_double_nothing(
    zmq_bench: ZmqBench, seed: int
) -> None:
    chance = random.Random(seed)
    count, kills = 12_000, 12
    async with (
        zmq_bench.client() as one,
        zmq_bench.client() as two,
        zmq_bench.client() as bus,
        producing(bus, "p") as producer,
    ):
        epoch = (await bus.hello()).epoch
        readers = [asyncio.create_task(all_of(client, count)) for client in (one, two)]
        moments = sorted(chance.randrange(count) for _ in range(kills))
        for n in range(count):
            producer.put([line(str(n))], n)
            if n % 20 == 0:
                await asyncio.sleep(0)
            while moments and moments[0] <= n:
                moments.pop(0)
                zmq_bench.kill()
                await bus.hello()
        for reader in readers:
            assert await reader == [str(n) for n in range(count)]
        assert (await bus.hello()).epoch == epoch


@pytest.mark.parametrize("place", ["after_append", "after_publish", "before_ack"])
@pytest.mark.parametrize("nth", [1, 3])
async def test_a_death_in_the_exact_window_loses_and_doubles_nothing(
    zmq_bench: ZmqBench, place: str, nth: int
) -> None:
    zmq_bench.replace(SK_FAIL=f"{place}:{nth}")
    async with zmq_bench.client() as bus, producing(bus, "p") as producer:
        reader = asyncio.create_task(all_of(bus, 5))
        for n in range(5):
            producer.put([line(str(n))], n)
            if n == nth - 1:
                assert await asyncio.to_thread(zmq_bench.process.wait) == -signal.SIGKILL
                zmq_bench.again()
            async with asyncio.timeout(PATIENCE):
                await producer.drained()
        assert await reader == list("01234")


async def test_the_last_event_before_a_death_reaches_a_reader_within_a_heartbeat(
    zmq_bench: ZmqBench,
) -> None:
    zmq_bench.replace(SK_FAIL="after_append")
    async with zmq_bench.client() as bus:
        follow = bus.follow(await start(bus))
        reading = asyncio.ensure_future(anext(follow))
        await bus.hello()
        async with producing(bus, "p") as producer:
            producer.put([line("last")], 1)
            await asyncio.to_thread(zmq_bench.process.wait)
        zmq_bench.again()
        async with asyncio.timeout(PATIENCE):
            batch = await reading
        assert isinstance(batch, Batch)
        assert texts(batch.events()) == ["last"]


async def test_a_reader_that_stops_reading_finds_everything_afterwards(
    zmq_bench: ZmqBench,
) -> None:
    async with (
        zmq_bench.client() as bus,
        zmq_bench.client() as lazy,
        producing(bus, "p") as producer,
    ):
        follow = lazy.follow(await start(lazy))
        producer.put([line("first")], 0)
        await anext(follow)
        big = "x" * 10_000
        for n in range(1, 3001):  # 30 MB: more than any buffer on the way
            producer.put([line(f"{n} {big}")], n)
            if n % 50 == 0:
                await producer.drained()
        got: list[str] = []
        async with asyncio.timeout(PATIENCE):
            while len(got) < 3000:
                batch = await anext(follow)
                assert isinstance(batch, Batch)
                got += texts(batch.events())
        assert [text.split()[0] for text in got] == [str(n) for n in range(1, 3001)]
        assert lazy.holes > 0  # what was dropped on the way is counted, for `status`
        assert bus.holes == 0


async def test_a_second_bus_ends_and_the_first_goes_on(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus:
        before = await bus.hello()
        second = await asyncio.create_subprocess_exec(
            *BUS, env=zmq_bench.environment, stderr=subprocess.PIPE
        )
        _, said = await second.communicate()
        assert second.returncode == 1
        assert b"sk-bus runs already" in said
        assert await bus.hello(timeout=PATIENCE) == before


async def test_an_older_journal_put_back_begins_a_new_epoch(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus:
        async with producing(bus, "p") as producer:
            producer.put([line("1")], 1)
            await producer.drained()
            before = await bus.hello()
            zmq_bench.end()
            journal = Path(before.directory) / "journal"
            shutil.copytree(journal, journal.with_name("backup"))
            zmq_bench.again()
            producer.put([line("2")], 2)
            await producer.drained()
        follow = bus.follow(Cursor(epoch=before.epoch, seq=before.head + 1))
        zmq_bench.end()
        shutil.rmtree(journal)
        journal.with_name("backup").rename(journal)
        zmq_bench.again()
        async with asyncio.timeout(PATIENCE):
            told = await anext(follow)
        assert isinstance(told, Resync)
        assert told.epoch > before.head + 1
        assert (await bus.producer("p")).position is None


def cut_wal(journal: Path) -> None:
    (wal,) = journal.glob("*.log")
    with wal.open("r+b") as file:
        file.truncate(wal.stat().st_size // 2)


def scribble(journal: Path) -> None:
    (journal / "CURRENT").write_text("MANIFEST-999999\n")


@pytest.mark.parametrize("harm", [cut_wal, scribble])
async def test_a_harmed_journal_begins_a_new_epoch(
    zmq_bench: ZmqBench, harm: Callable[[Path], None]
) -> None:
    async with zmq_bench.client() as bus, producing(bus, "p") as producer:
        for n in range(20):
            producer.put([line(str(n))], n)
            await producer.drained()
        before = await bus.hello()
        zmq_bench.end()
        harm(Path(before.directory) / "journal")
        zmq_bench.again()
        after = await bus.hello(timeout=PATIENCE)
        assert after.epoch > before.head
        assert after.directory == before.directory


async def test_a_reboot_begins_a_new_epoch_and_keeps_what_commands_did(
    zmq_bench: ZmqBench,
) -> None:
    await zmq_bench.open()
    command = Direct(id=CommandId("k"), agent=AgentName("a"))
    async with zmq_bench.client() as bus:
        async with deciding(zmq_bench):
            done = await bus.command(command)
        before = await bus.hello()
        zmq_bench.end()
        head = zmq_bench.instance.head
        head.write_bytes(bytes(16) + head.read_bytes()[16:])  # the id of another boot
        zmq_bench.again()
        after = await bus.hello()
        assert after.epoch > before.head
        assert not after.open
        assert await bus.command(command, timeout=PATIENCE) == done


async def test_a_command_nobody_decided_on_is_done_in_the_next_epoch(
    zmq_bench: ZmqBench,
) -> None:
    await zmq_bench.open()
    command = Direct(id=CommandId("k"), agent=AgentName("a"))
    async with zmq_bench.client() as bus:
        waiting = asyncio.create_task(bus.command(command))
        follow = bus.follow(await start(bus))
        while "cmd:Direct" not in [event["type"] for event in (await _next(follow)).raw()]:
            pass
        zmq_bench.lose_journal()
        async with deciding(zmq_bench):
            await zmq_bench.open()
            assert (await waiting).result.ok


async def _next(follow: object) -> Batch:
    batch = await anext(follow)  # type: ignore[call-overload]
    assert isinstance(batch, Batch)
    return batch


async def test_another_configuration_in_force_ends_the_bus_and_opens_its_data(
    zmq_bench: ZmqBench, tmp_path: Path
) -> None:
    async with zmq_bench.client() as bus:
        before = await bus.hello()
        other = tmp_path / "other.yaml"
        zmq_bench.instance.pointer.write_text(str(other))
        assert await asyncio.to_thread(zmq_bench.process.wait, PATIENCE) == 0
        zmq_bench.again()
        after = await bus.hello()
        assert after.config == paths.identity(other)
        assert (after.directory != before.directory, after.epoch > before.head) == (True, True)


async def test_data_that_another_instance_uses_leaves_memory_and_says_why(
    zmq_bench: ZmqBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with zmq_bench.client() as bus:
        ours = await bus.hello()
    monkeypatch.setenv("SK_INSTANCE", "other")
    other = ZmqBench(paths.instance(), dict(os.environ))
    try:
        async with other.client() as bus:
            theirs = await bus.hello()
            assert theirs.directory == str(other.instance.run / "data")
            assert "another Sidekicks" in (theirs.historyProblem or "")
            async with producing(bus, "p") as producer:
                producer.put([line("1")], 1)
                await producer.drained()
            zmq_bench.end()  # the data is free now, but an answer may be under way
            other.kill()
            again = await bus.hello()
            assert (again.epoch, again.directory) == (theirs.epoch, theirs.directory)
            assert (await bus.producer("p")).position == 1
    finally:
        other.end()
    assert ours.historyProblem is None


UNDER_ANOTHER = ["sh", "-c", '"$@"; :', "sh"]  # the shell stays, as another supervisor


async def test_after_a_close_memory_is_left_for_the_data_that_is_free_again(
    zmq_bench: ZmqBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with zmq_bench.client() as bus:
        ours = await bus.hello()
    monkeypatch.setenv("SK_INSTANCE", "other")
    other = ZmqBench(paths.instance(), dict(os.environ))
    try:
        async with other.client() as bus:
            assert (await bus.hello()).historyProblem
            zmq_bench.end()
            other.end()
            other.again(UNDER_ANOTHER)
            again = await bus.hello()
            assert (again.directory, again.historyProblem) == (ours.directory, None)
    finally:
        other.end()


async def test_after_a_close_data_that_another_took_leaves_memory(
    zmq_bench: ZmqBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with zmq_bench.client() as bus:
        await bus.hello()
        zmq_bench.end()
        monkeypatch.setenv("SK_INSTANCE", "other")
        other = ZmqBench(paths.instance(), dict(os.environ))
        try:
            async with other.client() as theirs:
                await theirs.hello()
            zmq_bench.again(UNDER_ANOTHER)
            assert (await bus.hello()).historyProblem
        finally:
            other.end()


async def test_a_full_disk_ends_the_bus_and_loses_nothing_that_was_acknowledged(
    zmq_bench: ZmqBench,
) -> None:
    async with zmq_bench.client() as bus, producing(bus, "p") as producer:
        producer.put([line("0")], 0)
        await producer.drained()
        resource.prlimit(zmq_bench.process.pid, resource.RLIMIT_FSIZE, (200_000, 200_000))
        for n in range(1, 60):
            producer.put([line(f"{n} " + "x" * 10_000)], n)
        assert await asyncio.to_thread(zmq_bench.process.wait, PATIENCE) == 1
        assert "could not append to the journal" in zmq_bench.log()
        zmq_bench.again()
        async with asyncio.timeout(PATIENCE):
            await producer.drained()
        got = await events_until(bus, "59 " + "x" * 10_000, await start(bus))
        assert [text.split()[0] for text in texts(got)] == [str(n) for n in range(60)]


async def test_few_descriptors_are_enough(zmq_bench: ZmqBench) -> None:
    zmq_bench.end()
    zmq_bench.again(["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"])
    async with zmq_bench.client() as bus, producing(bus, "p") as producer:
        for n in range(100):
            producer.put([line("x" * 10_000)], n)
            await producer.drained()
        assert (await bus.hello()).head >= 100


# --- other people's bytes -------------------------------------------------------------------

GARBAGE = [
    [b""],
    [b"hello"],
    [b"\xc1"],
    [b"\x81\x90\x01"],
    [b"\x93" * 2000],
    [packed([1, 2])],
    [packed({"a": 1})],
    [b"a", b"b", b"c"],
    [packed([1, 1, "append", [1] * 10]), b"more"],
]


@pytest.mark.parametrize("frames", GARBAGE)
async def test_frames_that_are_not_ours_are_dropped_and_nothing_else_notices(
    zmq_bench: ZmqBench, frames: list[bytes]
) -> None:
    async with zmq_bench.client() as bus, producing(bus, "p") as producer:
        before = await bus.hello()
        with zmq.Context() as context, context.socket(zmq.DEALER) as stranger:
            stranger.linger = 1000
            stranger.connect(zmq_bench.instance.requests)
            for _ in range(100):
                stranger.send_multipart(frames)
            stranger.send(request(1, "hello", None))
            number = 0
            while number != 1:  # those whose id could be read are refused
                assert await asyncio.to_thread(stranger.poll, PATIENCE * 1000)
                number, value, _ = reply_from(stranger.recv())
        assert value == plain(before)
        producer.put([line("on")], 1)
        await producer.drained()
        assert zmq_bench.process.poll() is None
        assert zmq_bench.log().count("dropped a frame") <= 8


REFUSED = [
    (packed([9, 5, "hello", None]), "malformed-request"),
    (request(5, "dance", None), "unknown-verb"),
    (request(5, "append", ["p", 1]), "malformed-request"),
    (request(5, "append", [1] * 10), "malformed-request"),
    (request(5, "replay", "x"), "malformed-request"),
    (request(5, "position", [1]), "malformed-request"),
    (request(5, "report", {"service": 1}), "malformed-request"),
    (request(5, "command", None), "malformed-command"),
    (request(5, "command", {"type": "cmd:Dance", "id": "1"}), "unknown-command"),
    (request(5, "command", {"type": "agent:log", "id": "1"}), "unknown-command"),
    (request(5, "command", {"type": "cmd:Direct", "id": "1"}), "malformed-command"),
    (request(5, "command", {"type": "cmd:Direct", "id": "1", "agent": 1}), "malformed-command"),
    (
        request(5, "command", {"type": "cmd:Direct", "id": "1", "agent": "a", "x": ""}),
        "malformed-command",
    ),
    (
        request(5, "command", {"type": "cmd:Direct", "id": "1", "agent": "a" * 300_000}),
        "malformed-command",
    ),
]


@pytest.mark.parametrize(("data", "id_"), REFUSED)
async def test_a_request_that_makes_no_sense_is_refused(
    zmq_bench: ZmqBench, data: bytes, id_: str
) -> None:
    with zmq.Context() as context, context.socket(zmq.DEALER) as stranger:
        stranger.linger = 0
        stranger.connect(zmq_bench.instance.requests)
        stranger.send(data)
        assert await asyncio.to_thread(stranger.poll, PATIENCE * 1000)
        number, _, why = reply_from(stranger.recv())
    assert number == 5
    assert why is not None
    assert why.id == id_


async def test_a_connection_that_speaks_no_zeromq_harms_nobody(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus:
        before = await bus.hello()
        for address in (zmq_bench.instance.requests, zmq_bench.instance.publications):
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.connect(address.removeprefix("ipc://"))
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n" * 50)
        assert await bus.hello(timeout=PATIENCE) == before


async def test_sockets_and_files_are_private(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus:
        directory = (await bus.hello()).directory
    assert open_to_others(zmq_bench.instance.run) + open_to_others(Path(directory)) == []


def open_to_others(directory: Path) -> list[Path]:
    return [path for path in (directory, *directory.rglob("*")) if path.stat().st_mode & 0o077]


async def test_the_bus_reports_itself(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus:
        async with asyncio.timeout(PATIENCE):
            async for beat in bus.follow(Cursor(epoch=0, seq=0), heartbeats=True):
                if isinstance(beat, Heartbeat):
                    break
    assert isinstance(beat, Heartbeat)
    report = beat.reports["bus"]
    assert (report.pid, report.state) == (zmq_bench.process.pid, "running")
    assert report.details["full"] is False


async def test_an_idle_bus_uses_hardly_any_time(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus:
        await bus.hello()

    def used() -> int:
        fields = Path(f"/proc/{zmq_bench.process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    begun, before = time.monotonic(), used()
    async with zmq_bench.client() as bus:
        follow = bus.follow(Cursor(epoch=0, seq=0), heartbeats=True)
        while time.monotonic() < begun + 3:
            await anext(follow)  # the first, then one each second
    ticks = os.sysconf("SC_CLK_TCK")
    assert (used() - before) / ticks / (time.monotonic() - begun) < 0.05
