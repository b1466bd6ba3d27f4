"""The bus without processes, for unit tests: the same sequencer, the same client, no sockets.

Everything passes through the same bytes, and the same contract tests hold both. Nothing is kept
over the end of the process, and nothing is ever lost on the way.
"""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from sk_bus.client import BusClient
from sk_bus.codec import plain, value_of
from sk_bus.contract import Hello
from sk_bus.errors import RefusedError, SidekicksError, UnreachableError, problem
from sk_bus.instructions import Commit, Known, Now, Prune, Read, Refuse, Reply
from sk_bus.link import Sink
from sk_bus.queries import QUERIES
from sk_bus.sequencer import Sequencer, replayed
from sk_bus.wire import HEARTBEAT, Batch, heartbeat, packed, unpacked

Q = TypeVar("Q")
# As Service.answered: takes verb and argument, returns [value, epoch, cursor].
Answering = Callable[[str, Any], Awaitable[Any]]


def _now() -> Now:
    return Now(ts=time.time_ns() // 1_000_000, mono=time.monotonic_ns() // 1_000_000)


class MemoryBus:
    """A bus in this process. ``clock`` stamps the batches; ``epoch`` is the first one's number.

    As with the real one, commands wait until ``history:restored`` stands in the log.
    """

    def __init__(
        self,
        *,
        directory: Path,
        config: str = "/memory/sidekicks.yaml",
        clock: Callable[[], Now] = _now,
        epoch: int = 1_000_000,
    ) -> None:
        self._clock = clock
        self._directory = directory
        self._config = config
        self._sinks: list[Sink] = []
        self._futures: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count(1)
        self._services: dict[str, Answering] = {}
        self._outcomes: dict[str, Known] = {}
        self.batches: list[Batch] = []
        self._sequencer = self._begun(epoch)

    @property
    def hello(self) -> Hello:
        """What the bus says of itself now."""
        return self._sequencer.hello

    def client(self) -> BusClient:
        """A client of this bus; any number of them."""
        return BusClient(MemoryLink(self))

    def answers(self, kind: type[Q], handler: Callable[[Q], Awaitable[Any]]) -> None:
        """Let ``handler`` answer queries of this class, for a service that isn't there."""
        service: str = vars(kind)["service"]
        known = self._services.get(service)
        if not isinstance(known, _Handlers):
            known = self._services[service] = _Handlers(self)
        known.by_name[kind.__name__] = handler

    def serve(self, name: str, answering: Answering) -> None:
        """Let a whole service answer: pass its ``Service.answered``."""
        self._services[name] = answering

    def beat(self) -> None:
        """Publish a heartbeat; each report does."""
        hello = self._sequencer.hello
        reports = {name: plain(report) for name, report in self._sequencer.reports.items()}
        self._publish(*heartbeat(hello.epoch, hello.head, reports))

    def new_epoch(self) -> None:
        """Begin another epoch, as after a lost journal."""
        self.batches.clear()
        self._sequencer = self._begun(self._sequencer.hello.head + 1000)
        self.beat()

    # --- the link's side ------------------------------------------------------------------

    def request(self, verb: str, argument: Any) -> tuple[int, asyncio.Future[Any]]:
        """Hand in a request; the future is its reply."""
        to = next(self._numbers)
        future = self._futures[to] = asyncio.get_running_loop().create_future()
        for instruction in self._sequencer.handle(to, verb, _travelled(argument), self._clock()):
            match instruction:
                case Commit():
                    self._commit(instruction)
                case Reply(to=int(asked), value=value):
                    self._settle(asked, value=value)
                case Refuse(to=int(asked), problem=why):
                    self._settle(asked, error=RefusedError(value_of(type(why), _travelled(why))))
                case Read(to=int(asked), after=after):
                    records = [batch.record() for batch in self.batches if batch.last > after]
                    value = replayed(self._sequencer.hello, resync=False, records=records)
                    self._settle(asked, value=value)
                case Prune(to=int(asked), below=below):
                    self.batches = [batch for batch in self.batches if batch.last >= below]
                    head = self._sequencer.hello.head
                    self._sequencer.floor(self.batches[0].first if self.batches else head + 1)
                    self._settle(asked, value=self._sequencer.hello.floor)
        if verb == "report":
            self.beat()
        return to, future

    def forget(self, to: int) -> None:
        """Nobody waits for this reply any more."""
        self._futures.pop(to, None)

    def service(self, name: str) -> Answering | None:
        return self._services.get(name)

    def subscribe(self, sink: Sink) -> Callable[[], None]:
        """Give ``sink`` what is published; the next heartbeat is due at once."""
        self._sinks.append(sink)
        self.beat()
        return lambda: self._sinks.remove(sink)

    # --- inside ---------------------------------------------------------------------------

    def _begun(self, epoch: int) -> Sequencer:
        hello = Hello(
            epoch=epoch,
            head=epoch,
            floor=epoch + 1,
            directory=str(self._directory),
            config=self._config,
            open=False,
        )
        return Sequencer(hello, {}, _Outcomes(self._outcomes))

    def _commit(self, commit: Commit) -> None:
        self._outcomes.update(commit.outcomes)
        if commit.batch.count:
            self.batches.append(commit.batch)
        self._publish(commit.batch.header(), commit.batch.body)

    def _publish(self, header: bytes, body: bytes) -> None:
        for sink in tuple(self._sinks):
            sink(header, body)

    def _settle(self, to: int, *, value: Any = None, error: Exception | None = None) -> None:
        future = self._futures.get(to)
        if future is None or future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(_travelled(value))


class MemoryLink:
    """The way of one client to a bus in this process."""

    def __init__(self, bus: MemoryBus) -> None:
        self._bus = bus

    async def ask(self, to: str, verb: str, argument: Any, *, timeout: float | None) -> Any:
        try:
            async with asyncio.timeout(timeout):
                if to == "bus":
                    return await self._ask_bus(verb, argument)
                return await self._ask_service(to, verb, argument)
        except TimeoutError:
            why = problem(
                "unreachable", "sk-{service} did not answer within {s} s.", service=to, s=timeout
            )
            raise UnreachableError(why) from None

    async def _ask_bus(self, verb: str, argument: Any) -> Any:
        number, future = self._bus.request(verb, argument)
        try:
            return await future
        finally:
            self._bus.forget(number)

    async def _ask_service(self, name: str, verb: str, argument: Any) -> Any:
        answering = self._bus.service(name)
        if answering is None:
            return await asyncio.get_running_loop().create_future()  # until the deadline
        try:
            return _travelled(await answering(verb, _travelled(argument)))
        except SidekicksError as error:
            raise RefusedError(error.problem) from error

    def subscribe(self, sink: Sink, *, beats: bool = False) -> Callable[[], None]:
        def beat(header: bytes, body: bytes) -> None:
            if header[:1] == bytes((HEARTBEAT,)):
                sink(header, body)

        return self._bus.subscribe(beat if beats else sink)

    async def close(self) -> None:
        """Nothing is held."""


class _Handlers:
    """A service of which only some queries exist."""

    def __init__(self, bus: MemoryBus) -> None:
        self._bus = bus
        self.by_name: dict[str, Callable[[Any], Awaitable[Any]]] = {}

    async def __call__(self, _verb: str, argument: Any) -> Any:
        name, data, _after = argument
        handler = self.by_name.get(name)
        if handler is None:
            raise SidekicksError(problem("unknown-query", "No query {name} here.", name=name))
        query: Any = value_of(QUERIES[name], data)
        hello = self._bus.hello
        return [plain(await handler(query)), hello.epoch, hello.head]


class _Outcomes:
    """What the sequencer asks of a journal, from a dict."""

    def __init__(self, known: dict[str, Known]) -> None:
        self._known = known

    def outcome(self, id_: str) -> Known | None:
        return self._known.get(id_)


def _travelled(value: Any) -> Any:
    """``value`` as the other side of a wire would get it."""
    return unpacked(packed(plain(value)))
