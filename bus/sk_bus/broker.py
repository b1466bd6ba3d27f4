"""``sk-bus``: numbers, journals and publishes. The sequencer decides, this performs.

One thread, two sockets: requests come in on a ROUTER, everything that was accepted goes out on a
PUB. What is accepted is appended to the journal, then published, then acknowledged. It knows
nothing of what the events mean.
"""

import contextlib
import os
import shutil
import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zmq

from sk_bus import paths
from sk_bus.codec import plain
from sk_bus.contract import Hello, Report
from sk_bus.errors import MalformedError, problem
from sk_bus.failpoints import disabled, failpoint
from sk_bus.journal import Journal, JournalError
from sk_bus.process import Process, take
from sk_bus.retention import CAP, KEEP, needed
from sk_bus.sequencer import (
    Commit,
    Instruction,
    Now,
    Prune,
    Read,
    Refuse,
    Reply,
    Sequencer,
    replayed,
)
from sk_bus.tuning import tuned
from sk_bus.wire import answer, heartbeat, refusal, request_from, salvaged

_BEAT = 0.2
_IDLE_BEAT = 1.0
_BUSY_FOR = 2.0  # the faster beat goes on so long after the last batch
_SYNC = 1.0
_PRUNE = 5.0
_MOST_AT_ONCE = 256
_LARGEST_REQUEST = 64 * 2**20
_LARGEST_REPLAY = 4 * 2**20
_HIGH_WATER = 2000
# What RocksDB says of files that are wrong or gone, not of a disk that is full or a lock.
_DAMAGED = ("Corruption", "No such file", "Not implemented", "Invalid argument")


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
        self._head.write(hello.epoch, hello.head, hello.directory)
        self._pointer = _pointed(instance)
        self._malformed = 0
        self._dirty = False
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
        self._requests = context.socket(zmq.ROUTER)
        self._requests.setsockopt(zmq.LINGER, 0)
        self._requests.setsockopt(zmq.MAXMSGSIZE, _LARGEST_REQUEST)
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
                beat = now + (_BEAT if now < busy_until else _IDLE_BEAT)
                if self._process.orphaned():
                    self._log.info("whoever started the bus is gone")
                    return
                if _pointed(self._instance) != self._pointer:
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
                self._perform(instruction)

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


class HeadFile:
    """How far the log had come in this boot: it exposes a journal that went back in time.

    It lies in the run directory, which a reboot empties; a machine whose doesn't is told by the
    boot's id.
    """

    _FORMAT = struct.Struct(">16sQQ")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._boot = boot_id()

    def read(self) -> tuple[int, int, str] | None:
        """(epoch, head, data directory); ``None`` after a reboot, or when there is none."""
        try:
            data = self._path.read_bytes()
            boot, epoch, head = self._FORMAT.unpack(data[: self._FORMAT.size])
        except (OSError, struct.error):
            return None
        if boot != self._boot:
            return None
        return epoch, head, os.fsdecode(data[self._FORMAT.size :])

    def write(self, epoch: int, head: int, directory: str | None = None) -> None:
        """Note the head; ``directory`` with the first time."""
        data = self._FORMAT.pack(self._boot, epoch, head)
        if self._descriptor < 0:
            assert directory is not None
            draft = self._path.with_suffix(".draft")
            self._descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            os.write(self._descriptor, data + os.fsencode(directory))
            draft.replace(self._path)
        else:
            os.pwrite(self._descriptor, data, 0)


def boot_id() -> bytes:
    """16 bytes that differ from boot to boot."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text()
        return bytes.fromhex(text.strip().replace("-", ""))
    except OSError:  # macOS: when it booted, to the minute, for the clock is set now and then
        booted = int(time.time() - time.monotonic()) // 60
        return booted.to_bytes(16, "big")


def _pointed(instance: paths.Instance) -> str:
    try:
        named = instance.pointer.read_text().strip()
    except OSError:
        named = ""
    return paths.identity(Path(named) if named else paths.default_config())


def opened(instance: paths.Instance, process: Process) -> tuple[Journal, Hello]:
    """Open the journal that is to be used, in a new epoch where the old one can't go on.

    Raises:
        JournalError: it can't be opened now; later it may.
    """
    config = _pointed(instance)
    before = HeadFile(instance.head).read()
    wanted = paths.data_directory(Path(config))
    fallback = instance.run / "data"
    journal: Journal | None = None
    trouble: str | None = None
    directory = wanted
    if before is not None and before[2] == str(fallback) and _fallback_of(fallback) == config:
        directory, trouble = fallback, (fallback / "reason").read_text()
        journal = _journal_in(directory, process)
    else:
        try:
            journal = _journal_in(directory, process)
        except (JournalError, OSError, paths.PathsError) as error:
            if before is not None and before[2] == str(wanted):
                raise JournalError(str(error)) from error  # it worked before, and will again
            trouble = f"the history in {wanted} can't be used: {error}"
            process.log.warning("%s; it lives in memory until the end", trouble)
            directory = fallback
            _clear(directory)
            journal = _journal_in(directory, process)
            (directory / "config").write_text(config)
            (directory / "reason").write_text(trouble)
    goes_on = (
        before is not None
        and before[2] == str(directory)
        and journal.epoch == before[0]
        and journal.head >= before[1]
    )
    if not goes_on:
        high = max(journal.head, before[1] if before else 0)
        journal.begin(max(high + 1, time.time_ns() // 1000))
        process.log.info("began epoch %d in %s", journal.epoch, directory)
    hello = Hello(
        epoch=journal.epoch,
        head=journal.head,
        floor=journal.floor,
        directory=str(directory),
        config=config,
        open=journal.open,
        historyProblem=trouble,
    )
    return journal, hello


def _fallback_of(fallback: Path) -> str | None:
    """The configuration file whose history is kept in memory."""
    try:
        return (fallback / "config").read_text()
    except OSError:
        return None


def _clear(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)


def _journal_in(directory: Path, process: Process) -> Journal:
    paths.private(directory)
    if take(directory / "bus.lock") is None:
        raise JournalError("another Sidekicks uses it")
    try:
        return Journal(directory / "journal")
    except JournalError as error:
        if not any(sign in str(error) for sign in _DAMAGED):
            raise
        # The history is elsewhere and whole; what the journal held is said anew from it.
        aside = directory / "journal.damaged"
        process.log.error("the journal is damaged, set aside as %s: %s", aside, error)  # noqa: TRY400
        _clear(aside)
        (directory / "journal").replace(aside)
        return Journal(directory / "journal")


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
