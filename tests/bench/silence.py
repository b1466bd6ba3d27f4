"""How long a killed service is away, and how long an answer under way is silent for it.

``python -m tests.bench.silence [--times N]`` prints one JSON object; times are seconds. Each
service is killed N times while the demo agent streams 200 words a second; *away* ends with the
first report of the new process, *silence* is the longest time between two deltas around the kill.
"""

import argparse
import asyncio
import json
import time
from contextlib import aclosing
from itertools import pairwise

from sk_bus.client import BusClient, connect
from sk_bus.commands import Direct, Send
from sk_bus.contract import Heartbeat
from sk_bus.model import AgentName, CommandId, Cursor
from sk_bus.wire import Batch
from tests.support.instance import TestInstance

SERVICES = ("bus", "config", "agents", "router", "history", "gateway")
CONFIG = """\
agents:
  - name: demo
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "5"}
"""


class Ears:
    """When deltas came, and which process of each service reported when."""

    def __init__(self) -> None:
        self.deltas: list[float] = []
        self.pids: dict[str, int] = {}
        self._news = asyncio.Event()

    async def listen(self, bus: BusClient, after: Cursor) -> None:
        async with aclosing(bus.follow(after, heartbeats=True)) as items:
            async for item in items:
                now = time.monotonic()
                if isinstance(item, Heartbeat):
                    self.pids = {name: report.pid for name, report in item.reports.items()}
                elif isinstance(item, Batch) and _speaks(item):
                    self.deltas.append(now)
                self._news.set()

    async def heard(self) -> None:
        self._news.clear()
        await self._news.wait()


def _speaks(batch: Batch) -> bool:
    return any(event["type"] == "message:delta" for event in batch.raw())


async def _measured(instance: TestInstance, times: int) -> dict[str, dict[str, float]]:
    made: dict[str, dict[str, float]] = {}
    async with connect(instance.paths) as bus:
        hello = await bus.hello()
        ears = Ears()
        listening = asyncio.create_task(ears.listen(bus, Cursor(epoch=hello.epoch, seq=hello.head)))
        opened = await bus.command(Direct(id=CommandId("open"), agent=AgentName("demo")))
        await bus.command(
            Send(id=CommandId("send"), channel=opened.result.value, text="long 100000")
        )
        while not ears.deltas:
            await ears.heard()
        for name in SERVICES:
            found = [await _killed(instance, ears, name) for _ in range(times)]
            made[name] = {
                "away": round(max(away for away, _ in found), 2),
                "silence": round(max(silence for _, silence in found), 2),
            }
        listening.cancel()
    return made


async def _killed(instance: TestInstance, ears: Ears, name: str) -> tuple[float, float]:
    await asyncio.sleep(2)  # a kill finds everything at work
    count = len(ears.deltas)
    killed = time.monotonic()
    pid = await asyncio.to_thread(instance.kill, name)
    while ears.pids.get(name) in (pid, None) and name != "bus":
        await ears.heard()
    if name == "bus":
        while ears.deltas[-1] < killed + 0.05:
            await ears.heard()
    away = time.monotonic() - killed
    while ears.deltas[-1] < killed + away + 0.5:
        await ears.heard()
    around = ears.deltas[count - 1 :]
    return away, max(b - a for a, b in pairwise(around))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    times = parser.parse_args().times
    with TestInstance(config=CONFIG) as instance:
        instance.up()
        print(json.dumps(asyncio.run(_measured(instance, times)), indent=2))


if __name__ == "__main__":
    main()
