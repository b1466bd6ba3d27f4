"""A bus as its clients see it, over any link: producers, followers, commands, queries.

Everything here may be cut off at any moment and is done again: producers compare and append,
followers ask the journal, commands go by their id, queries change nothing.
"""

import asyncio
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sk_bus.assembly import Append, Assembly
from sk_bus.blobs import BlobStore
from sk_bus.codec import plain, value_of
from sk_bus.commands import AnyCommand, Send
from sk_bus.contract import (
    Answer,
    Beats,
    Bus,
    Follow,
    Heartbeat,
    Hello,
    Outcome,
    Producer,
    Report,
)
from sk_bus.errors import (
    EpochChangedError,
    MalformedError,
    RefusedError,
    SupersededError,
    UnreachableError,
    problem,
)
from sk_bus.events import CommandResult
from sk_bus.failpoints import disabled
from sk_bus.gaps import Gaps, Replayed, Verdict
from sk_bus.link import Link, ZmqLink
from sk_bus.model import Cursor, Problem
from sk_bus.paths import Instance
from sk_bus.queries import AnyQuery
from sk_bus.vocabulary import Event
from sk_bus.wire import (
    BATCH,
    Batch,
    Position,
    batch_from,
    batch_from_record,
    heartbeat_from,
    unpacked,
)

_REPLAY = 512 * 1024
_FULL_PAUSE = 0.5
_THERE_WITHIN = 2.0
_MOST_UNREAD = 8 * 2**20  # bytes that wait for one slow follower before the journal takes over


class BusClient:
    """A bus at the other end of a link."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._blobs: BlobStore | None = None
        self.holes = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def hello(self, *, timeout: float = 30.0) -> Hello:
        return value_of(Hello, await self._link.ask("bus", "hello", None, timeout=timeout))

    async def producer(self, name: str) -> Producer:
        epoch, n, position = await self._link.ask("bus", "position", [name], timeout=None)
        return _Producer(self._link, name, Assembly(name, epoch, n, position), epoch)

    async def follow(self, after: Cursor, *, heartbeats: bool = False) -> Follow:
        gaps = Gaps(after)
        unread = _Unread(reports=heartbeats)
        leave = self._link.subscribe(unread.offer)
        try:
            async for delivered in _replay(self._link, gaps):
                yield delivered
            while True:
                item = await unread.next()
                if isinstance(item, Heartbeat):
                    behind = gaps.behind(item.epoch, item.head)
                    if heartbeats:
                        yield item
                    if not behind:
                        continue
                else:
                    verdict = gaps.offered(item)
                    if verdict is Verdict.DELIVER:
                        yield item
                    if verdict is not Verdict.ASK:
                        continue
                self.holes += 1
                async for delivered in _replay(self._link, gaps):
                    yield delivered
        finally:
            leave()

    def beats(self) -> Beats:
        return _beats(self._link)

    async def command(self, command: AnyCommand, *, timeout: float = 60.0) -> Outcome:
        data = plain(command)
        if isinstance(command, Send) and isinstance(command.text, str):
            data["text"] = plain(await self._kept(command.text, timeout))
        try:
            end, result = await self._link.ask("bus", "command", data, timeout=timeout)
        except UnreachableError as error:
            if error.problem.id == "unreachable" and await self._there():
                raise UnreachableError(_late(timeout)) from error
            raise
        return Outcome(result=value_of(CommandResult, result), seq=end)

    async def outcome(self, id_: str, *, timeout: float = 10.0) -> Outcome | None:
        """How the command with this id ended; ``None``: it didn't, or it is unknown."""
        known = await self._link.ask("bus", "outcome", [id_], timeout=timeout)
        if known is None:
            return None
        return Outcome(result=value_of(CommandResult, known[1]), seq=known[0])

    async def query(self, query: AnyQuery, *, after: int = 0, timeout: float = 10.0) -> Answer:
        argument = [type(query).__name__, plain(query), after]
        value, epoch, seq = await self._link.ask(query.service, "query", argument, timeout=timeout)
        if isinstance(value, bytes) and query.returns is not bytes:
            value = unpacked(value)  # by an owner that had it packed already
        returned: Any = value_of(query.returns, value)
        return Answer(value=returned, asOf=Cursor(epoch=epoch, seq=seq))

    async def report(self, report: Report, *, timeout: float = 5.0) -> Hello:
        answer = await self._link.ask("bus", "report", plain(report), timeout=timeout)
        return value_of(Hello, answer)

    async def prune(self, *, timeout: float = 120.0) -> int:
        """Drop from the journal all that nobody needs, and compact it; the new floor."""
        floor: int = await self._link.ask("bus", "prune", None, timeout=timeout)
        return floor

    async def close(self) -> None:
        await self._link.close()

    async def _there(self) -> bool:
        """Whether the bus answers."""
        try:
            await self.hello(timeout=_THERE_WITHIN)
        except UnreachableError:
            return False
        return True

    async def _kept(self, text: str, timeout: float) -> Any:
        if self._blobs is None:
            self._blobs = BlobStore(Path((await self.hello(timeout=timeout)).directory))
        return self._blobs.kept(text)


def _late(seconds: float) -> Problem:
    return problem(
        "command-late",
        "Not finished within {seconds} s. It may still be done: look at the conversation, or at "
        "`sk-cli status`, before you ask for it again.",
        seconds=seconds,
    )


def connect(instance: Instance) -> BusClient:
    """The bus of an instance, whether it runs yet or not. Call it inside the event loop."""
    return BusClient(ZmqLink(instance))


class _Producer:
    """Puts are gathered while a batch is in flight; that one is sent until it is settled."""

    def __init__(self, link: Link, name: str, assembly: Assembly, epoch: int) -> None:
        self._link = link
        self._name = name
        self._assembly = assembly
        self._epoch = epoch
        self._filled = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()

    @property
    def position(self) -> Position:
        return self._assembly.position

    def put(self, events: list[Event], position: Position) -> None:
        self._assembly.put(events, position)
        self._drained.clear()
        self._filled.set()

    async def drained(self) -> None:
        await self._drained.wait()

    async def run(self) -> None:
        while True:
            append = self._assembly.next()
            if append is None:
                self._drained.set()
                self._filled.clear()
                await self._filled.wait()
                continue
            await self._send(append)
            self._assembly.settled()

    async def _send(self, append: Append) -> None:
        argument = append.argument()
        while True:
            try:
                await self._link.ask("bus", "append", argument, timeout=None)
            except RefusedError as error:
                refused = error.problem
                match refused.id:
                    case "position":
                        stands = (refused.params["n"], refused.params["position"])
                        if stands == (append.n, append.position):
                            return  # it was accepted, and the answer was lost
                        raise SupersededError(self._name, stands[1]) from error
                    case "epoch":
                        raise EpochChangedError(self._epoch, refused.params["epoch"]) from error
                    case "full":
                        await asyncio.sleep(_FULL_PAUSE)  # others must read first
                    case _:
                        raise
            else:
                return


class _Unread:
    """What the stream brought and the follower hasn't taken yet.

    Without ``reports`` those of heartbeats aren't read: who only follows needs the head.
    """

    def __init__(self, *, reports: bool) -> None:
        self._reports = reports
        self._items: deque[Batch | Heartbeat] = deque()
        self._bytes = 0
        self._arrived = asyncio.Event()

    def offer(self, header: bytes, body: bytes) -> None:
        try:
            if header[:1] == bytes((BATCH,)):
                batch = batch_from(header, body)
                if self._bytes > _MOST_UNREAD:
                    return  # a hole: the follower will find it, and the journal has it
                self._bytes += len(body)
                self._items.append(batch)
            else:
                epoch, head, reports = heartbeat_from(body)
                read = {
                    name: value_of(Report, data)
                    for name, data in (reports.items() if self._reports else ())
                }
                beat = Heartbeat(epoch=epoch, head=head, reports=read)
                if self._items and isinstance(self._items[-1], Heartbeat):
                    self._items.pop()  # only the newest is of interest
                self._items.append(beat)
        except (MalformedError, TypeError, ValueError):
            return  # not ours; a follower trusts nothing but seqs anyway
        self._arrived.set()

    async def next(self) -> Batch | Heartbeat:
        while not self._items:
            self._arrived.clear()
            await self._arrived.wait()
        item = self._items.popleft()
        if isinstance(item, Batch):
            self._bytes -= len(item.body)
        return item


async def _beats(link: Link) -> Beats:
    unread = _Unread(reports=True)
    leave = link.subscribe(unread.offer, beats=True)
    try:
        while True:
            item = await unread.next()
            if isinstance(item, Heartbeat):
                yield item
    finally:
        leave()


async def _replay(link: Link, gaps: Gaps) -> Follow:
    """What the journal has after the cursor, up to its head."""
    while True:
        cursor = gaps.cursor
        if disabled("no_replay") and cursor.seq:
            hello = value_of(Hello, await link.ask("bus", "hello", None, timeout=None))
            gaps.cursor = Cursor(epoch=hello.epoch, seq=hello.head)
            return
        argument = [cursor.epoch, cursor.seq, _REPLAY]
        epoch, head, floor, resync, records = await link.ask(
            "bus", "replay", argument, timeout=None
        )
        answer = Replayed(
            epoch=epoch,
            head=head,
            floor=floor,
            resync=resync,
            batches=tuple(batch_from_record(record) for record in records),
        )
        for delivered in gaps.replayed(answer):
            yield delivered
        if gaps.cursor.seq >= head:
            return


def _holds(client: BusClient) -> Bus:
    return client  # the type checker's proof that a client is a bus
