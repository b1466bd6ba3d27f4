"""What every process of ours does first, and how it ends: privacy, one copy, a log, a back-off.

A process that fails is started anew by supervisord at once and for ever, so the pause between two
failures is made here, and grows.
"""

import ctypes
import fcntl
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sk_bus.paths import Instance

_SETTLED = 10.0  # seconds after which a start counts as a success
_LONGEST_PAUSE = 10.0
_OFTEN = 20  # kills from outside are no failures, but so many within _SETTLED are a loop
_PR_SET_PDEATHSIG = 1


class Process:
    """This process: its name, its lock, and how its last starts went."""

    def __init__(self, name: str, instance: Instance) -> None:
        self.name = name
        self.instance = instance
        self.log = logging.getLogger(f"sk.{name}")
        self._parent = _starter(instance)
        self._starts = instance.run / f"{name}.starts"
        self._failures = 0
        self.degraded = False

    def begin(self) -> None:
        """Become private, mortal and the only one.

        Raises:
            SystemExit: another copy runs.
        """
        os.umask(0o077)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # to end at once is always right
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _die_with_parent(self._parent)
        _log_to_stderr()
        lock(self.instance.lock(self.name), f"sk-{self.name}")
        self._count_start()

    def orphaned(self) -> bool:
        """Whether whoever started us is gone (there is no death signal on macOS)."""
        return os.getppid() != self._parent

    def failed(self, error: BaseException, *, say: Callable[[], None] | None = None) -> None:
        """Note a failure and pause before the exit, longer each time in a row."""
        self._failures += 1
        self._note(time.monotonic())
        pause = min(_LONGEST_PAUSE, 0.2 * 2 ** min(self._failures, 10))
        self.log.error("%s failed, ends in %.1f s: %s", self.name, pause, error, exc_info=error)
        if say is not None:
            say()
        time.sleep(pause)

    def settled(self) -> None:
        """It has run long enough: what failed before no longer counts."""
        if self._failures or self.degraded:
            self._failures, self.degraded = 0, False
        self._starts.unlink(missing_ok=True)

    def _count_start(self) -> None:
        now = time.monotonic()
        try:
            noted = json.loads(self._starts.read_text())
            self._failures = int(noted["failures"])
            recent = [at for at in noted["starts"] if 0 <= now - at < _SETTLED]
        except (OSError, ValueError, KeyError, TypeError):
            recent = []
        self.degraded = self._failures > 1
        if len(recent) >= _OFTEN:
            self.degraded = True
            self.log.warning("%s was started %d times in 10 s, waits", self.name, len(recent))
            time.sleep(1.0)
        self._recent = [*recent, now][-_OFTEN:]
        self._note(now)

    def _note(self, now: float) -> None:
        data = {"failures": self._failures, "starts": self._recent, "at": now}
        draft = self._starts.with_suffix(".draft")
        draft.write_text(json.dumps(data))
        draft.replace(self._starts)


def lock(path: Path, what: str) -> int:
    """Hold ``path`` until this process ends; the descriptor keeps it.

    Raises:
        SystemExit: another process holds it.
    """
    descriptor = take(path)
    if descriptor is None:
        sys.exit(f"{what} runs already: another process holds {path}")
    return descriptor


def take(path: Path) -> int | None:
    """Lock ``path`` for the life of this process, or ``None`` when another holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    os.truncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


def _starter(instance: Instance) -> int:
    """The pid of whoever started us: it may have died before our first step.

    supervisord writes its pid down before it starts anything; 0 when that is gone.
    """
    if os.environ.get("SUPERVISOR_ENABLED"):
        try:
            return int(instance.supervisor_pid.read_text())
        except (OSError, ValueError):
            return 0
    return os.getppid()


def _die_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # it died in between
        sys.exit("the process that started us is gone")


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


class _OneLine(logging.Formatter):
    """One line a record, whatever it holds: a log is read by programs as well."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\r", "\\r").replace("\n", "\\n")
