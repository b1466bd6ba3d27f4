"""A whole Sidekicks of a test's own: directories, configuration, processes, and the broom.

What was written to agents is held against the schema of ACP at the end of each.

Everything lies in one short directory (socket paths are limited); nothing of the user's is read or
met. Services are found beside the Python that runs the tests, or, where the project isn't installed
there, as scripts made on the spot.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from sk_bus import paths
from sk_bus.client import connect
from sk_bus.events import Kind
from sk_bus.journal import Journal, JournalError
from sk_bus.queries import SERVICES, Components
from sk_bus.supervisor import Supervisor
from sk_bus.wire import batch_from_record
from tests.support import acp_schema, rooms
from tests.support.patience import PATIENCE
from tests.support.shim_client import eventually

ROOT = Path(__file__).resolve().parents[2]

DEMO = """\
agents:
  - name: demo
    title: Demo
    command: sk-demo-agent
"""


class TestInstance:
    """One instance; use it as a context manager, so that nothing of it outlives the test.

    ``config`` is the text of the configuration file (default: the demo agent alone), and
    ``environment`` is added to that of every process.
    """

    __test__ = False

    def __init__(
        self, *, config: str | None = DEMO, environment: dict[str, str] | None = None
    ) -> None:
        self._folder = rooms.folder("skt")
        self.directory = self._folder.__enter__()
        self.home = self.directory / "home"
        for name in ("home", "c/sidekicks", "s", "r"):
            (self.directory / name).mkdir(parents=True, mode=0o700)
        self.config = self.directory / "c" / "sidekicks" / "sidekicks.yaml"
        if config is not None:
            self.config.write_text(config, encoding="utf-8")
        self.bin = _scripts(self.directory)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SK_", "XDG_")) and name not in {"NO_COLOR", "FORCE_COLOR"}
        }
        self.environment = kept | {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.directory / "c"),
            "XDG_STATE_HOME": str(self.directory / "s"),
            "XDG_RUNTIME_DIR": str(self.directory / "r"),
            "PATH": f"{self.bin}{os.pathsep}{kept.get('PATH', os.defpath)}",
            "SK_BIN": str(self.bin),
            "SK_PORT": str(rooms.port()),
            "SK_INSTANCE": "default",
            "PYTHONDONTWRITEBYTECODE": "",
        }
        self.environment |= environment or {}

    # --- what a user does ---------------------------------------------------------------------

    def cli(
        self,
        *arguments: str,
        check: bool = True,
        timeout: float = PATIENCE,
        input: str | None = None,  # noqa: A002  the name that subprocess.run has
        environment: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run ``sk-cli`` with ``arguments``; with ``check`` its failure fails the test."""
        ended = subprocess.run(
            self.command(*arguments),
            env=self.environment | (environment or {}),
            capture_output=True,
            text=True,
            timeout=timeout,
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            check=False,
        )
        if check and ended.returncode != 0:
            raise AssertionError(
                f"sk-cli {' '.join(arguments)} ended {ended.returncode}\n"
                f"--- stdout\n{ended.stdout}\n--- stderr\n{ended.stderr}\n{self.logs()}"
            )
        return ended

    def command(self, *arguments: str) -> list[str]:
        """The command line, for a test that starts it by itself."""
        return [sys.executable, "-m", "sk_cli", *arguments]

    def json(self, *arguments: str) -> Any:
        """The document that ``sk-cli … --json`` prints."""
        return orjson.loads(self.cli(*arguments, "--json").stdout)

    def lines(self, *arguments: str) -> list[Any]:
        """The objects that ``sk-cli … --json`` prints, one a line."""
        return [orjson.loads(line) for line in self.cli(*arguments, "--json").stdout.splitlines()]

    def up(self, *arguments: str) -> None:
        self.cli("up", *arguments)

    def down(self) -> None:
        self.cli("down")

    # --- where things are ---------------------------------------------------------------------

    @property
    def paths(self) -> paths.Instance:
        name = self.environment["SK_INSTANCE"]
        return paths.Instance(
            name=name,
            state=self.directory / "s" / "sidekicks" / name,
            run=self.directory / "r" / "sidekicks" / name,
        )

    @property
    def data(self) -> Path:
        """The data directory of the configuration file."""
        name = paths.hashed(paths.identity(self.config))
        return self.directory / "c" / "sidekicks" / "data" / name

    @property
    def port(self) -> int:
        return int(self.paths.port.read_text())

    @property
    def token(self) -> str:
        return self.paths.token.read_text().strip()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def logs(self, count: int = 8) -> str:
        """The last lines of every log, for a failure's message."""
        pieces = []
        for path in sorted(self.paths.logs.glob("*.log")):
            tail = [line[-400:] for line in path.read_text(errors="replace").splitlines()[-count:]]
            pieces.append("\n".join([f"--- {path.name}", *tail]))
        return "\n".join(pieces)

    # --- its processes ------------------------------------------------------------------------

    @property
    def supervisor(self) -> Supervisor:
        return Supervisor(self.paths.supervisor_socket)

    def pids(self) -> dict[str, int]:
        """The pid of each component (0 while it is down), and of supervisord."""
        made = {name: process.pid for name, process in self.supervisor.processes().items()}
        return made | {"supervisord": self.supervisor.pid()}

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to a component, or to ``supervisord``; returns its pid."""
        (pid,) = self.kill_together(name, number=number)
        return pid

    def kill_together(self, *names: str, number: int = signal.SIGKILL) -> list[int]:
        """The same with several, one right after the other, once each has a process."""
        pids: list[int] = []

        def all_there() -> bool:
            known = self.pids()
            pids[:] = [known[name] for name in names]
            return all(pids)

        # To the pid 0 of one that is just being started, it would be a signal to ourselves.
        eventually(all_there)
        for pid in pids:
            with_signal(pid, number)
        return pids

    def is_ready(self) -> None:
        """Wait until every component runs and has said so, and the watch over them knows it."""
        asyncio.run(self._is_ready())

    async def _is_ready(self) -> None:
        async with (
            connect(self.paths) as bus,
            aclosing(bus.beats()) as beats,
            asyncio.timeout(PATIENCE),
        ):
            async for beat in beats:
                pids = await asyncio.to_thread(self.pids)
                watched = (await bus.query(Components())).value
                said = {name: (one.state, one.pid) for name, one in beat.reports.items()}
                known = {one.component: (one.state, one.pid) for one in watched}
                wanted = {name: ("running", pids[name]) for name in SERVICES}
                if all(pids.values()) and all(
                    wanted[name] == said.get(name) == known.get(name) for name in SERVICES
                ):
                    return

    def processes(self) -> dict[int, str]:
        """Every living process of this instance, agents and holders too, by its pid."""
        mark = f"HOME={self.home}".encode()
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if mark not in (entry / "environ").read_bytes().split(b"\0"):
                    continue
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue  # it ended while we looked
            if line:  # a zombie has none
                found[int(entry.name)] = line
        return found

    # --- the broom ----------------------------------------------------------------------------

    def close(self) -> None:
        """End everything, whatever state it is in; the directory stays."""
        with suppress(subprocess.TimeoutExpired):
            self.cli("down", check=False, timeout=PATIENCE)
        for _ in range(3):  # a supervisord may start something while we sweep
            left = self.processes()
            for pid in left:
                with_signal(pid, signal.SIGKILL)
            if not left:
                break

    def sent(self) -> Iterator[str]:
        """Every line that was ordered to be written to an agent, as far as the journals have it."""
        for path in (self.directory / "c" / "sidekicks" / "data").glob("*/journal"):
            try:
                journal = Journal(path)
            except JournalError:
                continue  # broken by a test, on purpose
            after = journal.floor - 1
            while records := journal.replay(after, 1 << 20):
                for batch in map(batch_from_record, records):
                    if batch.kinds & Kind.DO:
                        yield from (
                            event["line"] for event in batch.raw() if event["type"] == "do:send"
                        )
                    after = batch.last
            journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            print(self.logs(), file=sys.stderr)
        try:
            self.close()
            if error is None:
                for line in self.sent():
                    acp_schema.check(line)
        finally:
            self._folder.__exit__(None, None, None)


def with_signal(pid: int, number: int) -> None:
    """Send a signal to a process that may have ended already."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


@contextmanager
def running(**options: Any) -> Iterator[TestInstance]:
    """An instance that is up."""
    with TestInstance(**options) as instance:
        instance.up()
        yield instance


def _scripts(directory: Path) -> Path:
    """Where the services' scripts are: beside this Python, else made in ``directory``."""
    beside = Path(sys.executable).parent
    if (beside / "sk-bus").exists():
        return beside
    made = directory / "bin"
    made.mkdir()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, target in project["scripts"].items():
        module, _, function = target.partition(":")
        script = made / name
        script.write_text(
            f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\n"
            f"sys.exit({function}())\n"
        )
        script.chmod(0o755)
    return made
