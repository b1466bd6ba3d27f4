"""How each component does at this moment, for whoever watches them: no event tells it.

What the bus's last heartbeat says, and what the system knows of the processes. Times are
milliseconds of CLOCK_MONOTONIC.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sk_bus.contract import Heartbeat
from sk_bus.model import ComponentName
from sk_bus.queries import SERVICES

BUS = ComponentName("bus")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentPulse:
    """``heard`` is how long ago (ms) it spoke last, ``behind`` how many events it has yet to do.

    ``memory`` is in bytes (PSS). Each is absent where it isn't known.
    """

    component: ComponentName
    heard: int | None = None
    behind: int | None = None
    memory: int | None = None


def pulses(
    beat: Heartbeat | None, beat_at: int, now: int, pids: Mapping[str, int]
) -> tuple[ComponentPulse, ...]:
    """Every component's pulse; ``beat`` came at ``beat_at``, ``pids`` are those that run now."""
    return tuple(_pulse(name, beat, beat_at, now, pids.get(name, 0)) for name in SERVICES)


def _pulse(
    name: ComponentName, beat: Heartbeat | None, beat_at: int, now: int, pid: int
) -> ComponentPulse:
    memory = memory_of(pid) if pid else None
    if beat is None:
        return ComponentPulse(component=name, memory=memory)
    if name == BUS:
        return ComponentPulse(component=name, heard=now - beat_at, behind=0, memory=memory)
    report = beat.reports.get(name)
    # The report of the process before says nothing about this one.
    if report is None or report.pid != pid:
        return ComponentPulse(component=name, memory=memory)
    return ComponentPulse(
        component=name,
        heard=max(0, now - report.heard),
        behind=max(0, beat.head - report.cursor),
        memory=memory,
    )


def memory_of(pid: int) -> int | None:
    """What a process uses (PSS), in bytes; ``None`` where the system doesn't say."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), None)
