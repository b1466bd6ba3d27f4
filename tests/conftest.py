"""For every test: in CI a test that can't run fails; elsewhere it is skipped, and says why.

Nothing of what a test started may be left at the end of the run.

`make test` runs them in several workers at once: most of the time is spent waiting for processes.
Tests that share an instance, a unit's file, and whatever else has a fixture for a whole module stay
together in one worker; every other test goes to whichever worker is free.
"""

import os
import signal
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from sk_bus.client import BusClient
from tests.support import rooms
from tests.support.patience import PATIENCE
from tests.support.shim_client import eventually

# An example's time says how busy the machine is. In CI the same examples are tried each time: what
# chance finds belongs to whoever changes something, not to whoever waits for a green light.
settings.register_profile(
    "tests",
    deadline=None,
    derandomize=os.environ.get("CI") == "true",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tests")

# A test that asks waits as long as for everything else; what it starts keeps its own bounds.
for _call in (BusClient.query, BusClient.hello, BusClient.command, BusClient.outcome):
    assert _call.__kwdefaults__["timeout"] <= PATIENCE
    _call.__kwdefaults__["timeout"] = PATIENCE

# Whoever runs the tests in the background may have them ignore Ctrl-C; what is tested hears of it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Inherited by whatever the tests start, agents and what these start included.
_MARK = "OF_TEST_RUN"
os.environ[_MARK] = str(os.getpid())


@pytest.fixture(scope="session", autouse=True)
def nothing_outlives_the_run() -> Iterator[None]:
    yield
    with suppress(AssertionError):  # what was killed takes a moment to be gone
        eventually(lambda: not _left())
    assert (rooms.occupied(), _left()) == ([], [])


def _left() -> list[str]:
    mark = f"{_MARK}={os.getpid()}".encode()
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended while we looked
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if line and mark in (process / "environ").read_bytes().split(b"\0"):
                left.append(f"{process.name} {line}")
    return left


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"in CI nothing may be skipped, but: {report.longrepr}"
    if report.failed:
        report.sections += rooms.logs()
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        # What takes longest begins first, so that no worker has much left when the others are done.
        items.sort(key=lambda item: (_is_quick(item.path), not _stays_together(item.path)))
    else:
        items.sort(key=lambda item: not _is_quick(item.path))


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        """By file where its tests belong together, else one by one, in the order of collection."""

        def _split_scope(self, nodeid: str) -> str:
            file, _, _ = nodeid.partition("::")
            return file if _stays_together(config.rootpath / file) else nodeid

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def _is_quick(file: Path) -> bool:
    return "unit" in file.parts


@cache
def _stays_together(file: Path) -> bool:
    """Whether a file's tests share something that is dear, an instance above all."""
    shared = 'scope="module"'
    sources = (file, file.with_name("conftest.py"))
    return _is_quick(file) or any(one.exists() and shared in one.read_text() for one in sources)
