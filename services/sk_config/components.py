"""The watch over the processes of Sidekicks, as a pure state machine.

supervisord says which process a component is, the bus says when it was last heard, the kernel
says when it died. Out come what is to be told to everyone, and what is to be done about it.
Nothing here reads a clock, opens a process or speaks with supervisord. Times are milliseconds:
``now`` of a clock that never jumps, ``wall`` since 1970.
"""

from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

from sk_bus.events import ComponentStateChanged
from sk_bus.model import Component, ComponentName

BUS = ComponentName("bus")
ITSELF = ComponentName("config")  # runs, or nothing would be said; the gateway watches it
SILENCE = 10_000  # after which a process that lives counts as hung
START = 30_000  # the same while it starts: imports take long on a busy machine
GAP = 3_000  # between two ticks: we slept ourselves, so nobody's silence counts
_PATIENCE = 10_000  # until supervisord is asked once more about a process that it doesn't know
_HASTE = 5  # deaths in _HASTE_WITHIN after which supervisord's own pace must do
_HASTE_WITHIN = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervised:
    """supervisord says that ``component`` is the process ``pid`` (0: there is none)."""

    component: ComponentName
    pid: int
    now: int
    wall: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The bus had a report of this process at ``at`` (on the clock of ``now``)."""

    component: ComponentName
    pid: int
    degraded: bool
    at: int
    now: int
    wall: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BusHeard:
    """A heartbeat of the bus itself."""

    now: int
    wall: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Died:
    """The kernel says that this process is gone."""

    component: ComponentName
    pid: int
    now: int
    wall: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticked:
    """About a second has passed."""

    now: int
    wall: int


Input = Supervised | Heard | BusHeard | Died | Ticked


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    event: ComponentStateChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Hear of the death of this process."""

    component: ComponentName
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StartAgain:
    """Have supervisord start it now rather than within a second."""

    component: ComponentName
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """End this process, which does nothing any more; its death brings the next one."""

    component: ComponentName
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Ask supervisord which processes there are: somebody else started one."""


Instruction = Say | Watch | StartAgain | Kill | Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    """``seen`` is the last process it was, also after its death; ``heard`` its last word."""

    component: Component
    seen: int
    heard: int = 0


class Components:
    """What is known of each component. ``known`` is what was said last, in an earlier life."""

    def __init__(self, known: tuple[Component, ...] = ()) -> None:
        # Nothing is taken for alive: supervisord will say. Restarts go on counting.
        self._watched = {
            one.component: _Watched(component=replace(one, pid=0), seen=one.pid) for one in known
        }
        self._said = {one.component: one for one in known}
        self._deaths: dict[ComponentName, deque[int]] = {}
        self._asked: dict[ComponentName, tuple[int, int]] = {}
        self._ticked: int | None = None
        self._beat: int | None = None

    def all(self) -> tuple[Component, ...]:
        """Every component that was ever seen, by name."""
        return tuple(self._watched[name].component for name in sorted(self._watched))

    def handle(self, event: Input) -> list[Instruction]:
        """What is to be done, in order."""
        match event:
            case Supervised():
                return self._supervised(event)
            case Heard():
                return self._heard(event)
            case BusHeard(now=now, wall=wall):
                if self._beat is not None and now - self._beat > GAP:
                    self._count_afresh(now)  # nobody could be heard meanwhile
                self._beat = now
                return self._alive(BUS, degraded=False, at=now, wall=wall)
            case Died(component=name, pid=pid):
                return self._died(name, pid, event.now, event.wall)
            case Ticked(now=now, wall=wall):
                gap = None if self._ticked is None else now - self._ticked
                self._ticked = now
                if gap is None or gap > GAP:
                    self._count_afresh(now)
                return self._silent(now, wall)

    def _supervised(self, event: Supervised) -> list[Instruction]:
        name, pid = event.component, event.pid
        watched = self._watched.get(name)
        if pid == 0:
            return self._absent(name, event)
        if watched is not None and watched.component.pid == pid:
            return []
        if watched is None:
            begun = Component(component=name, state="starting", pid=pid, since=event.wall)
        elif watched.seen == pid:  # only we were restarted
            begun = replace(watched.component, pid=pid, state="starting")
        else:
            begun = replace(
                watched.component,
                pid=pid,
                state="starting",
                restarts=watched.component.restarts + 1,
                since=event.wall,
            )
        if name == ITSELF:
            begun = replace(begun, state="running")
        self._watched[name] = _Watched(component=begun, seen=pid, heard=event.now)
        if name == ITSELF:
            return self._say(name)
        # One that only we had lost sight of isn't starting: its next report says how it is.
        told = [] if watched is not None and watched.seen == pid else self._say(name)
        return [*told, Watch(component=name, pid=pid)]

    def _absent(self, name: ComponentName, event: Supervised) -> list[Instruction]:
        watched = self._watched.get(name)
        if watched is not None and watched.component.pid != 0:
            return self._died(name, watched.component.pid, event.now, event.wall)
        if watched is None or watched.component.state != "down":
            known = Component(component=name, state="down", pid=0)
            component = known if watched is None else watched.component
            self._watched[name] = _Watched(
                component=replace(component, state="down", since=event.wall),
                seen=0 if watched is None else watched.seen,
            )
        return self._say(name)

    def _heard(self, event: Heard) -> list[Instruction]:
        watched = self._watched.get(event.component)
        if watched is not None and watched.component.pid == event.pid:
            return self._alive(
                event.component, degraded=event.degraded, at=event.at, wall=event.wall
            )
        if watched is not None and watched.seen == event.pid:
            return []  # the bus repeats the last word of one that died
        pid, at = self._asked.get(event.component, (0, 0))
        if pid == event.pid and event.now - at < _PATIENCE:
            return []
        self._asked[event.component] = event.pid, event.now
        return [Ask()]

    def _alive(
        self, name: ComponentName, *, degraded: bool, at: int, wall: int
    ) -> list[Instruction]:
        watched = self._watched.get(name)
        if watched is None or watched.component.pid == 0:
            return []
        if at < watched.heard and watched.component.state != "starting":
            return []  # the bus repeats an old word
        state: Literal["running", "degraded"] = "degraded" if degraded else "running"
        self._watched[name] = replace(watched, heard=max(at, watched.heard))
        return self._enter(name, state, wall)

    def _died(self, name: ComponentName, pid: int, now: int, wall: int) -> list[Instruction]:
        watched = self._watched.get(name)
        if watched is None or watched.component.pid != pid:
            return []
        self._watched[name] = replace(
            watched, component=replace(watched.component, state="down", pid=0, since=wall)
        )
        deaths = self._deaths.setdefault(name, deque(maxlen=_HASTE))
        hasty = len(deaths) == _HASTE and now - deaths[0] < _HASTE_WITHIN
        deaths.append(now)
        told = self._say(name)
        return told if hasty else [*told, StartAgain(component=name, dead=pid)]

    def _silent(self, now: int, wall: int) -> list[Instruction]:
        bus = self._watched.get(BUS)
        if self._beat is None or now - self._beat > GAP:
            # Without the bus nobody can be heard: only the bus itself may be judged.
            return [] if bus is None else self._judged(bus, now, wall)
        return [
            instruction
            for name, watched in list(self._watched.items())
            if name not in (BUS, ITSELF)
            for instruction in self._judged(watched, now, wall)
        ]

    def _judged(self, watched: _Watched, now: int, wall: int) -> list[Instruction]:
        component = watched.component
        # One that is degraded may be making its pause before it ends.
        patient = component.state in ("starting", "degraded")
        patience = START if patient else SILENCE
        if component.pid == 0 or now - watched.heard <= patience:
            return []
        # Counted afresh: one that can't be killed at once is killed again.
        self._watched[component.component] = replace(watched, heard=now)
        told = self._enter(component.component, "hung", wall)
        return [*told, Kill(component=component.component, pid=component.pid)]

    def _count_afresh(self, now: int) -> None:
        self._watched = {
            name: replace(watched, heard=max(watched.heard, now))
            for name, watched in self._watched.items()
        }

    def _enter(
        self, name: ComponentName, state: Literal["running", "degraded", "hung"], wall: int
    ) -> list[Instruction]:
        watched = self._watched[name]
        component = watched.component
        if component.state != state:
            was_fine = component.state in ("starting", "running") and state == "running"
            since = component.since if was_fine else wall
            self._watched[name] = replace(
                watched, component=replace(component, state=state, since=since)
            )
        return self._say(name)

    def _say(self, name: ComponentName) -> list[Instruction]:
        component = self._watched[name].component
        if self._said.get(name) == component:
            return []
        self._said[name] = component
        event = ComponentStateChanged(
            component=name,
            state=component.state,
            pid=component.pid,
            restarts=component.restarts,
            since=component.since,
        )
        return [Say(event=event)]
