"""A system that hands out no more descriptors: what needs one fails in words, the rest goes on."""

import asyncio
import resource
import sys
from pathlib import Path

import pytest

from sk_bus.internal import FactExited
from sk_bus.model import AgentName
from tests.support.executing import Acting, executing

pytestmark = pytest.mark.process


def no_more_descriptors(pid: int) -> tuple[int, int]:
    """Let the process keep what it has and get nothing new; the limits of before."""
    held = {int(entry.name) for entry in Path(f"/proc/{pid}/fd").iterdir()}
    lowest = next(n for n in range(len(held) + 1) if n not in held)
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    return resource.prlimit(pid, resource.RLIMIT_NOFILE, (lowest, hard))


@pytest.mark.skipif(sys.platform != "linux", reason="changes the limits of a running process")
def test_without_descriptors_a_start_fails_and_those_who_run_go_on() -> None:
    async def script() -> None:
        async with executing() as agents:
            running = await (await agents.agent("alice")).ready()
            process = agents.processes["agents"]
            before = no_more_descriptors(process.pid)
            late = Acting(agents, AgentName("bob"), agents.hello.epoch + len(agents.events) + 1)
            late.start(agents.define())
            ended = await late.exited()
            assert ended.problem is not None
            assert ended.problem.id == "not-started"
            assert "Too many open files" in ended.problem.message
            answer = await running.answer(running.prompt("!say here"))
            assert answer["result"]["stopReason"] == "end_turn"
            assert running.text() == "here"
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
            again = await (await agents.agent("carol")).ready()
            assert again.facts(FactExited) == []
            assert process.poll() is None

    asyncio.run(script())
