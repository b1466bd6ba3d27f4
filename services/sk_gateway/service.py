"""``sk-gateway``: the page and its WebSocket on loopback, and the watch over ``sk-config``."""

import asyncio
import os
import time
from importlib import metadata
from pathlib import Path

from sk_bus.contract import Heartbeat, Producer
from sk_bus.errors import RefusedError
from sk_bus.model import Cursor
from sk_bus.service import Service, run
from sk_bus.supervisor import NotRunningError, Supervisor, SupervisorError
from sk_gateway import server, transfer
from sk_gateway.browser import House
from sk_gateway.desk import Desk, noticed, restarted
from sk_gateway.guard import Guard
from sk_gateway.hub import Hub
from sk_gateway.static import DIRECTORY, Pages
from sk_gateway.watch import CONFIG, Verdict, Watch, known_from
from sk_gateway.web import application


def main() -> None:
    run("gateway", _body)


async def _body(service: Service) -> None:
    supervisor = Supervisor(service.instance.supervisor_socket)
    watcher = _Watcher(service, supervisor, await service.bus.producer("gateway"))
    start = Cursor(epoch=service.hello.epoch, seq=service.hello.head)
    service.advance(start.seq)

    def heard(beat: Heartbeat) -> None:
        service.details = {"browsers": len(hub)}
        watcher.heard(beat)

    transfer.clear(Path(service.hello.directory))
    hub = Hub(service.bus, start, moved=service.advance, heard=heard)
    listener = server.listening(service.instance)
    house = House(
        hub=hub,
        desk=Desk(service.bus, supervisor, hub),
        guard=Guard(port=listener.getsockname()[1], token=server.token(service.instance)),
        version=_version(),
        instance=service.instance.name,
        config=service.hello.config,
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(hub.run())
        group.create_task(hub.tick())
        group.create_task(watcher.run())
        group.create_task(server.serve(application(house, Pages(DIRECTORY)), listener))


class _Watcher:
    """Carries out what the watch over ``sk-config`` decides."""

    def __init__(self, service: Service, supervisor: Supervisor, producer: Producer) -> None:
        self._service = service
        self._supervisor = supervisor
        self._producer = producer
        self._watch = Watch(known_from(producer.position))
        self._due = asyncio.Event()
        self._watched: tuple[int, int] | None = None  # pid and pidfd
        self._restart = False
        self._dead = 0

    def heard(self, beat: Heartbeat) -> None:
        report = beat.reports.get(CONFIG)
        self._follow(self._watch.heard(beat, _mono(), _wall()))
        if report is not None and (self._watched is None or self._watched[0] != report.pid):
            self._look_at(report.pid)

    async def run(self) -> None:
        """Publish, and speak with supervisord, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._producer.run())
            group.create_task(self._act())

    async def _act(self) -> None:
        while True:
            await self._due.wait()
            self._due.clear()
            restart, self._restart = self._restart, False
            try:
                if restart:
                    await restarted(self._supervisor, CONFIG)
                else:
                    await asyncio.to_thread(noticed, self._supervisor, CONFIG, self._dead)
            except (NotRunningError, SupervisorError, RefusedError) as error:
                self._service.log.warning("sk-config is down, and supervisord: %s", error)

    def _follow(self, verdict: Verdict) -> None:
        if verdict.say is not None:
            self._producer.put([verdict.say], self._watch.known.position())
            self._service.position = self._watch.known.position()
        if verdict.restart:
            self._service.log.warning("sk-config says nothing; having it restarted")
            self._restart = True
            self._due.set()

    def _look_at(self, pid: int) -> None:
        """Hear of the end of process ``pid`` at once, where the system can tell."""
        self._look_away()
        if not hasattr(os, "pidfd_open"):
            return
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:  # it has ended already: its next report will tell
            return
        self._watched = (pid, descriptor)
        asyncio.get_running_loop().add_reader(descriptor, self._ended)

    def _ended(self) -> None:
        assert self._watched is not None
        self._dead = self._watched[0]
        self._look_away()
        self._follow(self._watch.died(self._dead, _wall()))
        self._due.set()

    def _look_away(self) -> None:
        if self._watched is not None:
            asyncio.get_running_loop().remove_reader(self._watched[1])
            os.close(self._watched[1])
            self._watched = None


def _mono() -> int:
    return time.monotonic_ns() // 1_000_000


def _wall() -> int:
    return time.time_ns() // 1_000_000


def _version() -> str:
    try:
        return metadata.version("sidekicks")
    except metadata.PackageNotFoundError:
        return "0.1.0"
