"""sk-agents: follows the log, has the router's orders carried out, and states what it saw.

It decides nothing about agents. Each agent's life runs beside the others; one that blocks or floods
holds up nobody else.
"""

import asyncio
import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

from sk_agents import frames
from sk_agents.credit import Credit
from sk_agents.environment import LoginShell
from sk_agents.ledger import Ledger
from sk_agents.life import Life, Order, Send, Stop, Turn
from sk_agents.logbook import Logbook
from sk_agents.memory import memory
from sk_agents.process import Place, Processes, StartFailedError
from sk_agents.publishing import Publisher
from sk_agents.views import Agents
from sk_bus.blobs import BlobStore
from sk_bus.contract import Heartbeat, Resync
from sk_bus.errors import RefusedError, problem
from sk_bus.events import Kind
from sk_bus.internal import DoSend, DoStart, DoStop, DoTurn
from sk_bus.model import AgentView, Cursor
from sk_bus.queries import ListAgents, Logs
from sk_bus.service import Service, run
from sk_bus.vocabulary import decoded
from sk_bus.wire import Batch

_FAR = 1 << 62
_FOLDED = ("agent:state", "config:changed")


class Executor:
    """All lives of one data directory in one epoch."""

    def __init__(self, service: Service, group: asyncio.TaskGroup, publisher: Publisher) -> None:
        self._service = service
        self._group = group
        self._publisher = publisher
        self._data = Path(service.hello.directory)
        shell = LoginShell(service.log, private=str(service.instance.run))
        self._processes = Processes(service.instance, self._data, shell)
        self._logbook = Logbook(self._data / "logs")
        self._blobs = BlobStore(self._data)
        self._lives: dict[str, Life] = {}
        self._ending: dict[str, list[asyncio.Task[None]]] = {}
        self._cache = self._data / "agents.json"
        saved = _saved(self._cache, service.hello.epoch)
        self._cached = saved is not None
        self._agents = Agents(saved)

    async def run(self, head: int) -> None:
        """Take up what still runs, then follow. Up to ``head`` a former one of us has published."""
        epoch = self._service.hello.epoch
        ledger = self._publisher.ledger
        self._take_up()
        self._service.answers(ListAgents, self._list)
        self._service.answers(Logs, self._logs)
        # Without the cache everything is folded again, from the first event that is kept.
        after = Cursor(epoch=epoch, seq=ledger.cursor if self._cached else 0)
        if after.seq >= head:
            self._publisher.caught_up()
        async for item in self._service.bus.follow(after, heartbeats=True):
            match item:
                case Heartbeat():
                    self._beat(item)
                case Batch():
                    self._batch(item, head)
                    if item.last >= head:
                        self._publisher.caught_up()
                case Resync():
                    self._service.log.info("follows from %d on", item.head)
                    self._publisher.caught_up()
            self._service.floor = self._publisher.confirmed_cursor() + 1
            self._service.position = ledger.position()
            for life in self._lives.values():
                life.acknowledge()

    # --- the log ----------------------------------------------------------------------------

    def _beat(self, beat: Heartbeat) -> None:
        report = beat.reports.get("router")
        if report is not None and report.epoch == beat.epoch:
            self._decided(report.position)
        self._publisher.moved()

    def _decided(self, position: Any) -> None:
        if isinstance(position, int):
            self._publisher.decided(position)

    def _batch(self, batch: Batch, head: int) -> None:
        if batch.kinds & (Kind.FACT | Kind.LOG):
            self._own(batch, head)
        elif batch.kinds & (Kind.DO | Kind.PUBLIC | Kind.DELTA | Kind.RESULT | Kind.INTERNAL) or (
            not batch.count
        ):
            if batch.producer == "router":
                self._decided(batch.position)
            if batch.kinds & (Kind.DO | Kind.PUBLIC):
                self._hear(batch)
        self._publisher.ledger.read(batch.last, decided=self._publisher.credit.decided)
        self._service.advance(batch.last)

    def _own(self, batch: Batch, head: int) -> None:
        """What was published under our name: by us, or up to ``head`` by a former one of us."""
        if batch.first > head:
            self._publisher.credit.published(batch.first, batch.count)
            return
        for seq, data in enumerate(batch.raw(), batch.first):
            if data["type"] == "fact:frame":
                self._publisher.credit.former(data["agent"], seq, len(data["line"]))

    def _hear(self, batch: Batch) -> None:
        changed = False
        for seq, data in enumerate(batch.raw(), batch.first):
            tag = data["type"]
            if tag in _FOLDED:
                changed |= self._agents.fold(decoded(data))
            elif tag.startswith("do:"):
                self._order(seq, decoded(data))
        if changed:
            self._save()

    def _save(self) -> None:
        """Before our cursor may pass what was folded: later nobody could fold it again."""
        draft = self._cache.with_suffix(".new")
        made = {"epoch": self._service.hello.epoch, "agents": self._agents.plain()}
        draft.write_text(json.dumps(made), encoding="utf-8")
        draft.replace(self._cache)

    # --- orders -----------------------------------------------------------------------------

    def _order(self, seq: int, order: object) -> None:
        match order:
            case DoStart():
                self._start(seq, order)
            case DoSend():
                self._pass_on(order, Send(seq, order.n, order.line))
            case DoTurn():
                self._pass_on(order, Turn(seq, order.open))
            case DoStop():
                self._pass_on(order, Stop(seq))

    def _pass_on(self, said: DoSend | DoTurn | DoStop, order: Order) -> None:
        ledger = self._publisher.ledger
        if not ledger.concerns(said.agent, said.inc, order.seq):
            return
        life = self._lives.get(said.agent)
        if life is None or life.inc != said.inc:
            self._service.log.error(
                "%s for the life %d of %s, which never began", said.type, said.inc, said.agent
            )
            return
        ledger.opened(order.seq)
        life.order(order)

    def _start(self, seq: int, order: DoStart) -> None:
        ledger = self._publisher.ledger
        if not ledger.concerns(order.agent, order.inc, seq):
            return
        before = self._lives.get(order.agent)
        if before is not None and before.inc == order.inc:
            return  # it was taken up
        ledger.opened(seq)
        life = self._life(self._processes.place(order.agent, order.inc))
        self._group.create_task(self._live(life, before, order.digest, started=seq))

    def _life(self, place: Place) -> Life:
        life = Life(
            place,
            processes=self._processes,
            publisher=self._publisher,
            logbook=self._logbook,
            blobs=self._blobs,
            log=self._service.log,
        )
        self._lives[place.agent] = life
        return life

    async def _live(
        self, life: Life, before: Life | None, digest: str | None, *, started: int | None = None
    ) -> None:
        # At most one process of an agent: the life before must have left nothing.
        if before is not None:
            await before.gone()
        for ending in self._ending.pop(life.agent, []):
            await ending
        await life.run(digest, started=started)
        if self._lives.get(life.agent) is life:
            del self._lives[life.agent]

    # --- what former ones of us left --------------------------------------------------------

    def _take_up(self) -> None:
        ledger = self._publisher.ledger
        lives = ledger.lives
        for agent, told in lives.items():
            life = self._life(self._processes.place(agent, told.inc))
            self._group.create_task(self._live(life, None, None))
        for place in self._processes.places():
            if not ledger.over(place.agent, place.inc):
                continue
            task = self._group.create_task(self._put_to_rest(place))
            self._ending.setdefault(place.agent, []).append(task)

    async def _put_to_rest(self, place: Place) -> None:
        """End a life that nobody asks about any more, be it of another epoch."""
        self._service.log.info("ends %s, which a former life left", place.folder.name)
        held = (place.folder / "agent").exists() or (place.folder / "exit").exists()
        with contextlib.suppress(StartFailedError, ConnectionError):
            if held:
                reader, writer = await self._processes.connect(place)
                writer.write(frames.two(frames.ATTACH, _FAR, _FAR) + frames.frame(frames.STOP))
                incoming = frames.Frames()
                while data := await reader.read(1 << 16):
                    if any(kind == frames.EXIT for kind, _ in incoming.feed(data)):
                        writer.write(frames.frame(frames.DONE))
                writer.close()
        shutil.rmtree(place.folder, ignore_errors=True)
        place.definition.unlink(missing_ok=True)

    # --- queries ----------------------------------------------------------------------------

    async def _list(self, _query: ListAgents) -> tuple[AgentView, ...]:
        groups = {agent: life.pid for agent, life in self._lives.items() if life.pid}
        used = await asyncio.to_thread(memory, groups) if groups else {}
        return self._agents.views(used)

    async def _logs(self, query: Logs) -> tuple[str, ...]:
        if not self._agents.knows(query.agent):
            raise RefusedError(
                problem("no-such-agent", "no such agent: {agent}", agent=query.agent)
            )
        return self._logbook.last(query.agent)


def _saved(path: Path, epoch: int) -> Any:
    """The cached agents of this epoch, or ``None``."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data["agents"] if data.get("epoch") == epoch else None


async def _body(service: Service) -> None:
    producer = await service.bus.producer("agents")
    # Asked after the position is known: what stands in the log now is of former ones of us.
    head = (await service.bus.hello()).head
    # Its empty batches are in no journal, and its next report may be a second away.
    decided = (await service.bus.producer("router")).position
    ledger = Ledger(producer.position, epoch=service.hello.epoch)
    async with asyncio.TaskGroup() as group:
        publisher = Publisher(producer, ledger, Credit(behind=True))
        group.create_task(producer.run())
        if isinstance(decided, int):
            publisher.decided(decided)
        await Executor(service, group, publisher).run(head)


def main() -> None:
    run("agents", _body)
