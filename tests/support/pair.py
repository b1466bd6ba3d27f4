"""A real sk-bus and a real sk-history; the test says what a router would say."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from sk_bus import paths
from sk_bus.client import connect
from sk_bus.contract import Bus
from sk_bus.vocabulary import Event
from tests.support.instance import TestInstance
from tests.support.patience import PATIENCE

_BOUNDED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.execv(sys.argv[2], sys.argv[2:])
"""


class Pair:
    """A bus and a history without a supervisor: the test starts and kills them."""

    def __init__(self, instance: TestInstance) -> None:
        self.instance = instance
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, *names: str, largest: int | None = None) -> None:
        """Start services; with ``largest`` they can't write more bytes than that to a file."""
        bound = [] if largest is None else [sys.executable, "-c", _BOUNDED, str(largest)]
        for name in names:
            self.running[name] = subprocess.Popen(
                [*bound, self.instance.bin / f"sk-{name}"],
                env=self.instance.environment,
                stderr=(self.instance.directory / f"{name}.err").open("ab"),
            )

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=PATIENCE)

    async def ended(self, name: str) -> int:
        return await asyncio.to_thread(self.running.pop(name).wait, PATIENCE)

    @asynccontextmanager
    async def bus(self) -> AsyncIterator[Bus]:
        async with connect(self.instance.paths) as bus:
            yield bus


def with_pair(test: Any, *, before: Callable[[Pair], object] | None = None) -> None:
    """Run ``test`` with a pair; ``before`` is done before anything starts."""

    async def whole() -> None:
        with TestInstance() as instance:
            for directory in (instance.paths.state, instance.paths.run):
                paths.private(directory)
            instance.paths.pointer.write_text(str(instance.config))
            pair = Pair(instance)
            if before is not None:
                before(pair)
            pair.start("bus", "history")
            try:
                async with asyncio.timeout(3 * PATIENCE), pair.bus() as bus:
                    await test(pair, bus)
            finally:
                for name in list(pair.running):
                    pair.kill(name)

    asyncio.run(whole())


class Router:
    """Says what a router would say."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.count = 0

    @asynccontextmanager
    async def speaking(self) -> AsyncIterator["Router"]:
        self.producer = await self.bus.producer("router")
        self.count = self.producer.position or 0
        async with asyncio.TaskGroup() as group:
            running = group.create_task(self.producer.run())
            yield self
            await self.producer.drained()
            running.cancel()

    def say(self, *events: Event) -> None:
        self.count += 1
        self.producer.put(list(events), self.count)

    async def said(self, *events: Event) -> int:
        """Say it, and return the head after it."""
        self.say(*events)
        await self.producer.drained()
        return (await self.bus.hello()).head
