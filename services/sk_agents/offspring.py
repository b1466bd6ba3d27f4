"""Processes as the system sees them: start an agent, find all that it started, end them.

It knows nothing of sockets, spools or managers. (Standard library: the holder's.)
"""

# pathlib would cost each holder another megabyte.
# ruff: noqa: PTH116, PTH119, PTH123, PTH208

from __future__ import annotations

import contextlib
import os
import signal
import sys

_PR_SET_CHILD_SUBREAPER = 36


class StartError(Exception):
    """The agent couldn't be started; ``step`` is ``fork``, ``cwd`` or ``exec``."""

    def __init__(self, step: str, number: int) -> None:
        self.step = step
        self.number = number
        super().__init__(f"{step}: {os.strerror(number)}")


class Program:
    """What is to be run. All are bytes as the system takes them."""

    __slots__ = ("arguments", "cwd", "environment", "path", "umask")

    def __init__(
        self,
        *,
        path: bytes,
        arguments: list[bytes],
        environment: list[bytes],
        cwd: bytes,
        umask: int,
    ) -> None:
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.cwd = cwd
        self.umask = umask


class Waiting:
    """An agent's process between fork and exec.

    It runs only when :meth:`go` is called, so that its pid can be written down first. If we die
    before, it ends without having been anything.
    """

    def __init__(self, program: Program) -> None:
        pipes: list[int] = []
        try:
            for _ in range(5):
                pipes.extend(os.pipe())  # not inherited over exec
            pid = os.fork()
        except OSError as error:
            for fd in pipes:
                os.close(fd)
            raise StartError("fork", error.errno or 0) from error
        inner, outer = [pipes[0], pipes[3], pipes[5]], [pipes[1], pipes[2], pipes[4]]
        if pid == 0:
            for fd in (*outer, pipes[7], pipes[8]):
                os.close(fd)
            _child(program, inner, go=pipes[6], failed=pipes[9])
        for fd in (*inner, pipes[6], pipes[9]):
            os.close(fd)
        self.pid = pid
        self.stdin, self.stdout, self.stderr = outer
        self._go = pipes[7]
        self._failed = pipes[8]

    def go(self) -> None:
        """Let it run.

        Raises:
            StartError: it couldn't change to its directory, or the program couldn't be executed.
        """
        os.write(self._go, b"!")
        os.close(self._go)
        word = os.read(self._failed, 64)
        os.close(self._failed)
        if word:
            os.waitpid(self.pid, 0)
            for fd in (self.stdin, self.stdout, self.stderr):
                os.close(fd)
            step, number = word.decode().split()
            raise StartError(step, int(number))


def _child(program: Program, stdio: list[int], *, go: int, failed: int) -> None:
    step = "cwd"
    try:
        # Closed by the death of our parent: then nobody has written down who we are.
        if not os.read(go, 1):
            os._exit(127)
        os.setsid()
        # What we and Python ignore would stay ignored in the agent and all that it starts.
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(program.cwd)
        step = "exec"
        for fd, own in enumerate(stdio):
            os.dup2(own, fd)
        os.umask(program.umask)
        environment = {
            name: value
            for name, _, value in (entry.partition(b"=") for entry in program.environment)
        }
        os.execve(program.path, program.arguments, environment)  # noqa: S606  no shell, on purpose
    except OSError as error:
        os.write(failed, f"{step} {error.errno or 0}".encode())
    finally:
        os._exit(127)


def become_subreaper() -> None:
    """Orphans among our descendants become our children (on Linux; elsewhere they are lost)."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415  the only way to prctl, and nobody else's need

    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Known:
    """One process in the system's table."""

    __slots__ = ("group", "parent", "pid", "session", "started", "state")

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.group = int(fields[2])
        self.session = int(fields[3])
        self.started = int(fields[19])


def known(pid: int) -> Known | None:
    """What the system knows of ``pid``; ``None`` when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            data = file.read()
    except OSError:
        return None
    # The name in parentheses may hold anything, parentheses and spaces too.
    return Known(pid, data[data.rindex(b")") + 2 :].split())


def everyone() -> list[Known]:
    """All processes (on Linux; elsewhere none)."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    found = [known(int(name)) for name in names if name.isdigit()]
    return [one for one in found if one is not None]


def descendants(root: int) -> list[Known]:
    """Every living process below ``root``, nearest first."""
    children: dict[int, list[Known]] = {}
    for one in everyone():
        if one.state != "Z":
            children.setdefault(one.parent, []).append(one)
    found: list[Known] = []
    level = [root]
    while level:
        below = [one for parent in level for one in children.get(parent, [])]
        found += below
        level = [one.pid for one in below]
    return found


def left_of(session: int, started: int) -> list[int]:
    """What still runs of the session that process ``session`` opened at ``started``.

    Nothing when that pid has come to name another process.
    """
    leader = known(session)
    if leader is not None and leader.started != started:
        return []
    return [
        one.pid
        for one in everyone()
        if one.session == session and one.started >= started and one.state != "Z"
    ]


def mark(folder: str) -> bytes:
    """What all that an agent starts has in its environment: so it is found without its holder, too.

    It names the very folder of this life: one of another instance may be called the same.
    """
    status = os.stat(folder)
    name = os.fsencode(os.path.basename(folder))
    return b"SIDEKICKS_LIFE=%s.%x.%x" % (name, status.st_dev, status.st_ino)


def marked(mark: bytes) -> list[int]:
    """What runs with ``mark`` (``NAME=value``) in its environment, whoever its parent is now."""
    found = []
    for one in everyone():
        try:
            with open(f"/proc/{one.pid}/environ", "rb") as file:
                data = file.read()
        except OSError:
            continue  # it is gone, or another user's
        if mark in data.split(b"\0"):
            found.append(one.pid)
    return found


def send(number: int, pids: list[int]) -> None:
    """Signal each that is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def send_group(number: int, group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def boot_id() -> str:
    """Names this boot of the machine: pids of another one mean nothing."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            return file.read().decode().strip()
    except OSError:
        return ""
