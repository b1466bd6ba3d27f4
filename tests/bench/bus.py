"""What the bus alone costs: ``python tests/bench/bus.py`` prints one JSON object.

A producer and a follower in two processes of their own around a real ``sk-bus``, in temporary
directories. The yardstick is msgpack alone: packing and unpacking the same events.
"""

import asyncio
import itertools
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sk_bus import paths
from sk_bus.client import BusClient, connect
from sk_bus.commands import Direct
from sk_bus.events import CommandResult, Kind, MessageDelta
from sk_bus.internal import HistoryRestored
from sk_bus.model import AgentName, ChannelId, CommandId, Cursor, MessageId
from sk_bus.vocabulary import decoded, encoded
from sk_bus.wire import Batch, packed, unpacked

EVENTS = 100_000
BUS = [sys.executable, "-c", "from sk_bus.broker import main; main()"]


def delta(n: int) -> MessageDelta:
    return MessageDelta(
        channel=ChannelId("c0000000000000001.0"),
        messageId=MessageId("m0000000000000001.0"),
        index=0,
        kind="text",
        rev=n,
        text="some words ",
    )


async def follower(after: int) -> None:
    """Read until the last delta; say when."""
    async with connect(paths.instance()) as bus:
        seen = 0
        epoch = (await bus.hello()).epoch
        print("ready", flush=True)
        async for batch in bus.follow(Cursor(epoch=epoch, seq=after)):
            assert isinstance(batch, Batch)
            seen += len(batch.events())
            if seen == EVENTS:
                break
        print(time.monotonic(), flush=True)


def yardstick() -> float:
    """µs an event for encoding, packing, unpacking and decoding alone."""
    begun = time.perf_counter()
    for n in range(20_000):
        decoded(unpacked(packed(encoded(delta(n)))))
    return (time.perf_counter() - begun) / 20_000 * 1e6


async def throughput(bus: BusClient, group: asyncio.TaskGroup) -> dict[str, float]:
    after = (await bus.hello()).head
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "follow", str(after), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    producer = await bus.producer("router")
    running = group.create_task(producer.run())
    begun = time.monotonic()
    for n in range(EVENTS):
        producer.put([delta(n)], n)
        if n % 100 == 99:
            await asyncio.sleep(0)
    ended = float(await process.stdout.readline())
    await process.wait()
    running.cancel()
    return {
        "us_per_event": round((ended - begun) / EVENTS * 1e6, 1),
        "events_per_s": round(EVENTS / (ended - begun)),
    }


async def latencies(bus: BusClient, group: asyncio.TaskGroup) -> dict[str, float]:
    """One event alone, from put to the follower; and a command there and back."""
    producer = await bus.producer("agents")
    running = group.create_task(producer.run())
    hello = await bus.hello()
    follow = bus.follow(Cursor(epoch=hello.epoch, seq=hello.head))
    times = []
    for n in range(500):
        begun = time.perf_counter()
        producer.put([delta(n)], n)
        await anext(follow)
        times.append((time.perf_counter() - begun) * 1e3)
        await asyncio.sleep(0.002)
    commands = []
    deciding = group.create_task(decide(bus, Cursor(epoch=hello.epoch, seq=hello.head)))
    for n in range(300):
        begun = time.perf_counter()
        await bus.command(Direct(id=CommandId(f"k{n}"), agent=AgentName("a")))
        commands.append((time.perf_counter() - begun) * 1e3)
    deciding.cancel()
    running.cancel()
    return {
        "event_ms_p50": round(statistics.median(times), 2),
        "event_ms_p99": round(statistics.quantiles(times, n=100)[98], 2),
        "command_ms_p50": round(statistics.median(commands), 2),
        "command_ms_p99": round(statistics.quantiles(commands, n=100)[98], 2),
    }


async def beside_a_flood(bus: BusClient, group: asyncio.TaskGroup) -> dict[str, float]:
    """A command there and back while another process publishes as fast as it can."""
    hello = await bus.hello()
    flood = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "flood", stdout=subprocess.PIPE
    )
    assert flood.stdout is not None
    await flood.stdout.readline()
    deciding = group.create_task(decide(bus, Cursor(epoch=hello.epoch, seq=hello.head)))
    times = []
    for n in range(200):
        begun = time.perf_counter()
        await bus.command(Direct(id=CommandId(f"f{n}"), agent=AgentName("a")))
        times.append((time.perf_counter() - begun) * 1e3)
        await asyncio.sleep(0.005)
    flood.kill()
    await flood.wait()
    deciding.cancel()
    return {
        "command_beside_flood_ms_p50": round(statistics.median(times), 2),
        "command_beside_flood_ms_p99": round(statistics.quantiles(times, n=100)[98], 2),
    }


async def flooding() -> None:
    async with connect(paths.instance()) as bus, asyncio.TaskGroup() as group:
        producer = await bus.producer("agents")
        group.create_task(producer.run())
        print("ready", flush=True)
        start = producer.position
        for n in itertools.count(start + 1):
            producer.put([delta(n)], n)
            if n % 200 == 0:
                await producer.drained()


async def decide(bus: BusClient, after: Cursor) -> None:
    producer = await bus.producer("decider")
    async with asyncio.TaskGroup() as group:
        group.create_task(producer.run())
        async for batch in bus.follow(after):
            assert isinstance(batch, Batch)
            if not batch.kinds & Kind.COMMAND:
                continue
            for seq, event in batch.events():
                if isinstance(event, Direct):
                    producer.put([CommandResult(id=event.id, ok=True)], seq)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> dict[str, float]:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = {line.split()[0]: int(line.split()[1]) for line in rollup.splitlines()[1:]}
    return {
        "rss_mb": round(found["Rss:"] / 1024, 1),
        "pss_mb": round(found["Pss:"] / 1024, 1),
    }


async def measure() -> dict[str, Any]:
    instance = paths.instance()
    process = subprocess.Popen(BUS, stderr=subprocess.DEVNULL)  # noqa: ASYNC220  it returns at once
    made: dict[str, Any] = {"codec_us_per_event": round(yardstick(), 1)}
    try:
        async with connect(instance) as bus, asyncio.TaskGroup() as group:
            await bus.hello()
            before = cpu_seconds(process.pid)
            await asyncio.sleep(10)
            made["idle_cpu_percent"] = round((cpu_seconds(process.pid) - before) * 10, 2)
            made |= {f"idle_{name}": value for name, value in memory(process.pid).items()}
            history = await bus.producer("history")
            running = group.create_task(history.run())
            history.put([HistoryRestored()], 1)
            await history.drained()
            running.cancel()
            made |= await latencies(bus, group)
            before = cpu_seconds(process.pid)
            made |= await throughput(bus, group)
            made["bus_us_per_event"] = round((cpu_seconds(process.pid) - before) / EVENTS * 1e6, 1)
            made |= {f"busy_{name}": value for name, value in memory(process.pid).items()}
            made |= await beside_a_flood(bus, group)
            process.send_signal(signal.SIGKILL)
            process.wait()
            begun = time.perf_counter()
            process = subprocess.Popen(BUS, stderr=subprocess.DEVNULL)  # noqa: ASYNC220
            await bus.hello()
            made["restart_s"] = round(time.perf_counter() - begun, 3)
    finally:
        process.kill()
        process.wait()
    return made


def main() -> None:
    if sys.argv[1:2] == ["follow"]:
        asyncio.run(follower(int(sys.argv[2])))
        return
    if sys.argv[1:2] == ["flood"]:
        asyncio.run(flooding())
        return
    directory = tempfile.mkdtemp(prefix="skb")
    try:
        for name in ("CONFIG_HOME", "STATE_HOME", "RUNTIME_DIR"):
            os.environ[f"XDG_{name}"] = f"{directory}/{name[0].lower()}"
        print(json.dumps(asyncio.run(measure()), indent=1))
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
