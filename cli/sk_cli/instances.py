"""One instance on the disk and in the process table: does it run, and where is its page."""

import fcntl
import os
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sk_bus.paths import Instance
from sk_bus.supervisor import NotRunningError, Supervisor
from sk_cli.choice import Choice, other_instances, remembered_in
from sk_cli.failure import Exit, Failure
from sk_cli.words import t


def supervisor(instance: Instance, *, timeout: float = 10.0) -> Supervisor:
    return Supervisor(instance.supervisor_socket, timeout=timeout)


def supervisor_pid(instance: Instance) -> int | None:
    """The pid of the instance's supervisord; ``None`` when none answers."""
    try:
        return supervisor(instance).pid()
    except NotRunningError:
        return None


def address(instance: Instance) -> str:
    """Where the page is, without the token."""
    return f"http://127.0.0.1:{instance.port.read_text(encoding='ascii').strip()}"


def page(instance: Instance) -> str:
    """The page's address with the token in its fragment, which browsers never send or log."""
    return f"{address(instance)}/#t={instance.token.read_text(encoding='ascii').strip()}"


def running_on_same_file(choice: Choice) -> tuple[Instance, int] | None:
    """The running instance that uses the chosen file, be it the chosen one or another."""
    pid = supervisor_pid(choice.instance)
    if pid is not None:
        return choice.instance, pid
    for other in other_instances(choice.instance):
        if remembered_in(other) == choice.config:
            pid = supervisor_pid(other)
            if pid is not None:
                return other, pid
    return None


def require_running(choice: Choice) -> int:
    """The pid of the chosen instance's supervisord.

    Raises:
        Failure: it doesn't run; names those that do.
    """
    pid = supervisor_pid(choice.instance)
    if pid is not None:
        return pid
    running = [
        str(remembered_in(other))
        for other in other_instances(choice.instance)
        if supervisor_pid(other) is not None
    ]
    if running:
        raise Failure(
            t("not-running.others", config=choice.config, running=", ".join(running)),
            code=Exit.NOT_RUNNING,
            then=f"sk-cli --config {running[0]} …   |   sk-cli up",
        )
    raise Failure(t("not-running"), code=Exit.NOT_RUNNING, then="sk-cli up")


@contextmanager
def alone(instance: Instance) -> Iterator[None]:
    """Hold the instance's door: one `up` or `down` at a time; another waits."""
    with instance.lock("up").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def wait_ended(pid: int, timeout: float) -> bool:
    """Wait until process ``pid`` has ended; ``False`` when it hasn't after ``timeout`` seconds."""
    if hasattr(os, "pidfd_open"):
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        try:
            return bool(select.select([descriptor], [], [], timeout)[0])
        finally:
            os.close(descriptor)
    return _wait_ended_by_asking(pid, timeout)


def _wait_ended_by_asking(pid: int, timeout: float) -> bool:
    # macOS has no pidfd, and kqueue only for what we may see; asking is enough there.
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def last_lines(path: Path, count: int) -> list[str]:
    """The last ``count`` lines of a log; none when there is no such file.

    A record with a traceback is one long line.
    """
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            size = file.tell()
            file.seek(max(0, size - 4000 * count))
            lines = file.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return lines[-count:]
