"""Performs what the watch over the processes asks for, and feeds it what the machine says.

supervisord would notice a death within a second by itself. It is spoken to only when something
happened, because its loop wakes when it is spoken to.
"""

import asyncio
import contextlib
import functools
import os
import signal
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from sk_bus import service as harness
from sk_bus.contract import Heartbeat, Report
from sk_bus.events import ComponentStateChanged
from sk_bus.model import ComponentName
from sk_bus.seconds import until_next
from sk_config.components import (
    Ask,
    BusHeard,
    Components,
    Died,
    Heard,
    Input,
    Kill,
    Say,
    StartAgain,
    Supervised,
    Ticked,
    Watch,
)

if TYPE_CHECKING:
    from sk_bus.supervisor import Supervisor

_TRIES = 20  # questions until supervisord has noticed a death; two suffice


class Processes:
    """The shell around :class:`Components`."""

    def __init__(
        self,
        service: harness.Service,
        components: Components,
        say: Callable[[ComponentStateChanged], None],
        hear: Callable[[Report], None],
    ) -> None:
        self._service = service
        self._components = components
        self._say = say
        self._hear = hear
        self._speaking = asyncio.Lock()
        self._handles: dict[tuple[ComponentName, int], int] = {}
        self._group: asyncio.TaskGroup | None = None
        self._supervisor: Supervisor | None = None

    async def run(self) -> None:
        """Watch, for ever."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            group.create_task(self._ask())
            group.create_task(self._tick())
            group.create_task(self._listen())

    # --- what comes in ----------------------------------------------------------------------

    async def _tick(self) -> None:
        while True:
            self._feed(Ticked(now=_now(), wall=_wall()))
            await asyncio.sleep(until_next(time.monotonic()))

    async def _listen(self) -> None:
        async for beat in self._service.bus.beats():
            self._service.advance(beat.head)
            self._heartbeat(beat)

    def _heartbeat(self, beat: Heartbeat) -> None:
        self._feed(BusHeard(now=_now(), wall=_wall()))
        for name, report in beat.reports.items():
            self._feed(
                Heard(
                    component=ComponentName(name),
                    pid=report.pid,
                    degraded=report.state == "degraded",
                    at=report.heard,
                    now=_now(),
                    wall=_wall(),
                )
            )
            self._hear(report)

    def _gone(self, name: ComponentName, pid: int) -> None:
        handle = self._handles.pop((name, pid))
        asyncio.get_running_loop().remove_reader(handle)
        os.close(handle)
        self._feed(Died(component=name, pid=pid, now=_now(), wall=_wall()))

    # --- what is to be done -----------------------------------------------------------------

    def _feed(self, event: Input) -> None:
        for instruction in self._components.handle(event):
            match instruction:
                case Say(event=said):
                    self._say(said)
                case Watch(component=name, pid=pid):
                    self._watch(name, pid)
                case StartAgain(component=name, dead=pid):
                    self._task(self._start_again(name, pid))
                case Kill(component=name, pid=pid):
                    self._kill(name, pid)
                case Ask():
                    self._task(self._ask())

    def _task(self, work: Coroutine[None, None, None]) -> None:
        assert self._group is not None, "set by run"
        self._group.create_task(work)

    def _watch(self, name: ComponentName, pid: int) -> None:
        if not hasattr(os, "pidfd_open"):  # macOS: supervisord's own pace must do
            return
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            self._feed(Died(component=name, pid=pid, now=_now(), wall=_wall()))
            return
        self._handles[name, pid] = handle
        asyncio.get_running_loop().add_reader(handle, functools.partial(self._gone, name, pid))

    def _kill(self, name: ComponentName, pid: int) -> None:
        handle = self._handles.get((name, pid))
        self._service.log.warning("%s (pid %d) is not heard any more: killed", name, pid)
        if handle is None:
            return
        # Through the handle: by its number it might be another process by now.
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)

    async def _ask(self) -> None:
        for name, pid in (await self._supervised()).items():
            self._feed(Supervised(component=name, pid=pid, now=_now(), wall=_wall()))

    async def _start_again(self, name: ComponentName, dead: int) -> None:
        # Its loop reaps after it has answered: the first question wakes it, the second starts.
        for _ in range(_TRIES):
            pid = (await self._supervised(starting=name, dead=dead)).get(name)
            if pid is None:
                return
            if pid not in (0, dead):
                self._feed(Supervised(component=name, pid=pid, now=_now(), wall=_wall()))
                return

    async def _supervised(
        self, *, starting: ComponentName | None = None, dead: int = 0
    ) -> dict[ComponentName, int]:
        """The process of each component; empty when supervisord has no answer.

        ``starting`` is started first unless it runs as another process than ``dead``, or somebody
        is stopping it: then it is left out.
        """
        async with self._speaking:
            return await asyncio.to_thread(self._spoken, starting, dead)

    def _spoken(self, starting: ComponentName | None, dead: int) -> dict[ComponentName, int]:
        # Imported here, in a thread and after the configuration is told: 30 ms.
        from sk_bus.supervisor import (  # noqa: PLC0415
            NotRunningError,
            Supervisor,
            SupervisorError,
        )

        if self._supervisor is None:
            self._supervisor = Supervisor(self._service.instance.supervisor_socket, timeout=5.0)
        try:
            processes = self._supervisor.processes()
            if starting is not None:
                process = processes.get(starting)
                if process is None or process.state in ("STOPPED", "STOPPING"):
                    return {}
                if process.pid in (0, dead):
                    self._supervisor.start(starting)
                    processes = self._supervisor.processes()
        except (NotRunningError, SupervisorError) as error:
            self._service.log.warning("supervisord: %s", error)
            return {}
        return {ComponentName(name): process.pid for name, process in processes.items()}


def _now() -> int:
    return time.monotonic_ns() // 1_000_000


def _wall() -> int:
    return time.time_ns() // 1_000_000
