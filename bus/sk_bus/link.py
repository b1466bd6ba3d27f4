"""ZeroMQ under a client: requests that are sent again until answered, and the live stream.

Sockets belong to one event loop. They are read through their descriptor and drained without
blocking, which costs a third of what ``zmq.asyncio`` does. It knows requests and bytes; what they
mean stands in :mod:`sk_bus.client`.
"""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import zmq

from sk_bus.errors import MalformedError, RefusedError, UnreachableError, problem
from sk_bus.paths import Instance
from sk_bus.wire import HEARTBEAT, reply_from, request

_log = logging.getLogger("sk.link")
_AT_ONCE = 200
_HIGH_WATER = 5000

Sink = Callable[[bytes, bytes], None]


class Link(Protocol):
    """The way to a bus and to the services on it."""

    async def ask(self, to: str, verb: str, argument: Any, *, timeout: float | None) -> Any:
        """Ask ``bus`` or a service, again and again until there is an answer.

        Raises:
            RefusedError: the answer is no.
            UnreachableError: no answer within ``timeout`` seconds (``None``: wait for ever).
        """

    def subscribe(self, sink: Sink, *, beats: bool = False) -> Callable[[], None]:
        """Give ``sink`` both frames of everything published; what is returned ends that.

        ``beats``: of heartbeats alone. What goes on in the log then wakes nobody here.
        """

    async def close(self) -> None:
        """Let go of the sockets."""


class ZmqLink:
    """A link to the instance's sockets. They may come and go."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
        self._askers: dict[str, _Asker] = {}
        self._streams: dict[bytes, _Stream] = {}

    async def ask(self, to: str, verb: str, argument: Any, *, timeout: float | None) -> Any:
        asker = self._askers.get(to)
        if asker is None:
            instance = self._instance
            address = instance.requests if to == "bus" else instance.queries(to)
            asker = self._askers[to] = _Asker(self._context, address, to)
        return await asker.ask(verb, argument, timeout)

    def subscribe(self, sink: Sink, *, beats: bool = False) -> Callable[[], None]:
        topic = bytes((HEARTBEAT,)) if beats else b""
        stream = self._streams.get(topic)
        if stream is None:
            stream = _Stream(self._context, self._instance.publications, topic)
            self._streams[topic] = stream
        stream.sinks.append(sink)

        def leave() -> None:
            stream.sinks.remove(sink)

        return leave

    async def close(self) -> None:
        for asker in self._askers.values():
            asker.close()
        self._askers.clear()
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()


class Readable:
    """A socket in the loop. ZeroMQ's descriptor only says that *something* changed, and once."""

    def __init__(self, socket: zmq.Socket[bytes], taken: Callable[[list[bytes]], None]) -> None:
        self._socket = socket
        self._taken = taken
        self._loop = asyncio.get_running_loop()
        self._fd = int(socket.getsockopt(zmq.FD))
        self._closed = False
        self.writable: Callable[[], None] | None = None
        self._loop.add_reader(self._fd, self.look)
        self.look()

    def look(self) -> None:
        """Take what is there; call this after each send as well, which may swallow the signal."""
        if self._closed:
            return
        for _ in range(_AT_ONCE):
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            try:
                self._taken(frames)
            except Exception:
                self._loop.call_soon(self.look)  # the signal is spent; the rest waits there
                raise
            if self._closed:
                return
        else:
            self._loop.call_soon(self.look)
        if self.writable is not None and int(self._socket.getsockopt(zmq.EVENTS)) & zmq.POLLOUT:
            self.writable()

    def close(self) -> None:
        self._closed = True
        self._loop.remove_reader(self._fd)
        self._socket.close(linger=0)


@dataclass(slots=True)
class _Question:
    data: bytes
    future: asyncio.Future[Any]
    again: float  # seconds until it is sent again
    timer: asyncio.TimerHandle | None = None
    sent: bool = False


class _Asker:
    """A DEALER: every request is sent until it is answered, and at once on a new connection."""

    def __init__(self, context: zmq.Context[Any], address: str, name: str) -> None:
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._numbers = itertools.count(1)
        self._open: dict[int, _Question] = {}
        self._socket = context.socket(zmq.DEALER)
        # Only whom we are connected to: else requests would pile up for one that is down.
        self._socket.setsockopt(zmq.IMMEDIATE, 1)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.SNDHWM, _HIGH_WATER)
        self._socket.setsockopt(zmq.RCVHWM, _HIGH_WATER)
        self._socket.setsockopt(zmq.RECONNECT_IVL, 10)
        self._socket.setsockopt(zmq.RECONNECT_IVL_MAX, 50)
        monitor = self._socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        self._monitor = Readable(monitor, self._connected)
        self._socket.connect(address)
        self._readable = Readable(self._socket, self._taken)

    async def ask(self, verb: str, argument: Any, timeout: float | None) -> Any:
        number = next(self._numbers)
        question = _Question(request(number, verb, argument), self._loop.create_future(), again=0.5)
        self._open[number] = question
        self._send(question)
        try:
            async with asyncio.timeout(timeout):
                return await question.future
        except TimeoutError:
            raise UnreachableError(
                problem(
                    "unreachable",
                    "sk-{service} did not answer within {seconds} s; `sk-cli status` says more.",
                    service=self._name,
                    seconds=timeout,
                )
            ) from None
        finally:
            del self._open[number]
            if question.timer is not None:
                question.timer.cancel()

    def _send(self, question: _Question) -> None:
        if question.future.done():
            return
        if question.timer is not None:
            question.timer.cancel()
        try:
            self._socket.send(question.data, zmq.NOBLOCK)
            question.sent = True
            self._readable.writable = None
        except zmq.Again:
            question.sent = False
            self._readable.writable = self._send_unsent
        question.timer = self._loop.call_later(question.again, self._send, question)
        question.again = min(question.again * 1.5, 2.0)
        self._loop.call_soon(self._readable.look)

    def _send_unsent(self) -> None:
        self._readable.writable = None
        for question in list(self._open.values()):
            if not question.sent:
                self._send(question)

    def _connected(self, _frames: list[bytes]) -> None:
        """Another process answers now: what was under way with the one before is lost."""
        for question in list(self._open.values()):
            question.again = 0.5
            self._send(question)

    def _taken(self, frames: list[bytes]) -> None:
        try:
            number, value, why = reply_from(frames[-1])
        except MalformedError as error:
            _log.warning("dropped a reply of %s: %s", self._name, error)
            return
        question = self._open.get(number)
        if question is None or question.future.done():
            return  # answered before: it had been sent twice
        if why is None:
            question.future.set_result(value)
        else:
            question.future.set_exception(RefusedError(why))

    def close(self) -> None:
        why = problem("closed", "The connection to sk-{service} was closed.", service=self._name)
        for question in self._open.values():
            if not question.future.done():
                question.future.set_exception(UnreachableError(why))
        self._monitor.close()
        with contextlib.suppress(zmq.ZMQError):
            self._socket.disable_monitor()
        self._readable.close()


class _Stream:
    """The SUB socket, for all who follow. ``topic`` is how each header must begin."""

    def __init__(self, context: zmq.Context[Any], address: str, topic: bytes) -> None:
        self.sinks: list[Sink] = []
        socket = context.socket(zmq.SUB)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.RCVHWM, _HIGH_WATER)
        socket.setsockopt(zmq.RECONNECT_IVL, 10)
        socket.setsockopt(zmq.RECONNECT_IVL_MAX, 50)
        socket.setsockopt(zmq.SUBSCRIBE, topic)
        socket.connect(address)
        self._readable = Readable(socket, self._taken)

    def _taken(self, frames: list[bytes]) -> None:
        if len(frames) != 2:
            _log.warning("dropped a publication of %d frames", len(frames))
            return
        for sink in tuple(self.sinks):
            sink(frames[0], frames[1])

    def close(self) -> None:
        self._readable.close()
