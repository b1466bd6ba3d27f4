"""Starts holders and reaps them; finds the program that a definition names. Publishes nothing."""

import asyncio
import errno
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sk_agents import frames, holding, shim
from sk_agents.environment import LoginShell
from sk_bus.errors import problem
from sk_bus.model import Problem
from sk_bus.paths import Instance, hashed

_TRIES = 100
_PAUSE = 0.05


class StartFailedError(Exception):
    """No agent came of it; ``problem`` says why."""

    def __init__(self, why: Problem) -> None:
        self.problem = why
        super().__init__(why.message)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one life lies: its folder, its socket, and the copy of its definition.

    Socket and copy are in the run directory: a socket's path must be short, and secrets are
    written nowhere that outlives the machine's uptime.
    """

    folder: Path
    socket: Path
    definition: Path

    @property
    def agent(self) -> str:
        return self.folder.name.rpartition(".")[0]

    @property
    def inc(self) -> int:
        return int(self.folder.name.rpartition(".")[2])


class Processes:
    """The holders' folders and processes, of one data directory."""

    def __init__(self, instance: Instance, data: Path, shell: LoginShell) -> None:
        self._instance = instance
        self._spools = data / "spools"
        self._shell = shell
        self._children: list[subprocess.Popen[bytes]] = []
        asyncio.get_running_loop().add_signal_handler(signal.SIGCHLD, self._reap)

    def place(self, agent: str, inc: int) -> Place:
        folder = self._spools / f"{agent}.{inc}"
        name = hashed(str(folder))
        run = self._instance.run
        return Place(folder, run / f"s.{name}", run / f"d.{name}")

    def places(self) -> list[Place]:
        """Every life whose folder is there."""
        if not self._spools.exists():
            return []
        names = (path.name.rpartition(".") for path in self._spools.iterdir() if path.is_dir())
        return [self.place(agent, int(inc)) for agent, _, inc in names if agent and inc.isdigit()]

    def definition(self, digest: str) -> dict[str, Any]:
        """The definition of that digest.

        Raises:
            StartFailedError: there is no such file, or it can't be read now.
        """
        path = self._instance.definitions / f"{digest}.json"
        try:
            made: dict[str, Any] = json.loads(path.read_bytes())
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                raise StartFailedError(not_started(error)) from error
            raise StartFailedError(_definition_missing(path)) from error
        except ValueError as error:
            raise StartFailedError(_definition_missing(path)) from error
        return made

    async def description(self, definition: dict[str, Any]) -> bytes:
        """What a holder is told to start.

        Raises:
            StartFailedError: its program or its directory isn't there.
        """
        environment = await self._shell.environment()
        variables = environment.variables | definition["env"]
        cwd = definition["cwd"]
        path = found(definition, variables.get("PATH", ""))
        variables["PWD"] = cwd
        return frames.description(
            path=os.fsencode(path),
            cwd=os.fsencode(cwd),
            umask=environment.umask,
            arguments=[os.fsencode(text) for text in (definition["command"], *definition["args"])],
            environment=[os.fsencode(f"{name}={value}") for name, value in variables.items()],
        )

    async def connect(
        self, place: Place, description: bytes = b""
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the life's holder, which is started when nobody holds the folder.

        Raises:
            StartFailedError: no holder could be started.
        """
        for _ in range(_TRIES):
            try:
                return await asyncio.open_unix_connection(str(place.socket))
            except (FileNotFoundError, ConnectionError):
                if not await self._start(place, description):
                    # Another holds it, and isn't listening yet or no more.
                    await asyncio.sleep(_PAUSE)
            except OSError as error:
                # No descriptors. Where there may be a holder already, its agent lives all the same.
                if not description or place.folder.exists():
                    raise
                raise StartFailedError(not_started(error)) from error
        raise StartFailedError(holder_failed(place))

    async def _start(self, place: Place, description: bytes) -> bool:
        """Start a holder; whether it holds the folder and listens.

        Raises:
            StartFailedError: it ended, and why.
        """
        place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            ready, said = os.pipe()
        except OSError as error:
            raise StartFailedError(not_started(error)) from error
        try:
            with tempfile.TemporaryFile(dir=self._instance.run) as told:
                told.write(description)
                told.seek(0)
                child = subprocess.Popen(  # noqa: ASYNC220  fork and exec at once; nothing to await
                    [sys.executable, "-I", "-S", shim.__file__, place.folder, place.socket],
                    stdin=told,
                    stdout=said,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
        except OSError as error:
            os.close(ready)
            raise StartFailedError(not_started(error)) from error
        finally:
            os.close(said)
        self._children.append(child)
        if await _first_byte(ready):
            return True
        # It closed its stdout without a word: it is ending.
        if child.wait() == holding.LOCKED:
            return False
        raise StartFailedError(holder_failed(place))

    def _reap(self) -> None:
        self._children = [child for child in self._children if child.poll() is None]


async def _first_byte(fd: int) -> bytes:
    """The first byte of a pipe, or none at its end; the pipe is closed."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", buffering=0)
    )
    try:
        return await reader.read(1)
    finally:
        transport.close()


def found(definition: dict[str, Any], path: str) -> str:
    """The file to execute.

    Raises:
        StartFailedError: there is none, or it can't be executed.
    """
    command = definition["command"]
    reachable(definition["cwd"])
    if "/" in command:
        candidates = [Path(definition["cwd"]) / command]
        searched = ""
    else:
        searched = os.pathsep.join(
            dict.fromkeys(
                folder
                for folder in (path + os.pathsep + definition.get("path", "")).split(os.pathsep)
                if folder
            )
        )
        candidates = [Path(folder) / command for folder in searched.split(os.pathsep)]
    # Path.is_file raises where we may not look: such a folder on PATH has no program, that is all.
    files = [candidate for candidate in candidates if os.path.isfile(candidate)]  # noqa: PTH113
    for file in files:
        if os.access(file, os.X_OK):
            return str(file)
    if files:
        raise StartFailedError(not_executable(str(files[0]), "it has no right to be executed"))
    if searched:
        raise StartFailedError(
            problem(
                "not-on-path",
                "{command} isn't found on PATH ({path}). Install it, or give its whole path.",
                command=command,
                # What the configuration's own PATH says is nobody else's business.
                path="env: PATH" if "PATH" in definition.get("env", {}) else searched,
            )
        )
    raise StartFailedError(
        problem("command-not-found", "There is no file {command}.", command=command)
    )


def reachable(cwd: str) -> None:
    """Look whether the directory can be entered, before the command could be blamed for it.

    Raises:
        StartFailedError: it can't, and why.
    """
    try:
        number = 0 if stat.S_ISDIR(os.stat(cwd).st_mode) else errno.ENOTDIR  # noqa: PTH116
    except OSError as error:
        number = error.errno or errno.ENOENT
    if number:
        raise StartFailedError(cwd_unusable(cwd, number))


def cwd_unusable(cwd: str, number: int) -> Problem:
    if number in (errno.ENOENT, errno.ENOTDIR) and not os.path.lexists(cwd):
        return problem(
            "cwd-missing", "Its directory {cwd} isn't there; make it or name another.", cwd=cwd
        )
    return problem(
        "cwd-unusable",
        "Its directory {cwd} can't be used: {why}. Mend that or name another.",
        cwd=cwd,
        why=os.strerror(number),
    )


def not_executable(file: str, why: str) -> Problem:
    return problem("not-executable", "{file} can't be executed: {why}.", file=file, why=why)


def start_failed(step: str, number: int, definition: dict[str, Any]) -> Problem:
    """What a holder's record of a failed start means."""
    if step == "cwd":
        return cwd_unusable(definition.get("cwd", ""), number)
    if step == "exec":
        return not_executable(definition.get("command", ""), os.strerror(number))
    return not_started(OSError(number, ""))


def not_started(error: OSError) -> Problem:
    why = os.strerror(error.errno or 0)
    return problem("not-started", "The system started no process: {why}.", why=why)


def _definition_missing(path: Path) -> Problem:
    return problem(
        "definition-missing",
        "The definition of this agent is not in {path}; save the configuration again.",
        path=str(path),
    )


def holder_failed(place: Place) -> Problem:
    try:
        lines = (place.folder / "shim.log").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    return problem(
        "holder-failed",
        "The process that was to hold the agent ended: {why}",
        why=lines[-1] if lines else "it left no word",
    )
