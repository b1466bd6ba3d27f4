"""Where calls of browsers are carried out: on the bus, or, for a restart, by supervisord.

What a call may be is :mod:`sk_gateway.calls`' business; which browser asked, that of its caller.
"""

import asyncio
import logging
import os
import signal
import time
from dataclasses import dataclass

from sk_bus.codec import plain
from sk_bus.commands import Command
from sk_bus.contract import Bus
from sk_bus.errors import RefusedError, SidekicksError, problem
from sk_bus.model import ComponentName
from sk_bus.supervisor import NOT_RUNNING, NotRunningError, Supervisor, SupervisorError
from sk_gateway import frames
from sk_gateway.calls import Call, Pulse, RestartComponent, shown
from sk_gateway.hub import Hub
from sk_gateway.pulse import ComponentPulse, pulses

_log = logging.getLogger("sk.gateway")
# A start may take its startTimeout, a stop its whole ladder; the command line waits as long.
_COMMAND_TIMEOUT = 600.0
_QUESTIONS = 20
_OURSELVES = ComponentName("gateway")


@dataclass(frozen=True, slots=True)
class Desk:
    """One for all browsers."""

    bus: Bus
    supervisor: Supervisor
    hub: Hub

    async def done(self, call: Call, *, since: int) -> str:
        """Carry out ``call``; the frame of its result.

        ``since`` is where the browser's stream began: an answer may be no older than that, or
        what happened in between would reach the browser neither way.
        """
        try:
            return await self._done(call, since)
        except SidekicksError as error:
            return frames.failure(call.id, error.problem)

    async def _done(self, call: Call, since: int) -> str:
        match call.what:
            case RestartComponent(component):
                await restarted(self.supervisor, component)
                return frames.result(call.id, value=None)
            case Pulse():
                made = await asyncio.to_thread(self._pulses)
                return frames.result(call.id, value=plain(made))
            case Command() as command:
                outcome = await self.bus.command(command, timeout=_COMMAND_TIMEOUT)
                if outcome.result.problem is not None:
                    return frames.failure(call.id, outcome.result.problem, seq=outcome.seq)
                return frames.result(call.id, value=outcome.result.value, seq=outcome.seq)
            case query:
                answer = await self.bus.query(query, after=max(call.after, since))
                return frames.result(call.id, value=shown(answer.value), asOf=plain(answer.asOf))

    def _pulses(self) -> tuple[ComponentPulse, ...]:
        try:
            pids = {name: one.pid for name, one in self.supervisor.processes().items()}
        except (NotRunningError, SupervisorError):
            pids = {}  # then it isn't known what they use; that they speak is
        beat, at = self.hub.beat
        return pulses(beat, at, time.monotonic_ns() // 1_000_000, pids)


async def restarted(supervisor: Supervisor, component: ComponentName) -> None:
    """End a component's process; supervisord starts it anew.

    It is killed, not stopped and started: each may be at any moment, a hung one too, and nobody
    who dies between two steps can leave it stopped.

    Raises:
        RefusedError: supervisord isn't there, or says no.
    """
    if component == _OURSELVES:
        # The answer goes out first; a process in its place greets the browsers in a moment.
        asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), signal.SIGTERM)
        return
    _log.info("restarting %s", component)
    try:
        await asyncio.to_thread(_restart, supervisor, component)
    except NotRunningError as error:
        raise RefusedError(
            problem(
                "no-supervisor",
                "{component} can't be restarted, because supervisord doesn't answer; "
                "run `make up` in a terminal",
                component=component,
            )
        ) from error
    except SupervisorError as error:
        raise RefusedError(
            problem(
                "supervisor-refused",
                "supervisord refused to restart {component}: {why}",
                component=component,
                why=str(error),
            )
        ) from error


def _restart(supervisor: Supervisor, component: str) -> None:
    before = supervisor.processes().get(component)
    try:
        supervisor.call("signalProcess", component, "KILL")
    except SupervisorError as error:
        if error.code != NOT_RUNNING:
            raise
        supervisor.start(component)
    noticed(supervisor, component, before.pid if before is not None else 0)


def noticed(supervisor: Supervisor, component: str, dead: int) -> None:
    """Ask supervisord until it has noticed that process ``dead`` has ended, and started another.

    Left alone it looks around once a second; each question wakes it, and two suffice. It blocks.
    """
    for _ in range(_QUESTIONS):
        process = supervisor.processes().get(component)
        if process is None or process.state == "STOPPED" or process.pid not in (0, dead):
            return
