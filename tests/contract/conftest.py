"""The two buses that must be the same: in memory, and a real ``sk-bus``."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sk_bus import paths
from sk_bus.client import BusClient, connect
from sk_bus.contract import Producer
from sk_bus.internal import HistoryRestored
from sk_bus.memory import MemoryBus
from tests.support import rooms

BUS = [sys.executable, "-c", "from sk_bus.broker import main; main()"]


@asynccontextmanager
async def producing(bus: BusClient, name: str) -> AsyncIterator[Producer]:
    """A producer that runs as long as the block."""
    producer = await bus.producer(name)
    running = asyncio.create_task(producer.run())
    try:
        yield producer
    finally:
        running.cancel()


class Bench:
    """A bus under test."""

    def client(self) -> BusClient:
        raise NotImplementedError

    def kill(self) -> None:
        """``kill -9``, and up again."""

    def lose_journal(self) -> None:
        raise NotImplementedError

    async def open(self) -> None:
        """Let commands pass."""
        async with self.client() as bus, producing(bus, "history") as history:
            history.put([HistoryRestored()], (await bus.hello()).epoch)
            await history.drained()


class MemoryBench(Bench):
    def __init__(self, directory: Path) -> None:
        self.bus = MemoryBus(directory=directory)

    def client(self) -> BusClient:
        return self.bus.client()

    def lose_journal(self) -> None:
        self.bus.new_epoch()


class ZmqBench(Bench):
    def __init__(self, instance: paths.Instance, environment: dict[str, str]) -> None:
        self.instance = instance
        self.environment = environment
        self.process = self._started()

    def _started(self, before: Sequence[str] = (), **more: str) -> subprocess.Popen[bytes]:
        with (self.instance.logs / "bus.log").open("ab") as log:
            return subprocess.Popen([*before, *BUS], env=self.environment | more, stderr=log)

    def client(self) -> BusClient:
        return connect(self.instance)

    def end(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def kill(self) -> None:
        self.end()
        self.process = self._started()

    def replace(self, **environment: str) -> None:
        """A bus that dies where ``SK_FAIL`` says."""
        self.end()
        self.process = self._started(**environment)

    def again(self, before: Sequence[str] = ()) -> None:
        """Start it anew once it has ended; ``before`` is a command that starts the rest."""
        self.process = self._started(before)

    def lose_journal(self) -> None:
        self.end()
        for journal in Path(self.environment["XDG_CONFIG_HOME"]).glob("sidekicks/data/*/journal"):
            shutil.rmtree(journal)
        self.process = self._started()

    def log(self) -> str:
        return (self.instance.logs / "bus.log").read_text()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def memory(tmp_path: Path) -> MemoryBench:
    return MemoryBench(tmp_path)


@pytest.fixture
def zmq_bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[ZmqBench]:
    with rooms.folder("skc") as directory:
        for name in ("CONFIG_HOME", "STATE_HOME", "RUNTIME_DIR"):
            monkeypatch.setenv(f"XDG_{name}", str(directory / name[:1].lower()))
        for name in ("SK_INSTANCE", "SK_CONFIG", "SK_FAIL"):
            monkeypatch.delenv(name, raising=False)
        bench = ZmqBench(paths.instance(), dict(os.environ))
        yield bench
        bench.end()


@pytest.fixture(params=["memory", "zmq"])
def bench(request: pytest.FixtureRequest) -> Bench:
    made: Bench = request.getfixturevalue("memory" if request.param == "memory" else "zmq_bench")
    return made
