"""``sk-bus``: numbers, journals and publishes. The sequencer decides, this performs.

One thread, two sockets: requests come in on a ROUTER, everything that was accepted goes out on a
PUB. What is accepted is appended to the journal, then published, then acknowledged. It knows
nothing of what the events mean.
"""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import zmq

from sk_bus import paths
from sk_bus.codec import plain
from sk_bus.contract import Hello, Report
from sk_bus.errors import MalformedError, problem
from sk_bus.failpoints import disabled, failpoint
from sk_bus.instructions import Commit, Instruction, Now, Prune, Read, Refuse, Reply
from sk_bus.journal import Journal, JournalError
from sk_bus.opening import HeadFile, opened, pointed
from sk_bus.process import Process
from sk_bus.retention import CAP, KEEP, needed
from sk_bus.seconds import until_next
from sk_bus.sequencer import Sequencer, replayed
from sk_bus.tuning import tuned
from sk_bus.wire import LARGEST_REQUEST, answer, heartbeat, refusal, request_from, salvaged

_BEAT = 0.2
_AFTER_REPORTS = 0.05
_BUSY_FOR = 2.0  # the faster beat goes on so long after the last batch
_SYNC = 1.0
_PRUNE = 5.0
_MOST_AT_ONCE = 256
_LARGEST_REPLAY = 4 * 2**20
_HIGH_WATER = 2000


@dataclass(slots=True)
class _To:
    """Who asked. Two requests of one client are two."""

    peer: bytes
    request: int

    def __hash__(self) -> int:
        return hash((self.peer, self.request))


class Broker:
    """The bus on an open journal."""

    def __init__(
        self,
        instance: paths.Instance,
        process: Process,
        journal: Journal,
        hello: Hello,
        *,
        keep: int | None = None,
        cap: int = CAP,
    ) -> None:
        self._log = process.log
        self._process = process
        self._instance = instance
        self._journal = journal
        self._keep = int(tuned("journal-keep", KEEP)) if keep is None else keep
        self._cap = cap
        self._prune_every = tuned("journal-prune", _PRUNE)
        self._sequencer = Sequencer(
            hello, journal.places(), journal, compare=not disabled("no_cas")
        )
        self._head = HeadFile(instance.head)
        self._head.begin(hello.epoch, hello.head, hello.directory)
        self._pointer = pointed(instance)
        self._malformed = 0
        self._acks = 0
        self._lose_acks = int(tuned("lose-acks", 0))
        self._dirty = False
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
        self._requests = context.socket(zmq.ROUTER)
        self._requests.setsockopt(zmq.LINGER, 0)
        self._requests.setsockopt(zmq.MAXMSGSIZE, LARGEST_REQUEST)
        self._requests.setsockopt(zmq.SNDHWM, _HIGH_WATER)
        self._requests.setsockopt(zmq.RCVHWM, _HIGH_WATER)
        self._publications = context.socket(zmq.PUB)
        self._publications.setsockopt(zmq.LINGER, 0)
        self._publications.setsockopt(zmq.SNDHWM, _HIGH_WATER)
        self._publications.bind(instance.publications)
        self._requests.bind(instance.requests)

    def run(self) -> None:
        """Serve until there is a reason to begin anew."""
        started = last_sync = last_prune = time.monotonic()
        beat = started + 0.05  # soon: whoever reconnects learns the head
        busy_until = started + _BUSY_FOR
        while True:
            now = time.monotonic()
            if now >= beat:
                self._beat()
                # With nothing to do, just after the services have reported.
                beat = now + (_BEAT if now < busy_until else until_next(now, late=_AFTER_REPORTS))
                if self._process.orphaned():
                    self._log.info("whoever started the bus is gone")
                    return
                if pointed(self._instance) != self._pointer:
                    self._log.info("another configuration file is in force")
                    return
                if now - started > 10:
                    self._process.settled()
                    started = float("inf")
            if self._dirty and now >= last_sync + _SYNC:
                self._journal.sync()
                self._dirty = False
                last_sync = now
            if now >= last_prune + self._prune_every:
                self._retain()
                last_prune = now
            wake = min(beat, last_sync + _SYNC) if self._dirty else beat
            if self._requests.poll(max(1, int((wake - now) * 1000) + 1)):
                head = self._sequencer.hello.head
                self._drain()
                if self._sequencer.hello.head != head:
                    busy_until = time.monotonic() + _BUSY_FOR
                    beat = min(beat, time.monotonic() + _BEAT)

    # --- requests -------------------------------------------------------------------------

    def _drain(self) -> None:
        """Take what waits, commands first. Each producer has one batch on its way at most."""
        requests: list[tuple[_To, str, Any]] = []
        for _ in range(_MOST_AT_ONCE):
            try:
                frames = self._requests.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            request = self._read(frames)
            if request is not None:
                requests.append(request)
        requests.sort(key=lambda request: request[1] == "append")
        for to, verb, argument in requests:
            now = Now(ts=time.time_ns() // 1_000_000, mono=time.monotonic_ns() // 1_000_000)
            for instruction in self._sequencer.handle(to, verb, argument, now):
                if verb == "append" and isinstance(instruction, Reply) and self._loses_ack():
                    continue
                self._perform(instruction)

    def _loses_ack(self) -> bool:
        """Whether a test wants this answer lost, as one is when we die behind an append."""
        self._acks += 1
        return self._lose_acks > 0 and self._acks % self._lose_acks == 0

    def _read(self, frames: list[bytes]) -> tuple[_To, str, Any] | None:
        try:
            request, verb, argument = request_from(frames[1] if len(frames) == 2 else b"")
        except MalformedError as error:
            self._malformed += 1
            # Once, and then ever more rarely: a peer gone mad must not fill the log.
            if self._malformed & (self._malformed - 1) == 0:
                self._log.warning("dropped a frame (%d so far): %s", self._malformed, error)
            number = salvaged(frames[-1])
            if number is not None:
                why = problem(
                    "malformed-request", "The bus can't read this: {why}.", why=str(error)
                )
                self._send(_To(frames[0], number), refusal(number, why))
            return None
        return _To(frames[0], request), verb, argument

    def _perform(self, instruction: Instruction) -> None:
        match instruction:
            case Commit():
                self._commit(instruction)
            case Reply(to=_To() as to, value=value):
                self._send(to, answer(to.request, value))
            case Refuse(to=_To() as to, problem=why):
                self._send(to, refusal(to.request, why))
            case Read(to=_To() as to, after=after, limit=limit):
                records = self._journal.replay(after, min(limit, _LARGEST_REPLAY))
                value = replayed(self._sequencer.hello, resync=False, records=records)
                self._send(to, answer(to.request, value))
            case Prune(to=_To() as to, below=below):
                self._journal.drop(below, ts=time.time_ns() // 1_000_000)
                self._sequencer.floor(self._journal.floor)
                self._send(to, answer(to.request, self._journal.floor))

    def _commit(self, commit: Commit) -> None:
        batch = commit.batch
        self._journal.commit(commit)
        failpoint("after_append")
        self._dirty = True
        self._head.write(batch.epoch, batch.last)
        self._publications.send_multipart([batch.header(), batch.body])
        failpoint("after_publish")
        failpoint("before_ack")  # the same place: nothing lies between

    def _send(self, to: _To, data: bytes) -> None:
        # A peer that is gone, or that doesn't read, loses it and asks again.
        with contextlib.suppress(zmq.Again):
            self._requests.send_multipart([to.peer, data], zmq.NOBLOCK)

    # --- by the clock ---------------------------------------------------------------------

    def _beat(self) -> None:
        hello = self._sequencer.hello
        reports = {name: plain(report) for name, report in self._sequencer.reports.items()}
        reports["bus"] = plain(self._report(hello))
        self._publications.send_multipart(heartbeat(hello.epoch, hello.head, reports))

    def _report(self, hello: Hello) -> Report:
        """Our own word on ourselves; a full journal is why agents seem to hang."""
        full = self._sequencer.full
        mono = time.monotonic_ns() // 1_000_000
        return Report(
            service="bus",
            pid=os.getpid(),
            epoch=hello.epoch,
            cursor=hello.head,
            state="degraded" if full or self._process.degraded else "running",
            details={"full": full, "journal": self._journal.segments.size},
            mono=mono,
            heard=mono,
        )

    def _retain(self) -> None:
        sequencer = self._sequencer
        below = needed(sequencer.reports, sequencer.hello)
        if self._journal.prune(below, keep=self._keep, ts=time.time_ns() // 1_000_000):
            sequencer.floor(self._journal.floor)
        full = self._journal.segments.size > self._cap
        if full != sequencer.full:
            self._log.warning("the journal is %s", "full: agents wait" if full else "read again")
            sequencer.full = full


@contextlib.contextmanager
def _failures_pause(process: Process) -> Iterator[None]:
    try:
        yield
    except (JournalError, OSError, zmq.ZMQError, paths.PathsError) as error:
        process.failed(error)
        sys.exit(1)


def main() -> None:
    """The program ``sk-bus``."""
    instance = paths.instance()
    process = Process("bus", instance)
    process.begin()
    with _failures_pause(process):
        journal, hello = opened(instance, process)
        Broker(instance, process, journal, hello).run()
