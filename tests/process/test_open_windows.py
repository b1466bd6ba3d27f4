"""On the way to another file, each of those who carry it out is killed in its exact windows.

Bus, config, router and history are real, and without a supervisor: whoever ends is started again.
"""

import asyncio
import signal
import subprocess
from contextlib import suppress

import pytest

from sk_bus.client import BusClient, connect
from sk_bus.commands import Open
from sk_bus.errors import SidekicksError
from sk_bus.internal import FileClosed, FileOpenable
from sk_bus.journal import Journal
from sk_bus.model import CommandId
from sk_bus.queries import Current, ListChannels
from sk_bus.vocabulary import decoded
from sk_bus.wire import batch_from_record
from tests.support.instance import TestInstance, with_signal
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process

NAMES = ("bus", "config", "router", "history")
WINDOWS = [
    ("config", "open_judged"),
    ("config", "open_read"),
    ("config", "open_moved"),
    # The command, or the verdict on its file: which batch it is depends on who was first.
    *(("router", f"router_decided:{n}") for n in (3, 4)),
]


class Bare(TestInstance):
    """An instance whose processes are started one by one, and swept without ``sk-cli down``."""

    __test__ = False

    def close(self) -> None:
        for pid in self.processes():
            with_signal(pid, signal.SIGKILL)


class Four:
    """The four, each started again when it has ended; the first time one of them may fail."""

    def __init__(self, instance: Bare, fails: tuple[str, str]) -> None:
        self._instance = instance
        self.killed: list[str] = []
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        instance.paths.logs.mkdir(mode=0o700, parents=True)
        victim, place = fails
        for name in NAMES:
            self._start(name, {"SK_FAIL": place} if name == victim else {})

    def _start(self, name: str, more: dict[str, str]) -> None:
        with (self._instance.paths.logs / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                [str(self._instance.bin / f"sk-{name}")],
                env=self._instance.environment | more,
                stdout=log,
                stderr=log,
            )

    async def keep(self) -> None:
        async def kept(name: str) -> None:
            while True:
                if await asyncio.to_thread(self._running[name].wait) == -signal.SIGKILL:
                    self.killed.append(name)
                self._start(name, {})

        async with asyncio.TaskGroup() as group:
            for name in NAMES:
                group.create_task(kept(name))

    def end(self) -> None:
        for process in self._running.values():
            process.kill()
            process.wait()


@pytest.mark.parametrize(("victim", "place"), WINDOWS)
def test_it_gets_there_once(victim: str, place: str) -> None:
    async def script() -> None:
        keeping = asyncio.create_task(four.keep())
        try:
            async with asyncio.timeout(3 * PATIENCE), connect(instance.paths) as bus:
                command = Open(id=CommandId("open"), path=str(other))
                accepted = await bus.command(command, timeout=PATIENCE)
                assert accepted.result.value == {"path": str(other), "already": False}
                while not await there(bus):  # noqa: ASYNC110  nothing tells of a new bus
                    await asyncio.sleep(0.05)
                assert (await bus.query(ListChannels(), timeout=PATIENCE)).value == ()
        finally:
            keeping.cancel()
            four.end()  # before the loop ends, which waits for those who wait for them

    async def there(bus: BusClient) -> bool:
        with suppress(SidekicksError):
            path: str = (await bus.query(Current(), timeout=2.0)).value.path
            return path == str(other)
        return False

    with Bare() as instance:
        other = instance.directory / "other.yaml"
        other.write_text("theme: light")
        four = Four(instance, (victim, place))
        asyncio.run(script())
        assert four.killed[:1] == [victim], "it was not killed where it was to be"
        journal = Journal(instance.data / "journal")
        said = [
            decoded(data)
            for record in journal.replay(journal.floor - 1, 1 << 24)
            for data in batch_from_record(record).raw()
        ]
        journal.close()
        assert [type(one) for one in said if isinstance(one, FileOpenable | FileClosed)] == [
            FileOpenable,
            FileClosed,
        ]
