"""Who watches the watcher: what the gateway says of ``sk-config``, and when it has it restarted.

Heartbeats of the bus and deaths of processes come in, events and the wish for a restart come out.
Times are milliseconds of CLOCK_MONOTONIC; wall time is handed in only to be passed on.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from sk_bus.contract import Heartbeat
from sk_bus.events import ComponentStateChanged
from sk_bus.model import ComponentName

CONFIG = ComponentName("config")
SILENCE = 10_000
START = 30_000  # the same while it starts: imports take long on a busy machine
# Heartbeats come at least once a second: a longer gap is ours (stopped, suspended) or the bus's.
GAP = 3_000

State = Literal["running", "starting", "down", "degraded", "hung"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What was said last, and the producer's count; it is the position at the bus."""

    count: int = 0
    state: State = "starting"
    pid: int = 0
    restarts: int = 0
    since: int = 0

    def position(self) -> list[Any]:
        return [self.count, self.state, self.pid, self.restarts, self.since]


def known_from(position: Any) -> Known:
    """What the position at the bus says; nothing yet for ``None``."""
    if not isinstance(position, list) or len(position) != 5:
        return Known()
    count, state, pid, restarts, since = position
    return Known(count=count, state=cast("State", state), pid=pid, restarts=restarts, since=since)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said, and whether a restart is due."""

    say: ComponentStateChanged | None = None
    restart: bool = False


class Watch:
    """The watch over one component."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._beat: int | None = None
        self._counted_from = 0
        self._reported = 0
        self._dead = 0

    def heard(self, beat: Heartbeat, mono: int, wall: int) -> Verdict:
        """A heartbeat came."""
        if self._beat is None or mono - self._beat > GAP:
            self._counted_from = mono
        self._beat = mono
        report = beat.reports.get(CONFIG)
        if report is None or report.pid == self._dead:
            # A bus that has just begun knows nobody yet, and who was just killed is being started.
            if mono - max(self._reported, self._counted_from) >= START:
                self._counted_from = mono
                return Verdict(say=self._changed("down", 0, wall), restart=True)
            return Verdict()
        self._reported = mono
        # One that starts imports, and one that is degraded may be making its pause before it ends.
        patience = SILENCE if report.state == "running" else START
        if mono - max(report.heard, self._counted_from) >= patience:
            self._counted_from = mono
            return Verdict(say=self._changed("hung", report.pid, wall), restart=True)
        if report.heard < self._counted_from and self.known.state == "hung":
            return Verdict()  # the report of before the restart
        state: State = "degraded" if report.state == "degraded" else "running"
        return Verdict(say=self._changed(state, report.pid, wall))

    def died(self, pid: int, wall: int) -> Verdict:
        """The process ``pid`` has ended."""
        self._dead = pid
        return Verdict(say=self._changed("down", 0, wall))

    def _changed(self, state: State, pid: int, wall: int) -> ComponentStateChanged | None:
        known = self.known
        if (known.state, known.pid) == (state, pid):
            return None
        # A process that follows another is a restart, whatever was said in between.
        again = state in ("running", "degraded") and pid != known.pid and known.since > 0
        self.known = replace(
            known,
            count=known.count + 1,
            state=state,
            pid=pid,
            restarts=known.restarts + again,
            since=wall,
        )
        return ComponentStateChanged(
            component=CONFIG,
            state=state,
            pid=pid,
            restarts=self.known.restarts,
            since=wall,
        )
