"""What the harness does for every service."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
import zmq

from sk_bus.client import BusClient
from sk_bus.contract import Heartbeat, Report
from sk_bus.errors import RefusedError, UnreachableError
from sk_bus.model import ChannelId, Cursor
from sk_bus.queries import ListChannels, Preview, PreviewView
from sk_bus.wire import packed, reply_from, request
from tests.support.patience import PATIENCE

from .conftest import ZmqBench, producing
from .test_bus import line

pytestmark = [pytest.mark.anyio, pytest.mark.process]

SERVICE = [sys.executable, str(Path(__file__).with_name("a_service.py"))]


@contextmanager
def serving(bench: ZmqBench, **environment: str) -> Iterator["Running"]:
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(SERVICE, env=bench.environment | environment, stderr=said)
        try:
            yield Running(process, said)
        finally:
            process.kill()
            process.wait()


class Running:
    """A service under test, and what it says."""

    def __init__(self, process: subprocess.Popen[bytes], said: IO[str]) -> None:
        self.process = process
        self._said = said

    async def ended(self) -> int:
        return await asyncio.to_thread(self.process.wait, PATIENCE)

    def said(self) -> str:
        self._said.seek(0)
        return self._said.read()


def preview(text: str) -> Preview:
    return Preview(channel=ChannelId("c"), text=text)


async def reported(bus: BusClient, cursor: int = 0) -> Report:
    """The service's report, once its cursor is there."""
    async with asyncio.timeout(PATIENCE):
        async for beat in bus.follow(Cursor(epoch=0, seq=0), heartbeats=True):
            if isinstance(beat, Heartbeat) and "router" in beat.reports:
                report = beat.reports["router"]
                if report.cursor >= cursor:
                    return report
    raise AssertionError("no report")


async def test_it_answers_and_says_how_far_it_has_read(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus, producing(bus, "p") as producer:
        with serving(zmq_bench):
            for n in range(3):
                producer.put([line(str(n))], n)
                await producer.drained()
                head = (await bus.hello()).head
                answer = await bus.query(preview("hi"), after=head)
                assert answer.value == PreviewView(answering=(), unknown=("hi",))
                assert answer.asOf.seq >= head


async def test_a_query_waits_until_its_owner_has_read_far_enough(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus, producing(bus, "p") as producer:
        with serving(zmq_bench):
            await bus.query(preview("up"))
            after = (await bus.hello()).head + 1
            asked = asyncio.create_task(bus.query(preview("later"), after=after))
            await bus.query(preview("now"))
            assert not asked.done()
            producer.put([line("1")], 1)
            assert (await asked).asOf.seq >= after


async def test_who_does_not_follow_asks_how_far_the_log_has_come(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus, producing(bus, "p") as producer:
        with serving(zmq_bench, KNOWS_BY_ITSELF="1"):
            producer.put([line("1")], 1)
            await producer.drained()
            head = (await bus.hello()).head
            assert (await bus.query(preview("hi"), after=head)).asOf.seq == head


@pytest.mark.parametrize(("text", "id_"), [("refuse", "told"), ("raise", "query-failed")])
async def test_what_goes_wrong_in_a_query_is_told_and_others_are_answered(
    zmq_bench: ZmqBench, text: str, id_: str
) -> None:
    async with zmq_bench.client() as bus:
        with serving(zmq_bench) as service:
            waiting = asyncio.create_task(bus.query(preview("wait")))
            with pytest.raises(RefusedError) as caught:
                await bus.query(preview(text))
            assert caught.value.problem.id == id_
            await bus.query(preview("release"))
            assert (await waiting).value.unknown == ("wait",)
            assert service.process.poll() is None


@pytest.mark.parametrize(
    ("data", "id_"),
    [
        (request(3, "query", ["ListChannels", {}, 0]), "unknown-query"),
        (request(3, "query", ["Preview", {"x": 1}, 0]), "malformed-query"),
        (request(3, "query", "x"), "malformed-query"),
        (request(3, "dance", None), "unknown-verb"),
        (packed([7, 3, "query", None]), "malformed-request"),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused(
    zmq_bench: ZmqBench, data: bytes, id_: str
) -> None:
    async with zmq_bench.client() as bus:
        with serving(zmq_bench):
            await bus.query(preview("up"))
            with zmq.Context() as context, context.socket(zmq.DEALER) as stranger:
                stranger.linger = 1000
                stranger.connect(zmq_bench.instance.queries("router"))
                for junk in (b"", b"\xc1", b"junk"):
                    stranger.send(junk)
                stranger.send(data)
                assert await asyncio.to_thread(stranger.poll, PATIENCE * 1000)
                number, _, why = reply_from(stranger.recv())
            assert number == 3
            assert why is not None
            assert why.id == id_
            await bus.query(preview("still here"))


async def test_it_reports_itself_and_what_it_was_told_to_say(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus, producing(bus, "p") as producer:
        with serving(zmq_bench) as service:
            producer.put([line("1")], 1)
            await producer.drained()
            hello = await bus.hello()
            report = await reported(bus, hello.head)
            assert (report.pid, report.state, report.details) == (
                service.process.pid,
                "running",
                {"hello": 1},
            )
            assert report.epoch == hello.epoch


async def test_a_second_copy_ends_and_says_why(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus:
        with serving(zmq_bench) as first:
            await bus.query(preview("up"))
            with serving(zmq_bench) as second:
                assert await second.ended() == 1
                assert "sk-router runs already" in second.said()
            await bus.query(preview("still here"))
            assert first.process.poll() is None


async def test_it_ends_quietly_when_the_epoch_does(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus:
        with serving(zmq_bench) as service:
            await bus.query(preview("up"))
            zmq_bench.lose_journal()
            assert await service.ended() == 0
            assert "ends: the bus" in service.said()
            assert "Traceback" not in service.said()


async def test_it_lives_through_a_death_of_the_bus(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus, producing(bus, "p") as producer:
        with serving(zmq_bench) as service:
            await bus.query(preview("up"))
            zmq_bench.kill()
            producer.put([line("1")], 1)
            await producer.drained()
            answer = await bus.query(preview("hi"), after=(await bus.hello()).head)
            assert answer.value.unknown == ("hi",)
            assert service.process.poll() is None


async def test_a_question_survives_the_death_of_who_answers(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus:
        with serving(zmq_bench) as service:
            await bus.query(preview("up"))
            asked = asyncio.create_task(bus.query(preview("wait")))
            await bus.query(preview("up"))
            service.process.send_signal(signal.SIGKILL)
        with serving(zmq_bench):
            await bus.query(preview("release"))
            assert (await asked).value.unknown == ("wait",)


async def test_a_failure_makes_the_pause_before_the_next_longer(zmq_bench: ZmqBench) -> None:
    pauses = []
    for _ in range(3):
        with serving(zmq_bench, FAILS="1") as service:
            assert await service.ended() == 1
            said = service.said()
            (line_,) = [text for text in said.splitlines() if "router failed, ends in" in text]
            pauses.append(float(line_.partition("ends in ")[2].split()[0]))
            assert "RuntimeError: as told" in said
            assert len(said.splitlines()) == 1  # whatever it holds
    assert pauses[0] < pauses[1] < pauses[2]
    async with zmq_bench.client() as bus:
        with serving(zmq_bench):
            assert (await reported(bus)).state == "degraded"


STARTER = """
import subprocess, sys
print(subprocess.Popen(sys.argv[1:]).pid, flush=True)
sys.stdin.read()
"""


async def test_it_ends_when_whoever_started_it_does(zmq_bench: ZmqBench) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", STARTER, *SERVICE),
        env=zmq_bench.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    async with zmq_bench.client() as bus:
        await bus.query(preview("up"))
        ending = os.pidfd_open(pid)
        parent.kill()
        await parent.wait()
        readable, _, _ = await asyncio.to_thread(select.select, [ending], [], [], PATIENCE)
        os.close(ending)
    assert readable, "the service outlives whoever started it"


async def test_nobody_is_asked_what_nobody_answers(zmq_bench: ZmqBench) -> None:
    async with zmq_bench.client() as bus:
        with pytest.raises(UnreachableError) as caught:
            await bus.query(ListChannels(), timeout=0.2)
        assert "sk-history did not answer" in caught.value.problem.message
