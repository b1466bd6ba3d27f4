"""How the components do, as the page shows it."""

import os

from sk_bus.contract import Heartbeat, Report
from sk_bus.queries import SERVICES
from sk_gateway.pulse import ComponentPulse, memory_of, pulses

BEAT = Heartbeat(
    epoch=1,
    head=100,
    reports={
        "router": Report(service="router", pid=11, epoch=1, cursor=90, heard=4_000),
        "history": Report(service="history", pid=12, epoch=1, cursor=100, heard=4_900),
    },
)


def _of(made: tuple[ComponentPulse, ...], name: str) -> ComponentPulse:
    return next(one for one in made if one.component == name)


def test_every_component_has_its_place_even_where_nothing_is_known() -> None:
    made = pulses(None, 0, 5_000, {})
    assert [one.component for one in made] == list(SERVICES)
    assert {(one.heard, one.behind, one.memory) for one in made} == {(None, None, None)}


def test_it_was_heard_when_the_bus_heard_it() -> None:
    router = _of(pulses(BEAT, 4_990, 5_000, {"router": 11}), "router")
    assert (router.heard, router.behind) == (1_000, 10)


def test_the_bus_itself_was_heard_when_its_heartbeat_came() -> None:
    assert _of(pulses(BEAT, 4_990, 5_000, {}), "bus").heard == 10


def test_the_report_of_the_process_before_says_nothing_of_this_one() -> None:
    made = pulses(BEAT, 4_990, 5_000, {"history": 13})
    assert _of(made, "history").heard is None


def test_memory_is_that_of_the_process() -> None:
    here = memory_of(os.getpid())
    assert here is None or 1_000_000 < here < 10**10
    assert memory_of(2**22 + 1) is None
