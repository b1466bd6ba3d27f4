"""`sk-cli restart`: components anew, through supervisord; agents and answers go on."""

import asyncio
import time

import click

from sk_bus.client import connect
from sk_bus.contract import Bus
from sk_bus.paths import Instance
from sk_bus.queries import SERVICES
from sk_cli import instances
from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Command, Invocation, pass_invocation

_TIMEOUT = 20.0


@click.command(cls=Command, help="Restart components; agents and answers go on.")
@click.argument("components", nargs=-1, metavar="COMPONENT…")
@click.option("--all", "everything", is_flag=True, help="Every component.")
@click.option("--yes", is_flag=True, hidden=True, help="Nothing is asked; for scripts that say so.")
@pass_invocation
def command(told: Invocation, *, components: tuple[str, ...], everything: bool, yes: bool) -> None:
    del yes
    wanted = [str(name) for name in SERVICES] if everything else list(components)
    if not wanted:
        raise click.UsageError(f"which one? {', '.join(SERVICES)}, or --all")
    for name in wanted:
        if name not in SERVICES:
            raise Failure(
                f"there is no component {name!r}; there are {', '.join(SERVICES)}",
                code=Exit.NO_SUCH,
            )
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
            print(f"{name:<8} {before or '–'} → {after}, healthy in {took:.1f} s", flush=True)
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
            f"{name} doesn't report after {timeout:g} s\n--- {log}\n{tail}", code=Exit.TIMED_OUT
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
