"""What a test waits for before and after it breaks something: that all of it stands, and an answer.

Nothing here breaks anything.
"""

import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

import orjson

from sk_bus.queries import SERVICES
from sk_bus.supervisor import NotRunningError, SupervisorError
from sk_demo.scenes import long_text
from tests.support.instance import TestInstance
from tests.support.patience import PATIENCE


def wait(true: Callable[[], object], what: str, timeout: float = PATIENCE) -> None:
    """Wait until ``true`` is so; ``what`` is said when it never is."""
    end = time.monotonic() + timeout
    while not true():
        assert time.monotonic() < end, f"it never came to this: {what}"
        time.sleep(0.02)


def stands(instance: TestInstance) -> bool:
    """Whether each component runs by its own word, as the process that supervisord has."""
    try:
        pids = instance.pids()
    except (NotRunningError, SupervisorError, OSError):
        return False
    ended = instance.cli("status", "--json", check=False)
    if ended.returncode != 0:
        return False
    with suppress(OSError), socket.create_connection(("127.0.0.1", instance.port)):
        said = _components(ended.stdout)
        return said == {name: ("running", pids[name]) for name in SERVICES}
    return False


def standing(instance: TestInstance) -> dict[str, int]:
    """Wait until all of it stands; the pids."""
    wait(lambda: stands(instance), "everything runs")
    return instance.pids()


def _components(status: str) -> dict[str, tuple[str, int]]:
    return {
        one["component"]: (one["state"], one["pid"]) for one in orjson.loads(status)["components"]
    }


class Answer:
    """An answer of the demo agent that is under way: ``count`` words, in a direct conversation.

    Use it as a context manager. It has begun once the block begins.
    """

    def __init__(self, instance: TestInstance, count: int) -> None:
        self._count = count
        self._sending = subprocess.Popen(
            instance.command("send", "@demo", f"long {count}", "--wait"),
            env=instance.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._said = ""

    def ends_whole(self) -> bool:
        """Whether it ends as the agent wrote it, and so is printed."""
        assert self._sending.stdout is not None
        self._said += self._sending.stdout.read()
        self._sending.wait(timeout=PATIENCE)
        whole = f"{long_text(self._count)}\n"
        return (self._sending.returncode, self._said) == (0, whole)

    def __enter__(self) -> Self:
        assert self._sending.stdout is not None
        self._said = self._sending.stdout.read(20)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sending.kill()
        self._sending.wait()
