"""What every service has in common: one copy, a connected bus, queries, a word each second.

``run(name, body)`` is a service's whole ``main``. The body decides nothing about processes, and
this knows nothing of what the body does.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import zmq

from sk_bus import paths
from sk_bus.client import connect
from sk_bus.codec import plain, value_of
from sk_bus.contract import Bus, Hello, Report
from sk_bus.errors import (
    EpochChangedError,
    MalformedError,
    SidekicksError,
    UnreachableError,
    problem,
)
from sk_bus.link import Readable
from sk_bus.process import Process
from sk_bus.queries import QUERIES
from sk_bus.seconds import until_next
from sk_bus.wire import Position, answer, refusal, request_from, salvaged

Q = TypeVar("Q")
Handler = Callable[[Any], Awaitable[Any]]

_SETTLED = 10.0
_LARGEST_QUERY = 16 * 2**20
_LONGEST_WAIT = 60.0


class _BeginAnewError(Exception):
    """The bus stands elsewhere now, or our parent is gone: end, quietly."""


class Service:
    """One service, as its body sees it. Tests make one on an in-memory bus."""

    def __init__(
        self,
        name: str,
        instance: paths.Instance,
        bus: Bus,
        hello: Hello,
        *,
        degraded: bool = False,
    ) -> None:
        self.name = name
        self.instance = instance
        self.bus = bus
        self.hello = hello
        self.cursor = 0
        self.floor: int | None = None
        self.position: Position = None
        self.details: dict[str, Any] = {}
        self.state = "degraded" if degraded else "running"
        self.log = logging.getLogger(f"sk.{name}")
        # False: it answers from what it knows without the log, and asks how far that has come.
        self.follows = True
        self._handlers: dict[str, Handler] = {}
        self._moves = asyncio.Event()

    def answers(self, kind: type[Q], handler: Callable[[Q], Awaitable[Any]]) -> None:
        """Answer queries of class ``kind`` with ``handler``; a SidekicksError becomes a refusal."""
        self._handlers[kind.__name__] = handler
        self._moves.set()

    def advance(self, seq: int) -> None:
        """Everything up to ``seq`` is done with; queries that waited for it go on."""
        self.cursor = max(self.cursor, seq)
        self._moves.set()

    async def report_now(self) -> None:
        """Tell the bus how far we have come, without waiting for the second to be over."""
        await self.bus.report(self.report())

    # --- the harness's side ---------------------------------------------------------------

    def report(self) -> Report:
        """Our word on ourselves, as of now."""
        return Report(
            service=self.name,
            pid=os.getpid(),
            epoch=self.hello.epoch,
            cursor=self.cursor,
            floor=self.floor,
            position=plain(self.position),
            state=self.state,
            details=self.details | ({"holes": self.bus.holes} if self.bus.holes else {}),
        )

    async def _reached(self, seq: int) -> None:
        if self.cursor < seq and not self.follows:
            self.advance((await self.bus.hello()).head)
        while self.cursor < seq:
            self._moves.clear()
            await self._moves.wait()

    def _owns(self, name: str) -> bool:
        return getattr(QUERIES.get(name), "service", None) == self.name

    async def _answering(self, name: str) -> None:
        """Wait for the handler: who asks while we start gets an answer, late and not wrong."""
        while name not in self._handlers:
            self._moves.clear()
            await self._moves.wait()

    async def answered(self, verb: str, argument: Any) -> Any:
        """The answer to a query as it came over the wire.

        Raises:
            SidekicksError: why there is none.
        """
        if verb != "query":
            raise _refused("unknown-verb", "A service has no verb {verb}.", verb=verb[:64])
        match argument:
            case [str(name), dict(data), int(after)] if self._owns(name):
                try:
                    query: Any = value_of(QUERIES[name], data)
                except (TypeError, ValueError, KeyError) as error:
                    raise _refused("malformed-query", "{name} can't be read.", name=name) from error
            case [str(name), dict(), int()]:
                raise _refused(
                    "unknown-query",
                    "sk-{service} answers no query {name}.",
                    service=self.name,
                    name=name[:64],
                )
            case _:
                raise _refused("malformed-query", "{name} can't be read.", name="The query")
        async with asyncio.timeout(_LONGEST_WAIT):
            await self._answering(name)
            await self._reached(after)
        # The cursor is read first: what is answered is at least as new as what is claimed.
        seq = self.cursor
        value = await self._handlers[name](query)
        return [plain(value), self.hello.epoch, seq]


def _refused(id_: str, message: str, **params: object) -> SidekicksError:
    return SidekicksError(problem(id_, message, **params))


class _Desk:
    """The ROUTER socket on which a service answers."""

    def __init__(self, service: Service, group: asyncio.TaskGroup) -> None:
        self._service = service
        self._group = group
        self._busy: set[tuple[bytes, int]] = set()
        self._malformed = 0
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
        self._socket = context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.MAXMSGSIZE, _LARGEST_QUERY)
        self._socket.bind(service.instance.queries(service.name))
        self._readable = Readable(self._socket, self._taken)

    def _taken(self, frames: list[bytes]) -> None:
        try:
            number, verb, argument = request_from(frames[1] if len(frames) == 2 else b"")
        except MalformedError as error:
            self._malformed += 1
            if self._malformed & (self._malformed - 1) == 0:  # ever more rarely
                self._service.log.warning("dropped a frame (%d so far): %s", self._malformed, error)
            unread = salvaged(frames[-1])
            if unread is not None:
                why = problem(
                    "malformed-request", "A service can't read this: {why}.", why=str(error)
                )
                self._send(frames[0], refusal(unread, why))
            return
        asked = (frames[0], number)
        if asked in self._busy:
            return  # asked again while we are at it
        self._busy.add(asked)
        self._group.create_task(self._answer(asked, verb, argument))

    async def _answer(self, asked: tuple[bytes, int], verb: str, argument: Any) -> None:
        peer, number = asked
        try:
            data = answer(number, await self._service.answered(verb, argument))
        except SidekicksError as error:
            data = refusal(number, error.problem)
        except TimeoutError:
            return  # whoever asked has long given up
        except Exception:
            # Asked again, it would fail again: whoever asks is told, and the others served on.
            self._service.log.exception("a query failed: %r", argument[:1])
            why = problem(
                "query-failed",
                "sk-{service} failed to answer; its log says why.",
                service=self._service.name,
            )
            data = refusal(number, why)
        finally:
            self._busy.discard(asked)
        self._send(peer, data)
        self._readable.look()

    def _send(self, peer: bytes, data: bytes) -> None:
        # A peer that is gone, or that doesn't read, asks again.
        with contextlib.suppress(zmq.Again):
            self._socket.send_multipart([peer, data], zmq.NOBLOCK)

    def close(self) -> None:
        self._readable.close()


async def _reports(service: Service, process: Process) -> None:
    """Say each second that we live; end when the bus or our parent is another."""
    loop = asyncio.get_running_loop()
    settled_at = loop.time() + _SETTLED
    while True:
        try:
            hello = await service.bus.report(service.report())
        except UnreachableError:
            hello = service.hello  # it will be back
        ours = service.hello
        if (hello.directory, hello.epoch) != (ours.directory, ours.epoch):
            raise _BeginAnewError(f"the bus is in epoch {hello.epoch} of {hello.directory}")
        if process.orphaned():
            raise _BeginAnewError("whoever started us is gone")
        if loop.time() > settled_at:
            settled_at = float("inf")
            if process.degraded:
                service.state = "running"
            process.settled()
        await asyncio.sleep(until_next(loop.time()))


async def _serve(process: Process, body: Callable[[Service], Awaitable[None]]) -> None:
    async with connect(process.instance) as bus:
        hello = await bus.hello(timeout=float("inf"))
        service = Service(process.name, process.instance, bus, hello, degraded=process.degraded)
        async with asyncio.TaskGroup() as group:
            desk = _Desk(service, group)
            group.create_task(_reports(service, process))
            try:
                await body(service)
            except Exception as error:
                await _check_epoch(service, error)
                raise
            finally:
                desk.close()
            raise _BeginAnewError("its work is done")


async def _check_epoch(service: Service, error: Exception) -> None:
    """A body that meets another epoch before the harness does may well stumble over it.

    Raises:
        EpochChangedError: that was the reason.
    """
    try:
        hello = await service.bus.hello(timeout=1.0)
    except UnreachableError:
        return
    if hello.epoch != service.hello.epoch:
        raise EpochChangedError(service.hello.epoch, hello.epoch) from error


def _quietly(group: BaseExceptionGroup[BaseException]) -> str | None:
    """Why the service ends, if that is no failure."""
    expected, others = group.split((_BeginAnewError, EpochChangedError))
    return str(expected.exceptions[0]) if expected is not None and others is None else None


def run(name: str, body: Callable[[Service], Awaitable[None]]) -> None:
    """Be the service ``name``; returns when it is to be started anew."""
    process = Process(name, paths.instance())
    process.begin()
    try:
        asyncio.run(_serve(process, body))
    except EpochChangedError as error:
        process.log.info("ends: %s", error)
    except BaseExceptionGroup as group:
        why = _quietly(group)
        if why is None:
            process.failed(group)
            raise SystemExit(1) from None
        process.log.info("ends: %s", why)
    except Exception as error:  # noqa: BLE001  whatever it was: it is logged, and the pause is made
        process.failed(error)
        raise SystemExit(1) from None
