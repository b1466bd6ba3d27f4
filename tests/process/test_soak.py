"""A short soak: after a few rounds of everything nothing is held that wasn't before.

Counted, not weighed: descriptors, processes and files. ``make soak`` weighs, for an hour.
"""

from collections.abc import Iterator

import pytest

from tests.soak.load import KEPT, RESTARTS, TUNE, Load, configuration
from tests.soak.samples import taken
from tests.support.instance import TestInstance, running
from tests.support.patience import PATIENCE
from tests.support.shim_client import eventually

pytestmark = pytest.mark.process


@pytest.fixture
def instance() -> Iterator[TestInstance]:
    with running(config=configuration(), environment={"SK_TUNE": TUNE}) as made:
        yield made


def test_rounds_of_everything_leave_nothing_behind(instance: TestInstance) -> None:
    load = Load(instance)
    for _ in range(KEPT):
        load.round()  # now each further round deletes a channel
    before, processes = taken(instance).descriptors, len(instance.processes())
    while load.rounds < RESTARTS:
        load.round()
    # What a connection held is given back a moment after its end.
    eventually(lambda: not more(taken(instance).descriptors, before), timeout=PATIENCE)
    eventually(lambda: len(instance.processes()) == processes, timeout=PATIENCE)
    eventually(lambda: len(list((instance.data / "spools").iterdir())) == 2, timeout=PATIENCE)
    assert len(list(instance.paths.definitions.iterdir())) == 2
    load.close()


def more(now: dict[str, int], before: dict[str, int]) -> dict[str, int]:
    """How many descriptors each process holds beyond those of before."""
    return {name: now[name] - before[name] for name in now if now[name] > before[name]}
