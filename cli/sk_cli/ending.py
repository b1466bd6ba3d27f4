"""Ending an instance: the orderly close over the bus, then supervisord, then the broom.

Each step works also when the one before couldn't: nothing may be left running, whatever was killed.
"""

import asyncio
import os
import signal

from sk_bus.client import connect
from sk_bus.commands import Shutdown
from sk_bus.contract import Bus
from sk_bus.errors import RefusedError, UnreachableError
from sk_bus.paths import Instance
from sk_bus.supervisor import NotRunningError
from sk_cli import asking, instances, observing, orphans, sweeping
from sk_cli.starting import Say
from sk_cli.words import problem_text, t

_SUPERVISOR_ENDS_WITHIN = 25.0
_BUS_ANSWERS_WITHIN = 5.0
_REPORTS_WITHIN = 3.0
_NEEDED = ("router", "agents")


def end(instance: Instance, *, say: Say, timeout: float) -> bool:
    """End everything of ``instance``; whether there was anything to end."""
    pid = instances.supervisor_pid(instance)
    if pid is not None:
        asyncio.run(_closed(instance, say=say, timeout=timeout))
        _end_supervisor(instance, pid, say)
    found = orphans.end_supervisor(instance, say) or pid is not None
    orphans.await_services(instance, say)
    swept = sweeping.sweep(instance)
    if swept:
        say(t("down.swept", agents=", ".join(swept)))
    return found or bool(swept)


async def _closed(instance: Instance, *, say: Say, timeout: float) -> None:
    """Ask for the orderly close and wait for its result.

    Where one of those who carry it out isn't there, nobody waits for it: the broom comes after.
    """
    async with connect(instance) as bus:
        try:
            hello = await bus.hello(timeout=_BUS_ANSWERS_WITHIN)
            absent = await _absent(bus, instance)
            if absent or not hello.open:
                say(t("down.absent", names=", ".join(absent) or "history"))
                return
            outcome = await bus.command(Shutdown(id=asking.command_id(), by="cli"), timeout=timeout)
        except (RefusedError, UnreachableError) as error:
            say(t("down.disorderly", why=problem_text(error.problem)))
            return
    problem = outcome.result.problem
    if problem is None:
        say(t("down.ended"))
    else:
        say(t("down.disorderly", why=problem_text(problem)))


async def _absent(bus: Bus, instance: Instance) -> list[str]:
    """Who of those that an orderly close needs doesn't report."""
    present: set[str] = set()
    try:
        async with asyncio.timeout(_REPORTS_WITHIN):
            async for beat in bus.beats():
                states = await observing.reported(instance, beat)
                present = {name for name in _NEEDED if name in states}
                if len(present) == len(_NEEDED):
                    break
    except TimeoutError:
        pass
    return [name for name in _NEEDED if name not in present]


def _end_supervisor(instance: Instance, pid: int, say: Say) -> None:
    try:
        instances.supervisor(instance).shutdown()
    except NotRunningError as error:
        say(str(error))
    if not instances.wait_ended(pid, _SUPERVISOR_ENDS_WITHIN):
        say(t("down.killing", pid=pid))
        os.kill(pid, signal.SIGKILL)
        instances.wait_ended(pid, 5.0)
