"""sk-bus and sk-agents as real processes; the test is their router.

It orders what a router would order, and keeps everything that the log says.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sk_bus.blobs import BlobStore
from sk_bus.client import connect
from sk_bus.contract import Heartbeat
from sk_bus.internal import DoSend, DoStart, DoStop, DoTurn, FactExited, FactFrame, FactUp
from sk_bus.model import AgentName, Cursor
from sk_bus.paths import Instance
from sk_bus.vocabulary import Event
from sk_bus.wire import Batch
from tests.support import rooms
from tests.support.patience import PATIENCE
from tests.support.shim_client import AGENT, alive

if TYPE_CHECKING:
    from sk_bus.contract import Bus, Hello, Producer

MODULES = {
    "bus": "sk_bus.broker",
    "agents": "sk_agents.service",
    "router": "sk_router.service",
}
MAIN = "import sys; from {module} import main; sys.argv[0] = {module!r}; main()"


class Executing:
    """A bus, an executor, and us as the router, in directories of their own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("home", "c/sidekicks", "s/sidekicks/default", "r/sidekicks/default/defs"):
            (root / name).mkdir(parents=True, mode=0o700)
        self.instance = Instance(
            "default", root / "s/sidekicks/default", root / "r/sidekicks/default"
        )
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "SHELL": "/bin/sh",
            "XDG_CONFIG_HOME": str(root / "c"),
            "XDG_STATE_HOME": str(root / "s"),
            "XDG_RUNTIME_DIR": str(root / "r"),
            "SK_INSTANCE": "default",
            "OF_TEST_RUN": os.environ.get("OF_TEST_RUN", ""),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.events: list[tuple[int, Event]] = []
        self._came = asyncio.Event()
        self._decided = True
        # Not the producer's: that one lags behind what was put, and would take a decision back.
        self._position = 0
        self.bus: Bus
        self.producer: Producer
        self.hello: Hello

    # --- processes --------------------------------------------------------------------------

    def start(self, name: str, **environment: str) -> None:
        module = MODULES[name]
        with (self.root / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-c", MAIN.format(module=module)],
                env=self.environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()

    async def died(self, name: str) -> None:
        # A life of an agent, or most of one, may be led until then.
        await asyncio.to_thread(self.processes[name].wait, 3 * PATIENCE)

    def log(self, name: str) -> str:
        return (self.root / f"{name}.log").read_text()

    def end(self) -> None:
        """Leave nothing: neither services nor holders, agents and what those started."""
        for process in self.processes.values():
            process.kill()
            process.wait()
        for pid in left(self):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    # --- the router's side ------------------------------------------------------------------

    async def begin(self, group: asyncio.TaskGroup) -> None:
        self.bus = connect(self.instance)
        self.hello = await self.bus.hello()
        self.producer = await self.bus.producer("router")
        self.tasks = [group.create_task(self.producer.run()), group.create_task(self._follow())]

    async def _follow(self) -> None:
        start = Cursor(epoch=self.hello.epoch, seq=0)
        async for item in self.bus.follow(start, heartbeats=True):
            if isinstance(item, Heartbeat) and self._position:
                # In no journal: an executor that was reconnecting to the bus hasn't heard it. The
                # real router's reports say it again, too.
                self.producer.put([], self._position)
            elif isinstance(item, Batch):
                self.events += item.events()
                if self._decided and item.producer == "agents" and item.count:
                    self._decide(item.last)
                self._came.set()

    def decide(self, *, on: bool) -> None:
        """Whether what the executor says is decided on at once, or not at all."""
        self._decided = on
        if on and self.events:
            self._decide(self.events[-1][0])

    def _decide(self, seq: int) -> None:
        self._position = seq
        self.producer.put([], seq)

    async def until(self, true: Callable[[], Any]) -> Any:
        """Wait until the log makes ``true`` so; its value."""
        async with asyncio.timeout(PATIENCE):
            while not (value := true()):
                self._came.clear()
                await self._came.wait()
        return value

    def order(self, *events: Event) -> None:
        self.producer.put(list(events), self._position)

    # --- one agent --------------------------------------------------------------------------

    def define(self, *command: str, **fields: Any) -> str:
        """Write a definition; its digest."""
        arguments = list(command) or [sys.executable, str(AGENT)]
        definition = {
            "name": "alice",
            "command": arguments[0],
            "args": arguments[1:],
            "env": {},
            "cwd": str(self.root / "home"),
            "mcpServers": [],
            "path": os.environ["PATH"],
        } | fields
        text = json.dumps(definition, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        (self.instance.definitions / f"{digest}.json").write_text(text)
        return digest

    async def agent(self, name: str = "alice", *, digest: str | None = None) -> "Acting":
        """Start an agent, and wait until its process runs."""
        acting = Acting(self, AgentName(name), self.hello.epoch + len(self.events) + 1)
        acting.start(digest or self.define())
        await self.until(lambda: acting.facts(FactUp))
        return acting


class Acting:
    """One life of one agent, as its router sees it."""

    def __init__(self, executing: Executing, name: AgentName, inc: int) -> None:
        self._executing = executing
        self.name = name
        self.inc = inc
        self.n = 0
        self._seen = 0
        self._facts: dict[type[Any], list[Any]] = {}
        self._said: list[dict[str, Any]] = []
        self._chunks: list[str] = []

    def start(self, digest: str) -> None:
        self._executing.order(DoStart(agent=self.name, inc=self.inc, digest=digest))

    def line(self, method: str, params: dict[str, Any], *, n: int | None = None) -> int:
        """Order a request; its id."""
        self.n = n or self.n + 1
        message = {"jsonrpc": "2.0", "id": self.n, "method": method, "params": params}
        self.raw(json.dumps(message))
        return self.n

    def raw(self, line: str) -> None:
        self._executing.order(DoSend(agent=self.name, inc=self.inc, n=self.n, line=line))

    def turn(self, *, is_open: bool) -> None:
        self._executing.order(DoTurn(agent=self.name, inc=self.inc, open=is_open))

    def stop(self) -> None:
        self._executing.order(DoStop(agent=self.name, inc=self.inc))

    async def answer(self, n: int) -> dict[str, Any]:
        """The response to request ``n``."""
        found = await self._executing.until(
            lambda: [one for one in self.said() if one.get("id") == n and "method" not in one]
        )
        return dict(found[0])

    async def ready(self) -> "Acting":
        """Take it through initialize and session/new."""
        await self.answer(self.line("initialize", {"protocolVersion": 1}))
        made = await self.answer(self.line("session/new", {"cwd": "/", "mcpServers": []}))
        self.session = made["result"]["sessionId"]
        return self

    def prompt(self, text: str) -> int:
        return self.line(
            "session/prompt",
            {"sessionId": self.session, "prompt": [{"type": "text", "text": text}]},
        )

    def facts(self, kind: type[Any]) -> list[Any]:
        self._look()
        return self._facts.get(kind, [])

    def said(self) -> list[dict[str, Any]]:
        self._look()
        return self._said

    def text(self) -> str:
        """The text of all message chunks."""
        self._look()
        return "".join(self._chunks)

    def _look(self) -> None:
        """Take in what came since the last look: an answer is looked at a thousand times."""
        events = self._executing.events
        for _, event in events[self._seen :]:
            match event:
                case FactUp() | FactFrame() | FactExited():
                    if (event.agent, event.inc) == (self.name, self.inc):
                        self._facts.setdefault(type(event), []).append(event)
                        if isinstance(event, FactFrame):
                            self._hear(json.loads(event.line))
        self._seen = len(events)

    def _hear(self, message: dict[str, Any]) -> None:
        self._said.append(message)
        if message.get("method") == "session/update":
            content = message["params"]["update"].get("content")
            if isinstance(content, dict) and isinstance(content.get("text"), str):
                self._chunks.append(content["text"])

    async def exited(self) -> FactExited:
        found: list[FactExited] = await self._executing.until(lambda: self.facts(FactExited))
        return found[0]

    @property
    def pid(self) -> int:
        return int(self.facts(FactUp)[0].pid)

    @property
    def folder(self) -> Path:
        return Path(self._executing.hello.directory) / "spools" / f"{self.name}.{self.inc}"

    def blob(self, sha256: str) -> str:
        return BlobStore(Path(self._executing.hello.directory)).text(sha256)


@asynccontextmanager
async def executing(**environment: str) -> AsyncIterator[Executing]:
    """Bus and executor run; at the end nothing of them, or of their agents, is left."""
    with rooms.folder("ske") as root:
        made = Executing(root)
        made.start("bus")
        made.start("agents", **environment)
        try:
            async with asyncio.TaskGroup() as group:
                await made.begin(group)
                try:
                    yield made
                except BaseException:
                    sys.stderr.write(made.log("bus") + made.log("agents"))
                    raise
                finally:
                    for task in made.tasks:
                        task.cancel()
            await made.bus.close()
        finally:
            made.end()


def left(executing_: Executing) -> list[int]:
    """Processes that have our home: holders, agents, and what they started."""
    mark = f"HOME={executing_.root / 'home'}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and alive(int(entry.name)):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found
