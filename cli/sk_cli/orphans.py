"""What a supervisord that was killed left behind, seen by the next `up` or `down`."""

import os
import signal
from collections.abc import Callable

from sk_bus.paths import Instance
from sk_bus.queries import SERVICES
from sk_cli import locks
from sk_cli.failure import Failure
from sk_cli.instances import wait_ended
from sk_cli.words import t

_END_WITHIN = 5.0


def await_services(instance: Instance, say: Callable[[str], None]) -> None:
    """Wait until the services of an earlier run have ended; they do so at once.

    One that can't (it is stopped, or hangs) is killed: that is always allowed, and it would keep
    its lock for ever.
    """
    for service in SERVICES:
        path = instance.lock(service)
        if locks.becomes_free(path, _END_WITHIN):
            continue
        pid = locks.holder(path)
        if pid is None:
            raise Failure(t("orphans.unknown-holder", path=path))
        say(t("orphans.service", service=service, pid=pid))
        os.kill(pid, signal.SIGKILL)
        wait_ended(pid, _END_WITHIN)


def end_supervisor(instance: Instance, say: Callable[[str], None]) -> bool:
    """Kill a supervisord that lives but doesn't answer; its services end with it.

    What it left in the run directory goes too. Tells whether it had left anything.
    """
    left = instance.supervisor_socket.exists()
    pid = silent_supervisor(instance)
    if pid is not None:
        say(t("orphans.supervisord", pid=pid))
        os.kill(pid, signal.SIGKILL)
        wait_ended(pid, _END_WITHIN)
    # supervisord would find the dead socket itself, and sleep before it goes on.
    instance.supervisor_socket.unlink(missing_ok=True)
    instance.supervisor_pid.unlink(missing_ok=True)
    return left


def silent_supervisor(instance: Instance) -> int | None:
    """The pid in the pid file, when it is that of a living supervisord."""
    try:
        pid = int(instance.supervisor_pid.read_text(encoding="ascii"))
        os.kill(pid, 0)
    except (FileNotFoundError, ValueError, ProcessLookupError, PermissionError):
        return None
    return pid if _is_supervisord_of(pid, instance) else None


def _is_supervisord_of(pid: int, instance: Instance) -> bool:
    # A pid may have been given to somebody else since; its environment says whose it is.
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123  no Path in /proc
            environment = file.read().split(b"\0")
    except OSError:
        return False
    return b"SK_RUN=" + os.fsencode(instance.run) in environment
