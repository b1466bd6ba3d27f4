"""What a person hears of a command that has no outcome in time."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sk_bus.client import BusClient
from sk_bus.codec import plain
from sk_bus.commands import Direct
from sk_bus.contract import Hello
from sk_bus.errors import UnreachableError, problem
from sk_bus.link import Sink
from sk_bus.model import AgentName, CommandId

HELLO = Hello(epoch=1, head=1, floor=1, directory="/d", config="/c", open=True)


class DeafLink:
    """Nothing comes of a command; ``answers`` says whether there is a bus at all."""

    def __init__(self, why: str, *, answers: bool) -> None:
        self._why = why
        self._answers = answers

    async def ask(self, to: str, verb: str, argument: Any, *, timeout: float | None) -> Any:
        if verb == "hello" and self._answers:
            return plain(HELLO)
        raise UnreachableError(problem(self._why, "sk-bus did not answer"))

    def subscribe(self, sink: Sink, *, beats: bool = False) -> Callable[[], None]:
        raise NotImplementedError

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("why", "answers", "said"),
    [
        ("unreachable", False, "unreachable"),
        ("unreachable", True, "command-late"),
        ("closed", True, "closed"),
    ],
    ids=["no bus", "the bus is there, and the outcome is late", "the connection was closed"],
)
def test_a_bus_that_is_there_is_not_blamed_for_an_outcome_that_is_late(
    why: str, answers: bool, said: str
) -> None:
    bus = BusClient(DeafLink(why, answers=answers))
    with pytest.raises(UnreachableError) as caught:
        asyncio.run(bus.command(Direct(id=CommandId("k"), agent=AgentName("a")), timeout=60))
    assert caught.value.problem.id == said
