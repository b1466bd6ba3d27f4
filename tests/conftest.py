"""For every test: in CI a test that can't run fails; elsewhere it is skipped, and says why.

What agents of a test run started is looked for at its end: nothing of it may be left.

`make test` runs them in several workers at once: most of the time is spent waiting for processes.
Tests that share an instance, a unit's file, and whatever else has a fixture for a whole module stay
together in one worker; every other test goes to whichever worker is free.
"""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

# Inherited by whatever the tests start, agents and what these start included.
_MARK = "OF_TEST_RUN"
os.environ[_MARK] = str(os.getpid())
_OF_AGENTS = (b"scripted_agent.py", b"signal.SIGTERM, signal.SIG_IGN", b"sk-demo-agent")


@pytest.fixture(scope="session", autouse=True)
def no_agent_outlives_the_run() -> Iterator[None]:
    yield
    mark = f"{_MARK}={os.getpid()}".encode()
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
            ours = mark in (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it ended while we looked
        if ours and any(word in line for word in _OF_AGENTS):
            left.append((process.name, line.replace(b"\0", b" ").decode(errors="replace")))
    assert left == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"in CI nothing may be skipped, but: {report.longrepr}"
    return report


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        items.sort(key=lambda item: not _is_quick(item))
        return
    # What takes longest begins first, so that no worker has much left when the others are done.
    items.sort(key=lambda item: (_is_quick(item), not _stays_with_its_file(item)))
    for item in items:
        if _is_quick(item) or _stays_with_its_file(item):
            item.add_marker(pytest.mark.xdist_group(f"{item.path.parent.name}.{item.path.stem}"))


def _is_quick(item: pytest.Item) -> bool:
    return "unit" in item.path.parts


def _stays_with_its_file(item: pytest.Item) -> bool:
    """Whether it shares something with other tests of its file, an instance above all."""
    fixtures = item._fixtureinfo.name2fixturedefs.values()  # type: ignore[attr-defined]
    return any(one.scope == "module" for those in fixtures for one in those)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name a test as one names it at the command line, without the group that xdist adds."""
    if not os.environ.get("PYTEST_XDIST_WORKER") and report.nodeid.rfind("@") > report.nodeid.rfind(
        "]"
    ):
        report.nodeid = report.nodeid.rpartition("@")[0]
