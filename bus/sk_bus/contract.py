"""What a bus offers, whichever way it is made: over ZeroMQ, or in memory for unit tests.

Both pass the same contract tests. A service sees nothing of the bus but this.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Protocol

from sk_bus.commands import AnyCommand
from sk_bus.events import CommandResult
from sk_bus.model import Cursor
from sk_bus.queries import AnyQuery
from sk_bus.vocabulary import Event
from sk_bus.wire import Batch, Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """What the bus says of itself.

    ``head`` is the last seq given out, ``floor`` the first one still in the journal.
    ``directory`` is the data directory in use, ``config`` the configuration file it belongs to.
    ``open`` is false in a new epoch until ``history:restored`` stands in it; commands wait so long.
    A service whose (directory, epoch) differs from the one it began with ends, to begin anew.
    """

    epoch: int
    head: int
    floor: int
    directory: str
    config: str
    open: bool
    historyProblem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A service's word on itself, once a second: it lives, and how far it has come.

    ``cursor`` is the last seq it has done with for good: what it says here may be pruned, unless
    ``floor`` is set, the lowest seq it still needs. ``position`` is that of its producer.
    ``heard`` is stamped by the bus: when it heard this, in milliseconds of CLOCK_MONOTONIC.
    ``mono`` is CLOCK_MONOTONIC in milliseconds when it was made: a heartbeat repeats the last
    report of a service that hangs, and only this tells.
    """

    service: str
    pid: int
    epoch: int
    cursor: int
    floor: int | None = None
    position: Position = None
    state: str = "running"
    mono: int = 0
    details: dict[str, Any] = field(default_factory=dict)
    heard: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """The bus's word: the head, and every service's last report by name."""

    epoch: int
    head: int
    reports: dict[str, Report] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resync:
    """The follower's cursor is of another epoch, or below the floor: it begins anew at ``head``.

    It comes in place of batches; what follows it is ``head + 1``.
    """

    epoch: int
    head: int
    floor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a command ended, and the seq of its result: give it to a query as ``after``."""

    result: CommandResult
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A query's value (of the query's ``returns``), and the seq up to which its owner has read."""

    value: Any
    asOf: Cursor


Follow = AsyncGenerator[Batch | Heartbeat | Resync, None]
Beats = AsyncGenerator[Heartbeat, None]


class Producer(Protocol):
    """Publishes under one name, in order, each event once, however often anything is killed."""

    @property
    def position(self) -> Position:
        """The last position that the bus has confirmed."""

    def put(self, events: list[Event], position: Position) -> None:
        """Queue events and the position after them. What waits goes as one batch.

        Without events only the position moves (an empty batch).

        Raises:
            TooLargeError: the bus takes no request of that size. Nothing was queued.
        """

    async def drained(self) -> None:
        """Wait until everything put so far is confirmed."""

    async def run(self) -> None:
        """Send what is put, for ever. Run it in the service's TaskGroup.

        Raises:
            SupersededError: another process published under this name.
        """


class Bus(Protocol):
    """The bus as its clients see it. A call waits for a bus that is down, up to its deadline.

    ``holes`` counts how often a follower was not sent something, and read it from the journal.
    """

    holes: int

    async def hello(self, *, timeout: float = 30.0) -> Hello:
        """What the bus says of itself."""

    async def producer(self, name: str) -> Producer:
        """A producer that goes on from the position the bus keeps under ``name``."""

    def follow(self, after: Cursor, *, heartbeats: bool = False) -> Follow:
        """Every batch after ``after``, in order, without a hole, for ever.

        An ``after`` of epoch 0 begins with a Resync at the head of now, that of seq 0 in the
        present epoch at the floor. Empty batches come as they pass and may be missed.
        ``heartbeats`` also yields the bus's heartbeats.
        """

    def beats(self) -> Beats:
        """The bus's heartbeats alone, for ever, from the next one on.

        For those whom the log is no concern of: it doesn't wake them.
        """

    async def command(self, command: AnyCommand, *, timeout: float = 60.0) -> Outcome:
        """Append a command and wait for its result; sending it again is harmless.

        Raises:
            RefusedError: its id was used with other content, or it is malformed.
            UnreachableError: no result before the deadline; the command may yet be done.
        """

    async def query(self, query: AnyQuery, *, after: int = 0, timeout: float = 10.0) -> Answer:
        """Ask the service that owns the answer; it answers when it has read up to ``after``.

        Raises:
            RefusedError: the service says no, and why.
            UnreachableError: nobody answered before the deadline.
        """

    async def report(self, report: Report, *, timeout: float = 5.0) -> Hello:
        """Say how far one has come; what comes back is the bus's hello of now."""

    async def prune(self, *, timeout: float = 120.0) -> int:
        """Drop from the journal all that nobody needs, and compact it; the new floor."""

    async def close(self) -> None:
        """Let go of the sockets."""
