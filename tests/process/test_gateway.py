"""The gateway as a process on a real bus: its edge, its stream, and its own death.

The router and the history are played by the test, which publishes under their names.
"""

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, aclosing, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as websocket

from sk_bus import paths
from sk_bus.client import connect
from sk_bus.commands import Command, Direct
from sk_bus.contract import Hello, Report
from sk_bus.events import AgentLog, CommandResult, MessageDelta
from sk_bus.internal import HistoryRestored, TimerFired
from sk_bus.model import AgentName, ChannelId, Cursor, MessageId
from sk_bus.vocabulary import Event
from sk_bus.wire import Batch
from tests.support import rooms
from tests.support.page_client import PageClient
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process


def delta(text: str = "x") -> Event:
    return MessageDelta(
        channel=ChannelId("c1"), messageId=MessageId("m1"), index=0, kind="text", rev=1, text=text
    )


class Stage:
    """A bus, a gateway, and the test in the roles of all the others."""

    def __init__(self) -> None:
        self._folder = rooms.folder("skg")
        self.directory = self._folder.__enter__()
        names = {"XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "s", "XDG_RUNTIME_DIR": "r"}
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SK_")},
            **{name: str(self.directory / short) for name, short in names.items()},
            "SK_PORT": str(rooms.port()),
            "SK_TUNE": "journal-keep=100000",
        }
        for name in names:
            Path(self.environment[name]).mkdir(mode=0o700)
            os.environ[name] = self.environment[name]
        self.instance = paths.instance("default")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.start("bus", "sk_bus.broker")
        self.bus = self.run(self._connected())
        self.publish("history", [HistoryRestored()])
        # Its watch has said already that sk-config, which isn't here, is down: else it would say
        # so after ten seconds, amid whatever is tested then.
        self.publish("gateway", [], position=[1, "down", 0, 0, 1])
        self.start("gateway", "sk_gateway.service")
        self.wait(self.answers)

    async def _connected(self) -> Any:
        return connect(self.instance)

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def start(self, name: str, module: str) -> None:
        with (self.directory / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-c", f"from {module} import main; main()"],
                env=self.environment,
                stderr=log,
            )

    def log(self, name: str) -> str:
        return (self.directory / f"{name}.log").read_text()

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()

    def publish(
        self, producer: str, events: list[Event], *, batches: int = 1, position: Any = None
    ) -> int:
        """Publish under a name; the seq of the last event."""

        async def put() -> int:
            speaker = await self.bus.producer(producer)
            count = (speaker.position or 0) if isinstance(speaker.position, int) else 0
            work = asyncio.ensure_future(speaker.run())
            for number in range(batches):
                speaker.put(events, position or count + number + 1)
            await speaker.drained()
            work.cancel()
            return (await self.bus.hello()).head

        return self.run(put())

    def prune(self, cursor: int) -> None:
        """Let every reader say that it is done up to ``cursor``, and drop what nobody needs."""

        async def done() -> int:
            epoch = (await self.bus.hello()).epoch
            for name in ("agents", "history", "config", "router"):
                # A process without a number is none to the gateway's watch.
                report = Report(service=name, pid=0, epoch=epoch, cursor=cursor)
                await self.bus.report(report)
            return await self.bus.prune()

        assert self.run(done()) > 0

    def play_router(self, stop: asyncio.Event) -> Any:
        """Answer each command from now on with its own id, until ``stop``."""

        async def play(hello: Hello) -> None:
            speaker = await self.bus.producer("router")
            work = asyncio.ensure_future(speaker.run())
            async with aclosing(self.bus.follow(Cursor(epoch=hello.epoch, seq=hello.head))) as all_:
                async for item in all_:
                    if not isinstance(item, Batch):
                        continue
                    for seq, event in item.events():
                        if isinstance(event, Command):
                            result = CommandResult(id=event.id, ok=True, value=f"did {event.by}")
                            speaker.put([result], seq)
                    if stop.is_set():
                        break
            work.cancel()

        hello = self.run(self.bus.hello())
        return asyncio.run_coroutine_threadsafe(play(hello), self.loop)

    def wait(self, true: Callable[[], bool], timeout: float = PATIENCE) -> None:
        end = time.monotonic() + timeout
        while not true():
            assert time.monotonic() < end, "it never became so"
            time.sleep(0.02)

    def answers(self) -> bool:
        with suppress(OSError, http.client.HTTPException):
            return self.get("/").status in (200, 404)
        return False

    @property
    def port(self) -> int:
        return int(self.instance.port.read_text())

    @property
    def token(self) -> str:
        return self.instance.token.read_text().strip()

    def get(self, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse()

    def websocket(self, **options: Any) -> AbstractContextManager[ClientConnection]:
        address = f"127.0.0.1:{self.port}"
        return websocket(f"ws://{address}/ws", origin=f"http://{address}", **options)

    def page(self, **options: Any) -> PageClient:
        return PageClient(self.port, self.token, **options)

    def close(self) -> None:
        self.run(self.bus.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        for process in self.processes.values():
            process.kill()
            process.wait()
        self._folder.__exit__(None, None, None)


def drained(socket: ClientConnection) -> int:
    """Read until the other side ends it; the code with which it did."""
    with suppress(ConnectionClosed):
        while True:
            socket.recv(PATIENCE)
    assert socket.close_code is not None
    return socket.close_code


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
            patch.setenv(name, "")
        made = Stage()
        try:
            yield made
        finally:
            made.close()


# --- the edge ---------------------------------------------------------------------------------


def test_it_listens_on_loopback_only(stage: Stage) -> None:
    listening = subprocess.run(
        ["cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, text=True, check=False
    ).stdout
    addresses = {line.split()[1] for line in listening.splitlines() if ":" in line}
    ours = {address for address in addresses if address.endswith(f":{stage.port:04X}")}
    assert f"0100007F:{stage.port:04X}" in ours
    assert f"00000000:{stage.port:04X}" not in ours


def test_every_answer_bears_the_policy(stage: Stage) -> None:
    for path in ("/", "/nothing", "/events"):
        headers = stage.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["access-control-allow-origin"] is None
        assert headers["set-cookie"] is None


def test_a_foreign_host_is_refused(stage: Stage) -> None:
    assert stage.get("/", Host=f"evil.test:{stage.port}").status == 403
    assert stage.get("/", Host="evil.test").status == 403


def test_a_foreign_origin_is_refused(stage: Stage) -> None:
    assert stage.get("/", Origin="http://evil.test").status == 403
    assert stage.get("/events", "POST", Origin="null").status == 403


def test_a_post_needs_the_token_and_finds_nothing_to_write_to(stage: Stage) -> None:
    assert stage.get("/", "POST").status == 401
    assert stage.get("/ws", "POST").status == 401
    assert stage.get("/", "OPTIONS").status == 401
    assert stage.get("/", "POST", Authorization=f"Bearer {stage.token}").status == 405


@pytest.mark.parametrize("origin", ["http://evil.test", "null", None])
def test_a_websocket_of_another_page_is_refused(stage: Stage, origin: Any) -> None:
    with pytest.raises(InvalidStatus) as refused:
        websocket(f"ws://127.0.0.1:{stage.port}/ws", origin=origin)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    ("hello", "code"),
    [
        ({"t": "hello", "v": 1, "token": "wrong"}, 4401),
        ({"t": "hello", "v": 1}, 4401),
        ({"t": "hello", "v": 1, "token": 5}, 4401),
        ({"t": "call", "id": 1, "name": "ListAgents"}, 4401),
        ({"t": "hello", "v": 2, "token": "right"}, 4409),
    ],
)
def test_a_bad_hello_is_closed_with_its_code(
    stage: Stage, hello: dict[str, Any], code: int
) -> None:
    if hello.get("token") == "right":
        hello = hello | {"token": stage.token}
    with stage.websocket() as talk:
        talk.send(json.dumps(hello))
        with pytest.raises(ConnectionClosed) as closed:
            talk.recv(PATIENCE)
    assert closed.value.rcvd.code == code


def test_bytes_that_are_no_json_as_hello_are_closed_as_well(stage: Stage) -> None:
    with stage.websocket() as talk:
        talk.send(b"\xff\x00")
        with pytest.raises(ConnectionClosed) as closed:
            talk.recv(PATIENCE)
    assert closed.value.rcvd.code == 4401


def test_a_frame_that_makes_no_sense_gets_a_problem_and_the_next_one_an_answer(
    stage: Stage,
) -> None:
    with stage.page() as page:
        for nonsense in ("{", "[]", "5", '{"t":"dance"}', '{"t":"call","id":"x"}'):
            page.socket.send(nonsense)
            frame = page.hear()
            assert frame["ok"] is False
            assert frame["id"] is None
        page.say(t="ping", id=9)
        assert page.hear()["t"] == "pong"


def test_a_frame_of_more_than_a_megabyte_ends_the_connection(stage: Stage) -> None:
    with stage.page() as page:
        page.socket.send('"' + "x" * 1_000_001 + '"')
        with pytest.raises(ConnectionClosed) as closed:
            page.hear()
    assert closed.value.rcvd.code == 1009


def test_an_unknown_call_is_named_in_its_result(stage: Stage) -> None:
    with stage.page() as page:
        result = page.call("Explode")
    assert result["ok"] is False
    assert "Explode" in result["problem"]["message"]


def test_token_and_port_are_files_of_ours_alone(stage: Stage) -> None:
    assert stage.instance.token.stat().st_mode & 0o077 == 0
    assert len(stage.token) >= 43  # 256 bits


# --- the stream -------------------------------------------------------------------------------


def test_events_reach_a_page_in_order_with_their_seqs(stage: Stage) -> None:
    with stage.page() as page:
        last = stage.publish(
            "test",
            [delta(), delta(), AgentLog(agent=AgentName("bob"), line="oops", stream="stderr")],
        )
        page.until(lambda page: page.seq >= last)
    assert page.seqs == [last - 2, last - 1, last]
    assert page.events[0]["data"]["text"] == "x"


def test_a_page_gets_only_what_it_wants_and_is_told_where_it_stands(stage: Stage) -> None:
    with stage.page(want=("public",)) as page:
        last = stage.publish("test", [delta(), TimerFired(id="t")])
        page.until(lambda page: page.seq >= last)
        assert page.events == []
        assert page.frames[-1]["t"] == "at"


def test_a_page_resumes_where_it_stopped(stage: Stage) -> None:
    with stage.page() as page:
        place = page.place
    last = stage.publish("test", [delta(), delta()], batches=150)
    with stage.page(resume=place) as page:
        assert page.welcome["resumed"] is True
        page.until(lambda page: page.seq >= last)
        assert page.seqs == list(range(place[1] + 1, last + 1))


def test_a_page_of_another_epoch_or_the_future_begins_anew(stage: Stage) -> None:
    with stage.page() as page:
        epoch, seq = page.place
    for place in ((epoch - 1, seq), (epoch, seq + 1000)):
        with stage.page(resume=place) as page:
            assert page.welcome["resumed"] is False


def test_a_page_whose_place_is_no_longer_in_the_journal_is_told(stage: Stage) -> None:
    with stage.page() as page:
        place = page.place
    last = stage.publish("test", [delta("x" * 10_000)] * 20, batches=30)
    stage.prune(last)
    with stage.page(resume=place) as page:
        page.until(lambda page: page.frames[-1]["t"] == "resync")
        assert page.events == []
        _, here = page.place
        assert here == last
        after = stage.publish("test", [delta()])
        page.until(lambda page: page.seq >= after)
        assert page.seqs == list(range(here + 1, after + 1))


def test_two_pages_see_the_same(stage: Stage) -> None:
    with stage.page() as one, stage.page() as other:
        last = stage.publish("test", [delta()] * 200)
        one.until(lambda page: page.seq >= last)
        other.until(lambda page: page.seq >= last)
        assert one.events == other.events
        assert max(len(frame["e"]) for frame in one.frames if frame["t"] == "ev") == 64


def test_a_slow_page_delays_no_other_and_misses_nothing(stage: Stage) -> None:
    with stage.page() as fast, stage.page() as slow:
        first = fast.seq
        text = "x" * 10_000
        last = stage.publish("test", [delta(text)] * 20, batches=80)  # 16 MB
        fast.until(lambda page: page.seq >= last)
        slow.until(lambda page: page.seq >= last)
        assert slow.seqs == fast.seqs == list(range(first + 1, last + 1))


def test_a_page_that_reads_nothing_is_cut_and_can_resume(stage: Stage) -> None:
    # A receive buffer of its own, so that the kernel doesn't swallow what it never reads.
    narrow = socket.create_connection(("127.0.0.1", stage.port))
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    options = {"sock": narrow, "max_size": None, "max_queue": 1, "ping_interval": None}
    with stage.page() as fast, stage.websocket(**options) as sleepy:
        place = fast.place
        sleepy.send(json.dumps({"t": "hello", "v": 1, "token": stage.token, "want": ["delta"]}))
        sleepy.recv(PATIENCE)
        last = stage.publish("test", [delta("x" * 10_000)] * 20, batches=80)
        fast.until(lambda page: page.seq >= last)
        stage.wait(lambda: "cut a browser" in stage.log("gateway"))
        assert drained(sleepy) == 1013
    with stage.page(resume=place, want=("delta",)) as page:
        page.until(lambda page: page.seq >= last)
        assert page.seqs == list(range(place[1] + 1, last + 1))


def test_events_for_programs_are_lines_of_json(stage: Stage) -> None:
    assert stage.get("/events").status == 401
    assert stage.get("/events", Authorization="Bearer wrong").status == 401
    bearer = f"Bearer {stage.token}"
    assert stage.get("/events?since=yesterday", Authorization=bearer).status == 400
    last = stage.publish("test", [delta(), TimerFired(id="t"), delta()])
    answer = stage.get(f"/events?since={last - 3}", Authorization=bearer)
    seqs = [json.loads(answer.readline())["seq"] for _ in range(2)]
    assert seqs == [last - 2, last]
    answer = stage.get(f"/events?since={last - 3}&all=1", Authorization=bearer)
    types = [json.loads(answer.readline())["type"] for _ in range(3)]
    assert types == ["message:delta", "timer:fired", "message:delta"]


# --- calls ------------------------------------------------------------------------------------


def test_a_command_is_done_once_however_often_it_is_sent(stage: Stage) -> None:
    stop = asyncio.Event()
    playing = stage.play_router(stop)
    try:
        with stage.page() as page:
            first = page.call("Direct", command="u-1", agent="demo")
            again = page.call("Direct", command="u-1", agent="demo")
            other = page.call("Direct", command="u-1", agent="bob")
            assert first["value"] == "did page"
            assert (again["ok"], again["value"], again["seq"]) == (
                True,
                first["value"],
                first["seq"],
            )
            assert other["ok"] is False
            sent = Direct(id="u-1", by="page", agent=AgentName("demo"))
            assert stage.run(stage.bus.command(sent)).seq == first["seq"]
    finally:
        stop.set()
        stage.publish("test", [delta()])
        playing.result(PATIENCE)


def test_a_restart_without_supervisord_says_what_to_do(stage: Stage) -> None:
    with stage.page() as page:
        result = page.call("RestartComponent", component="bus")
    assert result["problem"]["id"] == "no-supervisor"
    assert "make up" in result["problem"]["message"]


# --- deaths -----------------------------------------------------------------------------------


def test_after_its_own_death_a_page_goes_on_without_a_hole(stage: Stage) -> None:
    page = stage.page()
    first = page.seq
    port = stage.port
    middle = stage.publish("test", [delta()] * 10)
    page.until(lambda page: page.seq >= middle)
    stage.kill("gateway")
    last = stage.publish("test", [delta()] * 10)
    stage.start("gateway", "sk_gateway.service")
    stage.wait(stage.answers)
    assert stage.port == port
    with stage.page(resume=page.place) as after:
        after.until(lambda page: page.seq >= last)
        assert page.seqs + after.seqs == list(range(first + 1, last + 1))


def test_a_stopped_gateway_has_no_hole_when_it_goes_on(stage: Stage) -> None:
    with stage.page() as page:
        first = page.seq
        os.kill(stage.processes["gateway"].pid, signal.SIGSTOP)
        last = stage.publish("test", [delta("x" * 1000)] * 20, batches=500)
        os.kill(stage.processes["gateway"].pid, signal.SIGCONT)
        page.until(lambda page: page.seq >= last)
        assert page.seqs == list(range(first + 1, last + 1))


def test_the_bus_may_die_under_a_page(stage: Stage) -> None:
    with stage.page() as page:
        first = page.seq
        stage.kill("bus")
        page.say(t="ping", id=1)
        assert page.hear()["t"] == "pong"
        stage.start("bus", "sk_bus.broker")
        last = stage.publish("test", [delta()] * 3)
        page.until(lambda page: page.seq >= last)
        assert page.seqs == list(range(first + 1, last + 1))
