"""`sk-cli restart`: components anew, through supervisord; agents and answers go on."""

import asyncio
import time

import click

from sk_bus.client import connect
from sk_bus.contract import Bus
from sk_bus.paths import Instance
from sk_bus.queries import SERVICES
from sk_cli import instances
from sk_cli.completing import component_names
from sk_cli.failure import Exit, Failure, no_such
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, option
from sk_cli.words import number, t

_TIMEOUT = 20.0


@click.command(cls=Command, help="help.restart")
@click.argument("components", nargs=-1, metavar="COMPONENT…", shell_complete=component_names)
@option("--all", "everything", is_flag=True, help="help.restart.all")
@option("--yes", is_flag=True, hidden=True)
@pass_invocation
def command(told: Invocation, *, components: tuple[str, ...], everything: bool, yes: bool) -> None:
    del yes
    wanted = [str(name) for name in SERVICES] if everything else list(components)
    if not wanted:
        raise click.UsageError(t("restart.which", names=", ".join(SERVICES)))
    for name in wanted:
        if name not in SERVICES:
            raise no_such("component", name, SERVICES)
    instances.require_running(told.choice)
    instance = told.choice.instance
    supervisor = instances.supervisor(instance)
    done = []
    for name in wanted:
        began = time.monotonic()
        before = supervisor.processes()[name].pid
        supervisor.restart(name)
        after = asyncio.run(_healthy(instance, name, told.timeout or _TIMEOUT))
        took = time.monotonic() - began
        done.append({"component": name, "before": before, "after": after, "seconds": took})
        if not told.json:
            said = t("restart.done", after=after, seconds=number(took, 1))
            print(f"{name:<8} {before or '–'} → {said}", flush=True)
    if told.json:
        told.document(done)


async def _healthy(instance: Instance, name: str, timeout: float) -> int:
    """Wait until the new process of ``name`` reports; its pid."""
    try:
        async with asyncio.timeout(timeout), connect(instance) as bus:
            return await _reports(bus, instance, name)
    except TimeoutError as error:
        log = instance.logs / f"{name}.log"
        tail = "\n".join(instances.last_lines(log, 15))
        raise Failure(
            t("restart.late", name=name, seconds=number(timeout)) + f"\n--- {log}\n{tail}",
            code=Exit.TIMED_OUT,
        ) from error


async def _reports(bus: Bus, instance: Instance, name: str) -> int:
    supervisor = instances.supervisor(instance)
    async for beat in bus.beats():
        pid = (await asyncio.to_thread(supervisor.processes))[name].pid
        report = beat.reports.get(name)
        # The bus doesn't report to itself: its heartbeat is its report.
        if pid and (name == "bus" or (report is not None and report.pid == pid)):
            return pid
    raise AssertionError("a follower never ends by itself")
