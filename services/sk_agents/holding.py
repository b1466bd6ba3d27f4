"""A holder's life, from its start on: takes its folder, and holds what is in it.

What it does with the folder is decided by what lies in it, under its lock: nothing yet: the agent
that stdin describes is started; a record of an agent but none of its end: its holder was lost, so
what it left is killed; a record of the end: what was not acknowledged is handed on.

Standard library only, no asyncio.
"""

# pathlib would cost each holder another megabyte.
# ruff: noqa: PTH108

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import sys
import time

from sk_agents import frames, offspring
from sk_agents.holder import Holder, keep
from sk_agents.ladder import Ladder, Patience
from sk_agents.spool import Spool

LOCKED = 75
STDOUT_CAP = 192 * 1024 * 1024
STDERR_CAP = 4 * 1024 * 1024


def main() -> None:
    """Hold the folder named on the command line until its agent is over."""
    folder, path, *settings = sys.argv[1:]
    numbers = {name: float(value) for name, value in (one.split("=") for one in settings)}
    description = _detach(folder)
    os.umask(0o077)
    lock = os.open(f"{folder}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.stderr.write(f"{folder} is held by another process\n")
        sys.exit(LOCKED)
    offspring.become_subreaper()
    listener = _listening(folder, path)
    _say_ready()
    inc = int(folder.rpartition(".")[2])
    segment = int(numbers.get("segment", 1024 * 1024))
    out = Spool(folder, "out", cap=int(numbers.get("cap", STDOUT_CAP)), segment=segment)
    err = Spool(folder, "err", cap=int(numbers.get("errcap", STDERR_CAP)), lossy=True)
    end = Ladder(
        eof=numbers.get("eof", 5.0),
        term=numbers.get("term", 3.0),
        linger=numbers.get("linger", 1.0),
    )
    patience = Patience(
        time.monotonic(),
        idle=numbers.get("idle", 600.0),
        turn=numbers.get("turn", 6 * 3600.0),
    )
    agent = frames.record_from(_read(f"{folder}/agent"))
    ended = _read(f"{folder}/exit") or None
    child = None
    if ended is None and agent:
        ended = _lost(folder, agent, out, err)
    elif ended is None:
        child, ended = _started(folder, description)
    Holder(
        folder=folder,
        inc=inc,
        listener=listener,
        out=out,
        err=err,
        taken=int(_read(f"{folder}/taken") or b"0"),
        pid=int(agent.get("pid", "0")),
        child=child,
        exit_record=ended,
        end=end,
        patience=patience,
    ).run()
    # Unlinked before the lock goes, so that it is never the socket of the next one.
    os.unlink(path)


def _detach(folder: str) -> bytes:
    """Leave the manager's session, descriptors and terminal; what it says of the agent on stdin."""
    os.closerange(3, 65536 if sys.platform != "linux" else 1 << 20)
    if os.getsid(0) != os.getpid():
        os.setsid()
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    description = b""
    while data := os.read(0, 65536):
        description += data
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    # A traceback of ours must not vanish; nothing else is written here.
    log = os.open(f"{folder}/shim.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 2)
    os.close(log)
    # Whoever started us may have stood in a folder that the user wants to remove.
    os.chdir("/")
    return description


def _listening(folder: str, path: str) -> socket.socket:
    keep(f"{folder}/socket", path.encode())
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # left by one that was killed: we hold the lock
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(8)
    return listener


def _say_ready() -> None:
    """One byte on stdout, for whoever waits to connect, and no more of it."""
    with contextlib.suppress(OSError):
        os.write(1, b"+")
    os.dup2(0, 1)


def _started(folder: str, description: bytes) -> tuple[offspring.Waiting | None, bytes | None]:
    """The agent that ``description`` describes, running; or the record of its failed start."""
    whole, path, cwd, umask, count, *texts = frames.unpacked(description)
    if int(whole) != len(texts):
        raise frames.FrameError("a description that breaks off: its manager was killed")
    program = offspring.Program(
        path=path,
        cwd=cwd,
        umask=int(umask),
        arguments=texts[: int(count)],
        environment=[*texts[int(count) :], offspring.mark(folder)],
    )
    try:
        child = offspring.Waiting(program)
        keep(f"{folder}/agent", _whoami(child.pid))
        child.go()
    except offspring.StartError as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{folder}/agent")
        record = frames.record(
            {"out": 0, "err": 0, "taken": 0, "failed": error.step, "errno": error.number}
        )
        keep(f"{folder}/exit", record)
        return None, record
    return child, None


def _whoami(pid: int) -> bytes:
    """What names the agent's process for good: pids are used again, over time and over boots."""
    process = offspring.known(pid)
    return frames.record(
        {"pid": pid, "started": process.started if process else 0, "boot": offspring.boot_id()}
    )


def _lost(folder: str, agent: dict[str, str], out: Spool, err: Spool) -> bytes:
    """Kill what a lost holder's agent left, and record that end."""
    if agent["boot"] == offspring.boot_id():
        while left := [
            *offspring.left_of(int(agent["pid"]), int(agent["started"])),
            *offspring.marked(offspring.mark(folder)),
        ]:
            offspring.send(signal.SIGKILL, left)
            time.sleep(0.01)  # nothing to await: they are no children of ours
    record = frames.record(
        {
            "out": out.head,
            "err": err.head,
            "taken": int(_read(f"{folder}/taken") or b"0"),
            "lost": 1,
        }
    )
    keep(f"{folder}/exit", record)
    return record


def _read(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    try:
        return os.read(fd, 65536)
    finally:
        os.close(fd)
