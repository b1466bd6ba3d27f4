"""One life of one agent: what the router orders goes to its holder, what it says goes to the bus.

The holder outlives us: whatever is begun here is gone on with by the next of us, from the ledger
and from what the holder says of itself.
"""

import asyncio
import contextlib
import json
import logging
import shutil
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sk_agents import frames
from sk_agents.filling import UnfillableError, filled
from sk_agents.framing import Framer, Line
from sk_agents.logbook import Entry, Logbook
from sk_agents.process import (
    Place,
    Processes,
    StartFailedError,
    holder_failed,
    not_started,
    start_failed,
)
from sk_agents.publishing import Publisher
from sk_agents.received import Received
from sk_agents.telling import Telling
from sk_bus.blobs import BlobStore
from sk_bus.errors import problem
from sk_bus.events import AgentLog  # noqa: TC001  annotations stay true at run time
from sk_bus.failpoints import failpoint
from sk_bus.internal import FactExited, FactFrame
from sk_bus.masking import masker, secrets
from sk_bus.model import AgentName, Problem

_WINDOW = 256 * 1024  # of stdout that the holder may send before we have dealt with it
_FAR = 1 << 62
_ACK_EVERY = 64 * 1024
_LAST_WORDS = 1.0  # how long a stop waits for lines ordered before it, in seconds
_LONGEST_ERROR = 64 * 1024
_LONG = 256 * 1024
_SILENT_HOLDERS = 5


@dataclass(frozen=True, slots=True)
class Send:
    """Order ``seq``: write ``line``, the ``n``-th."""

    seq: int
    n: int
    line: str


@dataclass(frozen=True, slots=True)
class Turn:
    seq: int
    open: bool


@dataclass(frozen=True, slots=True)
class Stop:
    seq: int


Order = Send | Turn | Stop


class Life:
    """Runs from the order to start until its end is published and nothing of it is left."""

    def __init__(
        self,
        place: Place,
        *,
        processes: Processes,
        publisher: Publisher,
        logbook: Logbook,
        blobs: BlobStore,
        log: logging.Logger,
    ) -> None:
        self.agent = AgentName(place.agent)
        self.inc = place.inc
        self.pid = 0
        self._place = place
        self._processes = processes
        self._publisher = publisher
        self._logbook = logbook
        self._blobs = blobs
        self._log = log
        self._orders: deque[Order] = deque()
        self._changed = asyncio.Event()
        self._gone = asyncio.Event()
        self._taken = 0
        self._noted: set[int] = set()
        self._definition: dict[str, Any] = {}
        self._telling = Telling(self.agent, self.inc, blobs, masker(frozenset()))
        self._writer: asyncio.StreamWriter | None = None
        self._acknowledged = (0, 0)
        self._in_turn = False
        self._problem: Problem | None = None
        self._stderr = _error_framer(0)
        self._cut_off = False
        self._silent = 0

    async def gone(self) -> None:
        """Wait until nothing of it is left."""
        await self._gone.wait()

    def order(self, order: Order) -> None:
        self._orders.append(order)
        self._changed.set()

    async def run(self, digest: str | None, *, started: int | None = None) -> None:
        """Live. ``digest`` names the definition of a life to be started, by the order ``started``.

        Without it the life goes on that a former one of us began.
        """
        try:
            description = await self._described(digest)
            if started is not None:
                failpoint("agents_before_start")
            while not await self._session(
                *await self._processes.connect(self._place, description), started=started
            ):
                # There was a holder: from now on, what it left is what there is.
                description = b""
                self._silent += 1
                if self._silent > _SILENT_HOLDERS:
                    raise StartFailedError(holder_failed(self._place))  # noqa: TRY301
        except StartFailedError as error:
            self._publisher.exited(
                FactExited(
                    agent=self.agent,
                    inc=self.inc,
                    taken=self._taken,
                    asked=False,
                    problem=error.problem,
                )
            )
            await self._publisher.confirmed()
        failpoint("agents_before_bury")
        self._bury()
        if started is not None:
            self._publisher.closed(started)
        self._publisher.moved()
        self._gone.set()

    def acknowledge(self) -> None:
        """Let the holder reclaim what the bus has: now and then, and all of it between turns."""
        out, err = self._publisher.acknowledged(self.agent, self.inc)
        before = sum(self._acknowledged)
        least = _ACK_EVERY if self._in_turn else 1
        if self._writer is not None and out + err - before >= least:
            failpoint("agents_before_ack")
            self._acknowledged = (out, err)
            self._writer.write(frames.two(frames.ACK, out, err))

    # --- the definition ---------------------------------------------------------------------

    async def _described(self, digest: str | None) -> bytes:
        """The description for the holder; the definition is kept as long as the life."""
        kept = self._place.definition
        if digest is not None:
            self._definition = self._processes.definition(digest) | {"digest": digest}
            try:
                kept.touch(mode=0o600)
                kept.write_text(json.dumps(self._definition), encoding="utf-8")
            except OSError as error:
                raise StartFailedError(not_started(error)) from error
        else:
            with contextlib.suppress(FileNotFoundError):
                self._definition = json.loads(kept.read_text(encoding="utf-8"))
        mask = masker(secrets(self._definition))
        self._telling = Telling(self.agent, self.inc, self._blobs, mask)
        return b"" if digest is None else await self._processes.description(self._definition)

    def _part_of(self, digest: str) -> dict[str, Any]:
        if digest == self._definition.get("digest"):
            return self._definition
        try:
            return self._processes.definition(digest)
        except StartFailedError as error:
            raise UnfillableError(str(error)) from error

    def _blob(self, sha256: str) -> str:
        try:
            return self._blobs.text(sha256)
        except (OSError, ValueError) as error:
            raise UnfillableError(f"the blob {sha256} can't be read: {error}") from error

    def _bury(self) -> None:
        for order in self._orders:
            self._publisher.closed(order.seq)
        self._orders.clear()
        shutil.rmtree(self._place.folder, ignore_errors=True)
        self._place.definition.unlink(missing_ok=True)

    # --- one connection to the holder -------------------------------------------------------

    async def _session(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, started: int | None
    ) -> bool:
        """Serve until the connection ends; whether the life is over, and that is published."""
        incoming = frames.Frames()
        received = Received()
        over = False
        try:
            hello = await _hello(reader, incoming)
            if hello is None:
                return False
            self._silent = 0
            told = self._publisher.ledger.lives.get(self.agent)
            if told is None or told.inc != self.inc:
                if hello.pid:
                    failpoint("agents_before_up")
                    self._publisher.up(self.agent, self.inc, hello.pid)
                told = None
            if started is not None:
                self._publisher.closed(started)
            self.pid = hello.pid
            self._taken = hello.taken
            if hello.taken > (told.taken if told is not None else 0):
                self._publisher.took(self.agent, self.inc, hello.taken)
            out, err = (told.out, told.err) if told is not None else (0, 0)
            writer.write(
                frames.two(frames.ATTACH, out, err) + frames.two(frames.WANT, out + _WINDOW, _FAR)
            )
            # Not before: a holder hangs up on one who acknowledges and hasn't attached.
            self._writer = writer
            self._stderr = _error_framer(err)
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(self._read(reader, incoming, received))
                feeding = group.create_task(self._feed(writer, hello.pending))
                over = await self._pump(received, writer, Framer(out))
                reading.cancel()
                feeding.cancel()
        except* (ConnectionError, frames.FrameError) as gone:
            self._log.warning("%s lost its holder: %r", self._place.folder.name, gone.exceptions)
        finally:
            self._writer = None
            self.pid = 0
            writer.close()
        return over

    async def _read(
        self, reader: asyncio.StreamReader, incoming: frames.Frames, received: Received
    ) -> None:
        """Sort what comes: stdout and the end wait their turn, the rest is dealt with at once."""
        while data := await reader.read(1 << 16):
            for kind, payload in incoming.feed(data):
                match kind:
                    case frames.OUT | frames.EXIT:
                        received.put(kind, payload)
                    case frames.ERR:
                        self._errors(*frames.one_from(payload))
                    case frames.TOOK:
                        self._took(frames.one_from(payload)[0])
                    case frames.NOTED:
                        self._noted.add(payload[0])
                        self._changed.set()
                    case frames.REFUSED:
                        n, wanted = frames.two_from(payload)
                        self._log.error(
                            "%s refused line %d: it waits for %d",
                            self._place.folder.name,
                            n,
                            wanted,
                        )
                    case _:
                        raise frames.FrameError(f"a word of unknown kind {kind}")
        received.close()

    # --- what goes in -----------------------------------------------------------------------

    async def _feed(self, writer: asyncio.StreamWriter, pending: int) -> None:
        """Carry out the orders, one after the other."""
        while True:
            while not self._orders:
                self._changed.clear()
                await self._changed.wait()
            order = self._orders[0]
            match order:
                case Send() if order.n > self._taken and not self._cut_off:
                    await self._send(writer, order, pending)
                case Turn():
                    failpoint("agents_before_turn")
                    self._in_turn = order.open
                    await self._heard(writer, frames.TURN, bytes((order.open,)))
                case Stop():
                    failpoint("agents_before_stop")
                    await self._heard(writer, frames.STOP, b"")
                    failpoint("agents_after_stop")
            self._orders.popleft()
            self._publisher.closed(order.seq)
            self._publisher.moved()

    async def _send(self, writer: asyncio.StreamWriter, order: Send, pending: int) -> None:
        if order.n != pending:
            try:
                line = filled(order.line, definition=self._part_of, blob=self._blob)
            except UnfillableError as error:
                self._log.error("%s: line %d can't be written: %s", self.agent, order.n, error)
                self._problem = problem(
                    "line-lost", "What was to be written to it is lost: {why}.", why=str(error)
                )
                await self._heard(writer, frames.STOP, b"")
                return
            frame = frames.one(frames.IN, order.n, line)
            writer.write(frame[: len(frame) // 2])
            failpoint("agents_mid_in")
            writer.write(frame[len(frame) // 2 :])
            await writer.drain()
        last_words: float | None = None
        loop = asyncio.get_running_loop()
        while self._taken < order.n:
            # A stdin that takes nothing must not keep a stop from being carried out.
            if last_words is None and any(isinstance(one, Stop) for one in self._orders):
                last_words = loop.time() + _LAST_WORDS
            self._changed.clear()
            try:
                async with asyncio.timeout_at(last_words):
                    await self._changed.wait()
            except TimeoutError:
                self._cut_off = True
                return

    def _took(self, n: int) -> None:
        failpoint("agents_before_took")
        self._taken = n
        self._publisher.took(self.agent, self.inc, n)
        self._changed.set()

    async def _heard(self, writer: asyncio.StreamWriter, kind: int, payload: bytes) -> None:
        self._noted.discard(kind)
        writer.write(frames.frame(kind, payload))
        while kind not in self._noted:
            self._changed.clear()
            await self._changed.wait()

    # --- what comes out ---------------------------------------------------------------------

    async def _pump(self, received: Received, writer: asyncio.StreamWriter, framer: Framer) -> bool:
        """Publish stdout within the agent's credit, and then its end; whether it came to that."""
        granted = framer.offset + _WINDOW
        while items := await received.take():
            lines: list[Line] = []
            for kind, payload in items:
                if kind == frames.EXIT:
                    await self._output([*lines, framer.rest()])
                    self._error_lines([line for line in [self._stderr.rest()] if line is not None])
                    await self._exited(frames.record_from(payload))
                    writer.write(frames.frame(frames.DONE))
                    while await received.take():
                        pass
                    return True
                offset, data = frames.one_from(payload)
                if offset != framer.offset:
                    raise frames.FrameError(f"stdout goes on at {offset}, not at {framer.offset}")
                lines += framer.feed(data)
            await self._output(lines)
            if granted - framer.offset < _WINDOW // 2:
                granted = framer.offset + _WINDOW
                writer.write(frames.two(frames.WANT, granted, _FAR))
            await asyncio.sleep(0)  # a full queue must not keep the others waiting
        return False

    async def _output(self, lines: Sequence[Line | None]) -> None:
        events: list[tuple[FactFrame | AgentLog, int]] = []
        end = 0
        spent_frames = spent = 0
        for line in lines:
            if line is None:
                continue
            frame = await self._frame(line)
            if frame is None:
                now = asyncio.get_running_loop().time()
                logs = self._telling.log("stdout", self._telling.text(line), now)
                events += [(event, 0) for event in logs]
            else:
                size = len(frame.line)
                if not self._publisher.credit.allows(
                    self.agent, size, frames=spent_frames, spent=spent
                ):
                    if events:
                        self._publisher.output(self.agent, self.inc, events, end)
                    events, spent_frames, spent = [], 0, 0
                    await self._publisher.credited(self.agent, size)
                events.append((frame, size))
                spent_frames += 1
                spent += size
            end = line.end
        if end:
            failpoint("agents_before_frame")
            self._publisher.output(self.agent, self.inc, events, end)

    async def _frame(self, line: Line) -> FactFrame | None:
        """The fact that a line is; ``None`` when it is none, or can't be read.

        Raises:
            OSError: its blobs can't be kept now; the line is read again.
        """
        try:
            if len(line.data) > _LONG:
                # Its blobs are flushed to the disk: meanwhile the others go on.
                return await asyncio.to_thread(self._telling.frame, line)
            return self._telling.frame(line)
        except OSError:
            raise
        except Exception:  # noqa: BLE001  whatever a line can raise: it is an agent's text
            # We would read it again at each start, and end each time, and all agents with us.
            self._log.exception("%s: its line up to %d can't be read", self.agent, line.end)
            return None

    def _errors(self, offset: int, data: bytes) -> None:
        """Lines of stderr, as far as they have ended."""
        if offset != self._stderr.offset:
            lost = offset - self._stderr.offset
            self._stderr = _error_framer(offset)
            self._log.warning("%s: %d bytes of stderr were lost", self.agent, lost)
        self._error_lines(self._stderr.feed(data))

    def _error_lines(self, lines: list[Line]) -> None:
        """All to the logbook, not too many of them to the bus."""
        now = asyncio.get_running_loop().time()
        events: list[AgentLog] = []
        texts = [self._telling.text(line) for line in lines]
        entries = [Entry(self.inc, line.end, text) for line, text in zip(lines, texts, strict=True)]
        self._logbook.add(self.agent, entries)
        for text in texts:
            events += self._telling.log("stderr", text, now)
        if lines:
            self._publisher.errors(self.agent, self.inc, events, lines[-1].end)

    async def _exited(self, record: dict[str, str]) -> None:
        asked = record.get("asked") == "1"
        why = self._problem
        if "failed" in record:
            why = start_failed(record["failed"], int(record["errno"]), self._definition)
        elif "lost" in record:
            why = problem("shim-lost", "The process that held it is gone, and it with it.")
        elif record.get("unattended") == "1":
            why = problem("unattended", "It was ended: Sidekicks had been away for too long.")
        elif record.get("broken") == "1":
            why = problem("closed-its-pipes", "It closed its stdin or stdout, and was ended.")
        left_out = [
            *self._telling.left_out("stdout"),
            *self._telling.left_out("stderr"),
        ]
        if left_out and self.agent in self._publisher.ledger.lives:
            end = self._publisher.ledger.lives[self.agent].err
            self._publisher.errors(self.agent, self.inc, left_out, end)
        failpoint("agents_before_exit")
        self._publisher.exited(
            FactExited(
                agent=self.agent,
                inc=self.inc,
                taken=int(record["taken"]),
                asked=asked,
                code=None if why or "code" not in record else int(record["code"]),
                signal=None if why or "signal" not in record else int(record["signal"]),
                problem=why,
                stderr=self._logbook.last_words(self.agent, self.inc),
            )
        )
        await self._publisher.confirmed()
        failpoint("agents_after_exit")


async def _hello(reader: asyncio.StreamReader, incoming: frames.Frames) -> frames.Hello | None:
    """A holder's first word; ``None`` when it ends without one."""
    while data := await reader.read(1 << 16):
        for kind, payload in incoming.feed(data):
            if kind == frames.HELLO:
                return frames.hello_from(payload)
            raise frames.FrameError("a holder that doesn't say who it is")
    return None


def _error_framer(offset: int) -> Framer:
    return Framer(offset, longest=_LONGEST_ERROR, kept=_LONGEST_ERROR // 2)
