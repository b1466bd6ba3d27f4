"""One browser at its WebSocket: a reader, a sender, and what they do for each other.

The rules of who is given what stand in :mod:`sk_gateway.session`; here they are carried out.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from sk_bus.contract import Resync
from sk_bus.errors import RefusedError, problem
from sk_bus.events import Kind
from sk_bus.model import Cursor
from sk_bus.wire import Batch
from sk_gateway import frames
from sk_gateway.calls import Call, call_of, is_whole
from sk_gateway.desk import Desk
from sk_gateway.frames import Bundle
from sk_gateway.guard import Guard
from sk_gateway.hub import Hub
from sk_gateway.incoming import cursor_of, object_of, wanted
from sk_gateway.session import Session, can_resume

VERSION = 1
MOST_CALLS = 64
_PATIENCE_FOR_HELLO = 10.0

BAD_TOKEN = 4401
WRONG_VERSION = 4409
TOO_SLOW = 1013

_log = logging.getLogger("sk.gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What all browsers share, and what each is told of it."""

    hub: Hub
    desk: Desk
    guard: Guard
    version: str
    instance: str
    config: str


class _Unwelcome(Exception):  # noqa: N818  no error of ours
    def __init__(self, code: int, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(reason)


class Browser:
    """One connection, from its hello to its end."""

    def __init__(self, socket: WebSocket, house: House) -> None:
        self._socket = socket
        self._house = house
        self._hub = house.hub
        self._session = Session(house.hub.head, Kind(0))
        self._began = 0
        self._answers: deque[str] = deque()
        self._something = asyncio.Event()
        self._emptied = asyncio.Event()
        self._fallen_behind = asyncio.Event()
        self._slow = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._calls = 0

    async def serve(self) -> None:
        """Speak with the browser until either has enough."""
        await self._socket.accept()
        try:
            await self._greet()
        except _Unwelcome as refused:
            await self._socket.close(refused.code, refused.reason)
            return
        except WebSocketDisconnect:
            return
        self._hub.join(self)
        try:
            async with asyncio.TaskGroup() as group:
                sender = self._begin(group, self._send())
                self._begin(group, self._read_on())
                self._begin(group, self._close_when_slow(sender))
                await self._receive(group)
                for task in self._tasks:
                    task.cancel()
        finally:
            self._hub.leave(self)

    # --- what the hub calls -----------------------------------------------------------------

    def offered(self, bundle: Bundle, now: float) -> None:
        self._session.offer(bundle, now)
        self._wake()

    def cut(self) -> None:
        self._begin_anew(self._hub.head)

    def ticked(self, now: float) -> None:
        if self._session.moved():
            self._answer(frames.at(self._session.tell()))
        if self._session.too_slow(now):
            self._slow.set()

    # --- the hello --------------------------------------------------------------------------

    async def _greet(self) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_FOR_HELLO):
                hello = object_of(await self._socket.receive())
        except (TimeoutError, RefusedError):
            raise _Unwelcome(BAD_TOKEN, "no hello came") from None
        match hello:
            case {"t": "hello", "token": str(token)} if self._house.guard.knows(token):
                pass
            case _:
                raise _Unwelcome(BAD_TOKEN, "the token is not that of this Sidekicks")
        if hello.get("v") != VERSION:
            raise _Unwelcome(WRONG_VERSION, "this page is of another version: reload it")
        head = self._hub.head
        asked = cursor_of(hello.get("resume"))
        resumed = can_resume(asked, head)
        start = asked if resumed and asked is not None else head
        self._session = Session(start, wanted(hello.get("want")))
        self._session.stands_at(head)
        self._began = start.seq
        self._answer(
            frames.welcome(
                head,
                resumed=resumed,
                version=self._house.version,
                instance=self._house.instance,
                config=self._house.config,
            )
        )

    # --- the tasks --------------------------------------------------------------------------

    async def _receive(self, group: asyncio.TaskGroup) -> None:
        while True:
            try:
                frame = object_of(await self._socket.receive())
            except WebSocketDisconnect:
                return
            except RefusedError as error:
                self._answer(frames.failure(None, error.problem))
                continue
            match frame:
                case {"t": "ping", "id": id_} if is_whole(id_):
                    self._answer(frames.pong(id_, self._session.tell()))
                case {"t": "call", "id": id_} if is_whole(id_):
                    if self._calls >= MOST_CALLS:
                        self._answer(frames.failure(id_, _TOO_MANY))
                    else:
                        self._calls += 1
                        self._begin(group, self._call(id_, frame))
                case _:
                    self._answer(frames.failure(None, _NO_FRAME))

    async def _call(self, id_: int, frame: dict[str, Any]) -> None:
        try:
            call = call_of(frame)
        except RefusedError as error:
            self._answer(frames.failure(id_, error.problem))
        else:
            self._answer(await self._done(call))
        finally:
            self._calls -= 1

    async def _done(self, call: Call) -> str:
        try:
            return await self._house.desk.done(call, since=self._began)
        except Exception:  # noqa: BLE001  logged with its trace, and told to who asked
            # A mistake of ours in one call must not end the connection: the page would open it
            # again, ask the same, and so on.
            _log.exception("%s failed", type(call.what).__name__)
            return frames.failure(call.id, _OUR_MISTAKE)

    async def _send(self) -> None:
        try:
            while True:
                while self._answers:
                    await self._socket.send_text(self._answers.popleft())
                epoch = self._session.cursor.epoch
                pieces = self._session.take()
                if pieces:
                    await self._socket.send_text(frames.events(epoch, pieces))
                elif not self._answers:
                    self._emptied.set()
                    self._something.clear()
                    await self._something.wait()
        except WebSocketDisconnect:
            return  # the reader hears of it too, and ends the rest

    async def _read_on(self) -> None:
        """Whenever the browser is behind, read the journal until it stands with the hub."""
        while True:
            self._session.stands_at(self._hub.head)
            if not self._session.behind:
                self._fallen_behind.clear()
                await self._fallen_behind.wait()
                continue
            # What was queued before it fell behind goes out first.
            await self._sent()
            follow = self._house.desk.bus.follow(self._session.cursor)
            async with aclosing(follow):
                async for item in follow:
                    match item:
                        case Resync(epoch=epoch, head=head):
                            self._begin_anew(Cursor(epoch=epoch, seq=head))
                        case Batch():
                            self._session.read(Bundle(item))
                    self._wake()
                    await self._sent()
                    if self._session.far_behind(self._hub.head):
                        self._begin_anew(self._hub.head)
                        break
                    self._session.stands_at(self._hub.head)
                    if not self._session.behind:
                        break

    async def _sent(self) -> None:
        """Wait until the socket has taken everything that is queued."""
        while self._session.waiting:
            self._emptied.clear()
            await self._emptied.wait()

    async def _close_when_slow(self, sender: asyncio.Task[None]) -> None:
        await self._slow.wait()
        _log.warning("cut a browser that took nothing for too long; it will come back")
        sender.cancel()  # it waits to send what must not follow the close
        await asyncio.wait([sender])
        await self._socket.close(TOO_SLOW, "too slow")

    # --- between them -----------------------------------------------------------------------

    def _begin(
        self, group: asyncio.TaskGroup, work: Coroutine[Any, Any, None]
    ) -> asyncio.Task[None]:
        task = group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _begin_anew(self, head: Cursor) -> None:
        self._session.begin_anew(head)
        self._session.stands_at(self._hub.head)
        self._began = head.seq
        self._answer(frames.resync(head))

    def _answer(self, frame: str) -> None:
        self._answers.append(frame)
        self._wake()

    def _wake(self) -> None:
        self._something.set()
        if self._session.behind:
            self._fallen_behind.set()


_OUR_MISTAKE = problem(
    "internal-error",
    "Sidekicks made a mistake; `sk-cli logs gateway` has the particulars",
)
_TOO_MANY = problem(
    "too-many-calls",
    "{most} calls of this page are under way already; wait for one",
    most=MOST_CALLS,
)
_NO_FRAME = problem("malformed-frame", "a frame must be a call or a ping with an id")
