"""The components as they are now: what they say of themselves, and what the system says."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sk_bus.contract import Bus, Heartbeat, Report
from sk_bus.paths import Instance
from sk_bus.queries import SERVICES
from sk_bus.supervisor import Process
from sk_cli import instances


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One component. ``since`` in ms (0: down), ``memory`` in bytes, ``behind`` in events.

    ``beat`` is how long ago (s) the bus heard of it.

    ``restarts`` since the close before this start; ``None`` while sk-config, which counts, is away.
    """

    component: str
    state: str
    pid: int
    since: int
    restarts: int | None
    memory: int | None
    behind: int | None
    details: dict[str, Any]
    problem: str = ""
    beat: float | None = None


async def heartbeat(bus: Bus, timeout: float) -> Heartbeat | None:
    """The bus's next heartbeat; ``None`` when none comes in time."""
    try:
        async with asyncio.timeout(timeout):
            async for beat in bus.beats():
                return beat
    except TimeoutError:
        pass
    return None


async def reported(instance: Instance, heartbeat: Heartbeat) -> dict[str, str]:
    """What the processes that run now say of themselves, by name.

    The report of a process that was there before says nothing about the present one.
    """
    processes = await asyncio.to_thread(instances.supervisor(instance).processes)
    states = {"bus": "running"}
    for name, report in heartbeat.reports.items():
        if name in processes and processes[name].pid == report.pid:
            states[name] = report.state
    return states


def components(
    processes: dict[str, Process], beat: Heartbeat | None, restarts: dict[str, int]
) -> list[Seen]:
    """Every component as it is now; ``restarts`` are those that were counted."""
    made = []
    for service in SERVICES:
        process = processes.get(service)
        pid = process.pid if process else 0
        report = beat.reports.get(service) if beat else None
        # A report of the process before says nothing about this one.
        current = report if report and report.pid == pid else None
        if not pid:
            state = "down"
        elif current is not None:
            state = current.state
        elif service == "bus" and beat is not None:
            state = "running"
        else:
            state = "starting"
        made.append(
            Seen(
                component=service,
                state=state,
                pid=pid,
                since=process.started * 1000 if process and pid else 0,
                restarts=restarts.get(service),
                memory=memory(pid) if pid else None,
                behind=max(0, beat.head - current.cursor) if beat and current else None,
                details=dict(current.details) if current else {},
                problem=process.problem if process else "",
                beat=_heard(service, report, beat),
            )
        )
    return made


def _heard(service: str, report: Report | None, beat: Heartbeat | None) -> float | None:
    if service == "bus":
        return None if beat is None else 0.0  # its heartbeat has just come
    if report is None or not report.heard:
        return None
    # CLOCK_MONOTONIC, which all processes of a machine share.
    return max(0.0, time.clock_gettime(time.CLOCK_MONOTONIC) - report.heard / 1000)


def memory(pid: int) -> int | None:
    """The proportional set size of a process, in bytes; ``None`` where the system doesn't say."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), None)


def age(since: int) -> float:
    """Seconds since ``since`` (ms)."""
    return time.time() - since / 1000
