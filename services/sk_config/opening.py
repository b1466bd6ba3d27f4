"""The way to another configuration file: whether it can be opened, and the move of the pointer.

The router says in its reports how far an Open has come; what is to be done follows from that state
alone, so it is done again after any kill. When everything has closed, and the history has read it
all, the pointer is moved; the bus then goes on elsewhere in a new epoch, and this process ends.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sk_bus import paths
from sk_bus import service as harness
from sk_bus.contract import Report
from sk_bus.errors import UnreachableError, problem
from sk_bus.failpoints import failpoint
from sk_bus.internal import FileOpenable
from sk_bus.model import CommandId, Problem
from sk_bus.queries import ListChannels
from sk_config import files

_PATIENCE = 10.0  # seconds for the history, before it is said what is waited for
_AGAIN = 1.0


class Opening:
    """What the router's reports ask for, done one after the other."""

    def __init__(
        self,
        service: harness.Service,
        file: Path,
        *,
        answered: Callable[[CommandId], bool],
        say: Callable[[FileOpenable], None],
    ) -> None:
        self._service = service
        self._file = file
        self._answered = answered
        self._say = say
        # What a person should know of an Open that can't go on; empty as long as it can.
        self.waits = ""
        self._wanted: dict[str, Any] | None = None
        self._changed = asyncio.Event()

    def heard(self, report: Report) -> None:
        """The router's word on itself."""
        wanted = report.details.get("opening")
        # The bus repeats the last word of a router, be it one of the epoch before.
        if report.epoch == self._service.hello.epoch and wanted != self._wanted:
            self._wanted = wanted
            self._changed.set()

    async def run(self) -> None:
        """Do what is asked for, for ever."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            match self._wanted:
                case {"closed": True, "path": str(path)}:
                    await self._move_to(path)
                case {"closes": False, "command": str(id_), "path": str(path)}:
                    command = CommandId(id_)
                    if not self._answered(command):
                        word = await asyncio.to_thread(judged, command, path, self._file)
                        failpoint("open_judged")
                        self._say(word)
                case _:
                    pass  # nothing, or the agents are still ending

    async def _move_to(self, path: str) -> None:
        bus, log = self._service.bus, self._service.log
        # Whatever was said up to now belongs to the history of this file; with the new epoch the
        # journal is gone.
        head = (await bus.hello(timeout=float("inf"))).head
        while True:
            try:
                await bus.query(ListChannels(), after=head, timeout=_PATIENCE)
                break
            except UnreachableError:
                self.waits = f"{path} is opened when the history has stored everything"
                self._service.state = "degraded"
                log.warning("%s; it waits", self.waits)
        self.waits = ""
        failpoint("open_read")
        while True:
            try:
                files.replace(self._service.instance.source, b"remembered\n")
                files.replace(self._service.instance.pointer, f"{path}\n".encode())
                break
            except OSError as error:
                log.error("%s can't be opened yet: %s", path, error)  # noqa: TRY400
                await asyncio.sleep(_AGAIN)
        failpoint("open_moved")
        log.info("%s is the configuration file from now on", path)


def judged(command: CommandId, asked: str, now: Path) -> FileOpenable:
    """Whether the path that was ``asked`` for can be opened while ``now`` is in force."""
    expanded = Path(os.path.expanduser(asked))  # noqa: PTH111  leaves an unknown ~user as it is
    try:
        path = Path(paths.identity(now.parent / expanded))
        why = _unusable(path) if asked.strip() else problem("empty-path", "no file was named")
    except (OSError, ValueError, RuntimeError) as error:  # a NUL in it, a loop of links
        path, why = expanded, _unreadable(asked, str(error))
    return FileOpenable(
        command=command, path=str(path), already=why is None and path == now, problem=why
    )


def _unusable(path: Path) -> Problem | None:
    """Why the file can't be a configuration; what it says is no matter."""
    try:
        files.read(path).decode("utf-8-sig")
    except FileNotFoundError:
        return problem("no-such-file", "there is no file {path}", path=str(path))
    except IsADirectoryError:
        message = "{path} is a folder; name the file that is in it"
        return problem("is-folder", message, path=str(path))
    except UnicodeDecodeError:
        return _unreadable(str(path), "it is no UTF-8 text")
    except OSError as error:
        return _unreadable(str(path), error.strerror or type(error).__name__)
    return None


def _unreadable(path: str, reason: str) -> Problem:
    return problem("unreadable", "{path} can't be read: {reason}", path=path, reason=reason)
