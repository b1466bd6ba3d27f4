"""What the gateway says of sk-config, and when it has it restarted."""

import pytest

from sk_bus.contract import Heartbeat, Report
from sk_gateway.watch import SILENCE, START, Known, Watch, known_from

WALL = 1_700_000_000_000


def beat(pid: int = 0, *, heard: int = 0, state: str = "running") -> Heartbeat:
    reports = {}
    if pid:
        reports["config"] = Report(
            service="config", pid=pid, epoch=1, cursor=1, heard=heard, state=state
        )
    return Heartbeat(epoch=1, head=1, reports=reports)


def beats(watch: Watch, made: Heartbeat, start: int, end: int) -> list[object]:
    """A heartbeat each second; what was said, and whether a restart was asked for."""
    verdicts = [watch.heard(made, mono, WALL) for mono in range(start, end, 1000)]
    return [verdict for verdict in verdicts if verdict.say is not None or verdict.restart]


def test_a_first_report_is_said_once() -> None:
    watch = Watch(Known())
    assert watch.heard(beat(7, heard=0), 0, WALL).say.state == "running"
    assert watch.heard(beat(7, heard=500), 500, WALL).say is None


def test_a_gateway_that_was_restarted_says_nothing_anew() -> None:
    watch = Watch(Known(count=3, state="running", pid=7, restarts=1, since=WALL))
    assert watch.heard(beat(7, heard=0), 0, WALL).say is None


def test_its_death_is_said_at_once_and_its_next_life_counts_as_a_restart() -> None:
    watch = Watch(Known())
    watch.heard(beat(7), 0, WALL)
    down = watch.died(7, WALL + 1).say
    assert (down.state, down.pid, down.restarts) == ("down", 0, 0)
    assert watch.heard(beat(7), 100, WALL).say is None  # the report of the dead one
    up = watch.heard(beat(8, heard=200), 200, WALL + 2).say
    assert (up.state, up.pid, up.restarts) == ("running", 8, 1)


def test_ten_seconds_of_silence_are_hung_and_ask_for_one_restart() -> None:
    watch = Watch(Known())
    watch.heard(beat(7, heard=0), 0, WALL)
    (hung,) = beats(watch, beat(7, heard=0), 1000, SILENCE + 5000)
    assert hung.say.state == "hung"
    assert hung.restart


@pytest.mark.parametrize("state", ["starting", "degraded"])
def test_one_that_has_only_begun_to_speak_gets_the_time_of_a_start(state: str) -> None:
    watch = Watch(Known())
    assert len(beats(watch, beat(7, heard=0, state=state), 0, START)) == 1  # what it is
    assert watch.heard(beat(7, heard=0, state=state), START, WALL).restart


def test_a_bus_that_begins_knows_nobody_and_that_kills_nobody() -> None:
    watch = Watch(Known())
    watch.heard(beat(7, heard=0), 0, WALL)
    for mono in range(1000, 60_000, 1000):
        watch.heard(beat(7, heard=mono), mono, WALL)
    assert watch.heard(beat(), 60_100, WALL).restart is False
    assert watch.heard(beat(7, heard=60_500), 60_600, WALL).say is None


def test_one_that_died_gets_its_time_to_come_back() -> None:
    watch = Watch(Known())
    for mono in range(0, 60_000, 1000):
        watch.heard(beat(7, heard=mono), mono, WALL)
    watch.died(7, WALL)
    assert beats(watch, beat(7, heard=59_000), 60_000, 59_000 + START) == []
    assert watch.heard(beat(7, heard=59_000), 59_000 + START, WALL).restart


def test_one_that_never_came_is_started() -> None:
    (down,) = beats(Watch(Known()), beat(), 0, START + 1000)
    assert down.restart
    assert down.say.state == "down"


def test_a_gap_in_our_own_clock_starts_the_count_afresh() -> None:
    watch = Watch(Known())
    watch.heard(beat(7, heard=0), 0, WALL)
    assert not watch.heard(beat(7, heard=0), 60_000, WALL).restart
    assert beats(watch, beat(7, heard=0), 61_000, 60_000 + SILENCE) == []
    assert watch.heard(beat(7, heard=0), 60_000 + SILENCE, WALL).restart


def test_degraded_is_said() -> None:
    said = Watch(Known()).heard(beat(7, heard=0, state="degraded"), 0, WALL).say
    assert said.state == "degraded"


def test_the_position_brings_everything_back() -> None:
    watch = Watch(Known())
    watch.heard(beat(7), 0, WALL)
    assert known_from(watch.known.position()) == watch.known
    assert known_from(None) == Known()
