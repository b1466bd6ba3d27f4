"""For every test: in CI a test that can't run fails; elsewhere it is skipped, and says why.

What agents of a test run started is looked for at its end: nothing of it may be left.

Tests of the page come last: Playwright keeps an event loop in the main thread from its first use
on, and no other can run there meanwhile.
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: "e2e" in item.path.parts)
