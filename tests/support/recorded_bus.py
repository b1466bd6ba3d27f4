"""A bus whose answers were recorded: what the command line makes of them is all that can differ."""

from collections.abc import AsyncIterator, Callable, Sequence
from types import TracebackType
from typing import Any, Self

from sk_bus.commands import AnyCommand
from sk_bus.contract import Answer, Heartbeat, Hello, Outcome, Resync
from sk_bus.errors import RefusedError
from sk_bus.events import CommandResult
from sk_bus.model import Cursor, Problem
from sk_bus.queries import AnyQuery
from sk_bus.vocabulary import Event, encoded, kind_of
from sk_bus.wire import Batch, body_of, packed

Values = dict[type, Any]
Outcomes = dict[type, Any]


def batch(epoch: int, first: int, ts: int, *events: Event) -> Batch:
    """A batch as the bus would send it."""
    kinds = kind_of(events[0])
    for event in events[1:]:
        kinds |= kind_of(event)
    body = body_of(ts, 0, "router", None, packed([encoded(event) for event in events]))
    return Batch(epoch, first, len(events), kinds, body)


class RecordedBus:
    """Answers queries and commands from tables by their kind; a function there is called.

    A :class:`Problem` in a table is a refusal. ``asked`` keeps the commands, ``after`` the places
    in the log that queries named, by their kind.
    """

    def __init__(
        self,
        *,
        hello: Hello,
        beat: Heartbeat,
        values: Values,
        outcomes: Outcomes,
        batches: Sequence[Batch] = (),
    ) -> None:
        self._hello = hello
        self._beat = beat
        self._values = values
        self._outcomes = outcomes
        self._batches = batches
        self.asked: list[AnyCommand] = []
        self.after: dict[type, int] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return

    async def hello(self, *, timeout: float = 0) -> Hello:
        return self._hello

    async def beats(self) -> AsyncIterator[Heartbeat]:
        while True:
            yield self._beat

    async def follow(
        self, after: Cursor, *, heartbeats: bool = False
    ) -> AsyncIterator[Batch | Heartbeat | Resync]:
        for one in self._batches:
            if one.last > after.seq:
                yield one
        raise AssertionError("the call goes on although all was said")

    async def command(self, command: AnyCommand, *, timeout: float = 0) -> Outcome:
        self.asked.append(command)
        made = self._outcomes.get(type(command))
        value = made(command) if isinstance(made, Callable) else made
        problem = value if isinstance(value, Problem) else None
        result = CommandResult(
            id=command.id,
            ok=problem is None,
            value=None if problem else value,
            problem=problem,
        )
        return Outcome(result=result, seq=self._hello.head)

    async def query(self, query: AnyQuery, *, after: int = 0, timeout: float = 0) -> Answer:
        self.after[type(query)] = after
        made = self._values[type(query)]
        value = made(query) if isinstance(made, Callable) else made
        if isinstance(value, Problem):
            raise RefusedError(value)
        return Answer(value=value, asOf=Cursor(epoch=self._hello.epoch, seq=self._hello.head))
