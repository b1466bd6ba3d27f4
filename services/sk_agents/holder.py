"""The holder's loop: bytes in, bytes out, between one agent's pipes and whoever manages it.

It drains the agent whether anybody listens or not, keeps what it said on disk, and runs the ladder.
It never parses a line, so it never needs an upgrade that would restart an agent. Standard library
only, one thread, nothing that blocks.
"""

# pathlib would cost each holder another megabyte.
# ruff: noqa: PTH104

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import time

from sk_agents import frames, ladder, offspring

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

    from sk_agents.spool import Spool

CHUNK = 32 * 1024
# Enough to keep the manager busy, little enough that TOOK and EXIT don't wait behind it.
OUTGOING = 3 * CHUNK
# How long one who only hands over what is left waits for somebody to take it.
GRACE = 30.0
RETRY_DISK = 1.0
MOST_PEERS = 8


class Peer:
    """One connection of a manager, and how far it has been served."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.frames = frames.Frames()
        self.outgoing = bytearray()
        self.out_at = self.out_limit = 0
        self.err_at = self.err_limit = 0
        self.exit_sent = False


class Pipe:
    """One of the agent's output pipes, and its spool."""

    def __init__(self, fd: int, spool: Spool) -> None:
        self.fd = fd
        self.spool = spool
        self.unwritten = b""
        self.retry_at = 0.0

    @property
    def readable(self) -> bool:
        return self.fd >= 0 and not self.unwritten and not self.spool.full

    def read(self, now: float) -> int:
        """Move what is there to the spool: how many bytes, -1 for none yet, 0 at the end."""
        try:
            data = os.read(self.fd, CHUNK)
        except BlockingIOError:
            return -1
        if not data:
            os.close(self.fd)
            self.fd = -1
            return 0
        self._write(data, now)
        return len(data)

    def retry(self, now: float) -> None:
        if self.unwritten and now >= self.retry_at:
            self._write(self.unwritten, now)

    def _write(self, data: bytes, now: float) -> None:
        try:
            done = self.spool.append(data)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE):
                raise
            done = 0
        # A full disk stops the reading, and so at last the agent, until there is room again.
        self.unwritten = data[done:]
        self.retry_at = now + RETRY_DISK


class Holder:
    """Holds one agent, or what is left of one (``exit_record`` given, no ``child``)."""

    def __init__(
        self,
        *,
        folder: str,
        inc: int,
        listener: socket.socket,
        out: Spool,
        err: Spool,
        taken: int = 0,
        pid: int = 0,
        child: offspring.Waiting | None = None,
        exit_record: bytes | None = None,
        end: ladder.Ladder,
        patience: ladder.Patience,
    ) -> None:
        self._folder = folder
        self._inc = inc
        self._listener = listener
        self._ladder = end
        self._patience = patience
        self._out = Pipe(child.stdout if child else -1, out)
        self._err = Pipe(child.stderr if child else -1, err)
        self._stdin = child.stdin if child else -1
        self._pid = child.pid if child else pid
        self._leader_runs = child is not None
        self._status: int | None = None
        self._taken = taken
        self._taken_file = os.open(
            f"{folder}/taken", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        self._pending = 0
        self._line = memoryview(b"")
        self._unattended = False
        self._exit = exit_record
        self._grace = time.monotonic() + GRACE if exit_record is not None else 0.0
        self._done = False
        self._peers: dict[int, Peer] = {}
        self._attached: Peer | None = None
        self._poll = select.poll()
        self._interests: dict[int, int] = {}
        self._wake, wake_writer = os.pipe()
        for fd in (self._wake, wake_writer, self._stdin, self._out.fd, self._err.fd):
            if fd >= 0:
                os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._ladder.stop(time.monotonic()))
        listener.settimeout(0)

    def run(self) -> None:
        """Hold until the agent is over and its end handed on, or nobody is there to take it."""
        self._reap(time.monotonic())  # it may have ended before we listened for SIGCHLD
        while True:
            now = time.monotonic()
            self._tend(now)
            self._serve()
            if self._exit is not None and (self._done or (not self._peers and now >= self._grace)):
                return
            for fd, events in self._wait(now):
                self._on(fd, events, time.monotonic())

    # --- the agent --------------------------------------------------------------------------

    def _tend(self, now: float) -> None:
        """What the clock asks for."""
        if self._exit is not None:
            return
        for pipe in (self._out, self._err):
            pipe.retry(now)
        deadline = self._patience.deadline()
        if deadline is not None and now >= deadline and not self._ladder.stopping:
            self._unattended = True
            self._ladder.stop(now)
        for action in self._ladder.due(now):
            match action:
                case ladder.CLOSE_STDIN:
                    self._close_stdin()
                case ladder.TERM:
                    self._close_stdin()
                    self._signal(signal.SIGTERM)
                case ladder.KILL:
                    self._signal(signal.SIGKILL)
        if self._ladder.over:
            self._finish(now)

    def _signal(self, number: int) -> None:
        # While the agent itself isn't reaped its group can't come to name anything else.
        if self._leader_runs:
            offspring.send_group(number, self._pid)
        offspring.send(
            number,
            [
                one.pid
                for one in offspring.descendants(os.getpid())
                if not (self._leader_runs and one.group == self._pid)
            ],
        )

    def _reap(self, now: float) -> None:
        while self._exit is None:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                # As their subreaper we are above everything that the agent started: no child, and
                # nothing of it is left.
                self._ladder.emptied(now)
                return
            if pid == 0:
                return
            if pid == self._pid:
                self._leader_runs = False
                self._status = status
                self._ladder.ended(now)

    def _finish(self, now: float) -> None:
        """The last bytes, whatever the cap says, and the record of the end."""
        for pipe in (self._out, self._err):
            while pipe.fd >= 0 and not pipe.unwritten and pipe.read(now) > 0:
                pass
            if pipe.unwritten:
                return  # a full disk: later
        for pipe in (self._out, self._err):
            if pipe.fd >= 0:
                self._forget(pipe.fd)
                os.close(pipe.fd)
                pipe.fd = -1
        status = self._status or 0
        fields: dict[str, int | str] = {
            "out": self._out.spool.head,
            "err": self._err.spool.head,
            "taken": self._taken,
            "asked": int(self._ladder.asked and not self._unattended),
            "unattended": int(self._unattended),
            "broken": int(self._ladder.broken and not self._ladder.asked),
        }
        if os.WIFSIGNALED(status):
            fields["signal"] = os.WTERMSIG(status)
        else:
            fields["code"] = os.WEXITSTATUS(status)
        self._exit = frames.record(fields)
        keep(f"{self._folder}/exit", self._exit)

    def _close_stdin(self) -> None:
        if self._stdin >= 0:
            self._forget(self._stdin)
            os.close(self._stdin)
            self._stdin = -1
        self._pending = 0
        self._line = memoryview(b"")

    def _feed(self, now: float) -> None:
        """Write what stdin takes of the pending line."""
        try:
            while self._line:
                self._line = self._line[os.write(self._stdin, self._line) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._close_stdin()
            self._ladder.broke(now)
            return
        self._taken, self._pending = self._pending, 0
        os.pwrite(self._taken_file, b"%020d" % self._taken, 0)
        if self._attached is not None:
            self._attached.outgoing += frames.one(frames.TOOK, self._taken)

    # --- the managers -----------------------------------------------------------------------

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            connection, _ = self._listener.accept()
            connection.settimeout(0)
            if len(self._peers) >= MOST_PEERS:
                oldest = next(one for one in self._peers.values() if one is not self._attached)
                self._drop(oldest, time.monotonic())
            peer = Peer(connection)
            self._peers[connection.fileno()] = peer
            out, err = self._out.spool, self._err.spool
            peer.outgoing += frames.hello(
                frames.Hello(
                    inc=self._inc,
                    pid=self._pid,
                    taken=self._taken,
                    pending=self._pending,
                    out_floor=out.floor,
                    out_head=out.head,
                    err_floor=err.floor,
                    err_head=err.head,
                )
            )

    def _drop(self, peer: Peer, now: float) -> None:
        fd = peer.connection.fileno()
        self._forget(fd)
        del self._peers[fd]
        peer.connection.close()
        if peer is self._attached:
            self._attached = None
            self._patience.lost(now)

    def _hear(self, peer: Peer, now: float) -> None:
        try:
            data = peer.connection.recv(CHUNK)
            if not data:
                raise ConnectionResetError
            for kind, payload in peer.frames.feed(data):
                if peer.connection.fileno() in self._peers:
                    self._obey(peer, kind, payload, now)
        except BlockingIOError:
            return
        except (ConnectionError, frames.FrameError):
            # What it had begun to say is discarded with it: half a line is no line.
            self._drop(peer, now)

    def _obey(self, peer: Peer, kind: int, payload: bytes, now: float) -> None:
        if kind == frames.ATTACH:
            if self._attached is not None and self._attached is not peer:
                self._drop(self._attached, now)
            self._attached = peer
            self._patience.attached()
            peer.out_at, peer.err_at = frames.two_from(payload)
            return
        if peer is not self._attached:
            raise frames.FrameError("orders of one who has not attached")
        match kind:
            case frames.WANT:
                peer.out_limit, peer.err_limit = frames.two_from(payload)
            case frames.ACK:
                out, err = frames.two_from(payload)
                self._out.spool.release(out)
                self._err.spool.release(err)
                self._renew()
            case frames.IN:
                self._take(peer, *frames.one_from(payload), now=now)
            case frames.TURN:
                self._patience.turn(is_open=payload == b"\x01")
                self._renew()
                peer.outgoing += frames.frame(frames.NOTED, bytes((frames.TURN,)))
            case frames.STOP:
                self._ladder.stop(now)
                peer.outgoing += frames.frame(frames.NOTED, bytes((frames.STOP,)))
            case frames.DONE:
                self._done = self._exit is not None
            case _:
                raise frames.FrameError(f"an order of unknown kind {kind}")

    def _renew(self) -> None:
        """Between turns, keep nothing of what was said: its channel may be deleted."""
        if not self._patience.turn_open:
            self._out.spool.renew()

    def _take(self, peer: Peer, n: int, line: bytes, *, now: float) -> None:
        if n != self._taken + 1 or self._pending:
            peer.outgoing += frames.two(frames.REFUSED, n, self._taken + 1)
            return
        if self._stdin < 0:
            return  # its end is under way and will be told, with the last line that it took
        self._pending = n
        self._line = memoryview(line)
        self._feed(now)

    def _serve(self) -> None:
        """Give the attached manager what it wants, and send to each what the socket takes."""
        peer = self._attached
        if peer is not None:
            while len(peer.outgoing) < OUTGOING:
                data = self._out.spool.read(peer.out_at, min(CHUNK, peer.out_limit - peer.out_at))
                if not data:
                    break
                start = max(peer.out_at, self._out.spool.floor)
                peer.outgoing += frames.one(frames.OUT, start, data)
                peer.out_at = start + len(data)
            while len(peer.outgoing) < 2 * OUTGOING:
                data = self._err.spool.read(peer.err_at, min(CHUNK, peer.err_limit - peer.err_at))
                if not data:
                    break
                start = max(peer.err_at, self._err.spool.floor)
                peer.outgoing += frames.one(frames.ERR, start, data)
                peer.err_at = start + len(data)
            if (
                self._exit is not None
                and not peer.exit_sent
                and peer.out_at >= self._out.spool.head
                and peer.err_at >= self._err.spool.head
            ):
                peer.exit_sent = True
                peer.outgoing += frames.frame(frames.EXIT, self._exit)
        for one in list(self._peers.values()):
            self._send(one)

    def _send(self, peer: Peer) -> None:
        try:
            while peer.outgoing:
                sent = peer.connection.send(peer.outgoing)
                del peer.outgoing[:sent]
        except BlockingIOError:
            return
        except ConnectionError:
            self._drop(peer, time.monotonic())

    # --- the loop ---------------------------------------------------------------------------

    def _wait(self, now: float) -> list[tuple[int, int]]:
        wanted = {self._wake: select.POLLIN, self._listener.fileno(): select.POLLIN}
        for pipe in (self._out, self._err):
            if pipe.readable:
                wanted[pipe.fd] = select.POLLIN
        if self._stdin >= 0 and self._line:
            wanted[self._stdin] = select.POLLOUT
        for fd, peer in self._peers.items():
            wanted[fd] = select.POLLIN | (select.POLLOUT if peer.outgoing else 0)
        for fd in [fd for fd in self._interests if fd not in wanted]:
            self._forget(fd)
        for fd, events in wanted.items():
            if self._interests.get(fd) != events:
                self._poll.register(fd, events)
                self._interests[fd] = events
        deadlines = [at for at in (self._ladder.deadline(), self._patience.deadline()) if at]
        deadlines += [pipe.retry_at for pipe in (self._out, self._err) if pipe.unwritten]
        if self._exit is not None:
            deadlines = [] if self._peers else [self._grace]
        wait = max(0.0, min(deadlines) - now) if deadlines else None
        if self._served_short():
            wait = 0.0
        return self._poll.poll(None if wait is None else int(wait * 1000) + 1)

    def _served_short(self) -> bool:
        """Whether more could be sent at once: what the socket took made room."""
        peer = self._attached
        return (
            peer is not None
            and not peer.outgoing
            and (
                peer.out_at < min(self._out.spool.head, peer.out_limit)
                or peer.err_at < min(self._err.spool.head, peer.err_limit)
            )
        )

    def _forget(self, fd: int) -> None:
        if self._interests.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def _on(self, fd: int, events: int, now: float) -> None:
        if fd == self._wake:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 4096)
            self._reap(now)
        elif fd == self._listener.fileno():
            self._accept()
        elif fd in (self._out.fd, self._err.fd):
            self._drain(self._out if fd == self._out.fd else self._err, now)
        elif fd == self._stdin:
            if events & select.POLLERR:
                self._close_stdin()
                self._ladder.broke(now)
            else:
                self._feed(now)
        elif fd in self._peers:
            peer = self._peers[fd]
            if events & (select.POLLIN | select.POLLHUP | select.POLLERR):
                self._hear(peer, now)

    def _drain(self, pipe: Pipe, now: float) -> None:
        fd = pipe.fd
        self._patience.heard(now)
        if pipe.read(now) == 0:
            self._forget(fd)
            if pipe is self._out:
                self._ladder.drained(now)


def keep(path: str, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    fd = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)
    os.rename(f"{path}.new", path)
