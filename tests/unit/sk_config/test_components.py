"""The watch over the processes: what it says and does, as scripts."""

from dataclasses import dataclass, field
from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_bus.model import Component, ComponentName
from sk_config.components import (
    GAP,
    SILENCE,
    START,
    Ask,
    BusHeard,
    Components,
    Died,
    Heard,
    Kill,
    Say,
    StartAgain,
    Supervised,
    Ticked,
    Watch,
)

BUS, ROUTER = ComponentName("bus"), ComponentName("router")


@dataclass
class Script:
    """Feeds the machine, a clock beside it, and notes what came out in short words."""

    machine: Components = field(default_factory=Components)
    now: int = 100_000
    out: list[str] = field(default_factory=list)

    def _feed(self, event: object) -> Self:
        for instruction in self.machine.handle(event):  # type: ignore[arg-type]
            match instruction:
                case Say(event=said):
                    self.out.append(f"{said.component} {said.state} {said.pid} x{said.restarts}")
                case Watch(component=name, pid=pid):
                    self.out.append(f"watch {name} {pid}")
                case StartAgain(component=name, dead=pid):
                    self.out.append(f"start {name} after {pid}")
                case Kill(component=name, pid=pid):
                    self.out.append(f"kill {name} {pid}")
                case Ask():
                    self.out.append("ask")
        return self

    def supervised(self, name: ComponentName, pid: int) -> Self:
        return self._feed(Supervised(component=name, pid=pid, now=self.now, wall=self.now))

    def heard(self, name: ComponentName, pid: int, *, degraded: bool = False, ago: int = 0) -> Self:
        return self._feed(
            Heard(
                component=name,
                pid=pid,
                degraded=degraded,
                at=self.now - ago,
                now=self.now,
                wall=self.now,
            )
        )

    def beat(self) -> Self:
        return self._feed(BusHeard(now=self.now, wall=self.now))

    def died(self, name: ComponentName, pid: int) -> Self:
        return self._feed(Died(component=name, pid=pid, now=self.now, wall=self.now))

    def tick(self) -> Self:
        return self._feed(Ticked(now=self.now, wall=self.now))

    def seconds(self, count: int, *, bus: bool = True, router: int = 0) -> Self:
        """So many seconds with a tick each, the bus and the router (its pid) heard or not."""
        for _ in range(count):
            self.now += 1000
            if bus:
                self.beat()
            if router:
                self.heard(ROUTER, router)
            self.tick()
        return self

    def says(self, *expected: str) -> Self:
        assert self.out == list(expected)
        self.out.clear()
        return self


def running() -> Script:
    script = Script().supervised(BUS, 1).supervised(ROUTER, 7).beat().heard(ROUTER, 7).tick()
    script.out.clear()
    return script


def test_a_component_starts_then_runs() -> None:
    (
        Script()
        .supervised(ROUTER, 7)
        .says("router starting 7 x0", "watch router 7")
        .heard(ROUTER, 7)
        .says("router running 7 x0")
        .heard(ROUTER, 7)
        .says()
    )


def test_a_death_is_said_and_undone_at_once() -> None:
    (
        running()
        .died(ROUTER, 7)
        .says("router down 0 x0", "start router after 7")
        .supervised(ROUTER, 8)
        .says("router starting 8 x1", "watch router 8")
        .heard(ROUTER, 8)
        .says("router running 8 x1")
    )


def test_the_last_word_of_a_dead_process_is_not_believed() -> None:
    running().died(ROUTER, 7).says("router down 0 x0", "start router after 7").heard(
        ROUTER, 7
    ).says()


def test_a_process_that_somebody_else_started_is_asked_for_once() -> None:
    running().heard(ROUTER, 9).says("ask").heard(ROUTER, 9).says().supervised(ROUTER, 9).says(
        "router starting 9 x1", "watch router 9"
    )


def test_deaths_in_a_row_are_left_to_the_supervisor() -> None:
    script = running()
    for pid in range(7, 12):
        script.died(ROUTER, pid).supervised(ROUTER, pid + 1)
    assert sum(line.startswith("start") for line in script.out) == 5
    script.out.clear()
    script.died(ROUTER, 12).says("router down 0 x5")


def test_a_component_says_that_it_is_degraded() -> None:
    running().heard(ROUTER, 7, degraded=True).says("router degraded 7 x0").heard(ROUTER, 7).says(
        "router running 7 x0"
    )


def test_a_silent_component_is_killed() -> None:
    script = running().seconds(SILENCE // 1000).says()
    script.seconds(1).says("router hung 7 x0", "kill router 7")
    script.died(ROUTER, 7).says("router down 0 x0", "start router after 7")


def test_one_that_speaks_again_before_it_dies_runs() -> None:
    script = running().seconds(SILENCE // 1000 + 1)
    script.out.clear()
    script.seconds(1, router=7).says("router running 7 x0")


def test_a_start_may_take_longer() -> None:
    script = running().died(ROUTER, 7).supervised(ROUTER, 8)
    script.out.clear()
    script.seconds(START // 1000).says().seconds(1).says("router hung 8 x1", "kill router 8")


def test_without_the_bus_only_the_bus_is_judged() -> None:
    script = running().seconds(SILENCE // 1000 + 1, bus=False)
    script.says("bus hung 1 x0", "kill bus 1")


def test_after_a_silence_of_the_bus_everyone_gets_time_again() -> None:
    script = running().seconds(SILENCE // 1000, bus=False).says()
    script.seconds(1 + SILENCE // 1000).says()
    script.seconds(1).says("router hung 7 x0", "kill router 7")


def test_after_a_sleep_of_ours_nobodys_silence_counts() -> None:
    script = running()
    script.now += 3_600_000
    script.tick().says()
    script.seconds(SILENCE // 1000 - 1).says()


def test_a_restart_of_the_watch_itself_goes_unnoticed() -> None:
    known = Component(component=ROUTER, state="running", pid=7, restarts=3, since=5)
    (
        Script(Components((known,)))
        .supervised(ROUTER, 7)
        .says("watch router 7")
        .heard(ROUTER, 7)
        .says()
        .died(ROUTER, 7)
        .says("router down 0 x3", "start router after 7")
    )


def test_what_was_restarted_meanwhile_counts_on() -> None:
    known = Component(component=ROUTER, state="running", pid=7, restarts=3, since=5)
    Script(Components((known,))).supervised(ROUTER, 8).says(
        "router starting 8 x4", "watch router 8"
    )


def test_it_says_that_it_runs_itself_and_leaves_the_rest_to_the_gateway() -> None:
    itself = ComponentName("config")
    script = running().supervised(itself, 3).says("config running 3 x0")
    script.seconds(1, router=7)
    script.seconds(60, router=7).says()


def test_what_went_meanwhile_is_said() -> None:
    known = Component(component=ROUTER, state="running", pid=7, restarts=3, since=5)
    Script(Components((known,))).supervised(ROUTER, 0).says("router down 0 x3")


@pytest.mark.parametrize("gap", [GAP + 1, 100 * GAP])
def test_a_gap_in_the_ticks_kills_nobody(gap: int) -> None:
    script = running()
    script.now += gap
    script.beat().tick().says()


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("supervised"), st.integers(0, 4)),
        st.tuples(st.just("heard"), st.integers(1, 4)),
        st.tuples(st.just("died"), st.integers(1, 4)),
        st.tuples(st.just("seconds"), st.integers(1, 40)),
        st.tuples(st.just("beat"), st.just(0)),
    ),
    max_size=40,
)


@given(_STEPS)
def test_only_a_living_process_is_ever_killed_and_each_death_is_said_once(
    steps: list[tuple[str, int]],
) -> None:
    script = Script()
    alive = 0
    for step, number in steps:
        match step:
            case "supervised":
                script.supervised(ROUTER, number)
                alive = number
            case "heard":
                script.heard(ROUTER, number)
            case "died":
                script.died(ROUTER, number)
                alive = 0 if number == alive else alive
            case "seconds":
                script.seconds(number)
            case _:
                script.beat()
        assert all(line == f"kill router {alive}" for line in script.out if "kill" in line)
        said = [line for line in script.out if line.startswith("router")]
        assert len(said) == len(set(said))
        script.out.clear()
        assert {one.pid for one in script.machine.all() if one.component == ROUTER} <= {alive}
