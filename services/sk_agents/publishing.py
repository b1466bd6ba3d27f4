"""What goes from the executor to the bus: events, and with each batch the ledger's position.

One place, so that what is told of an agent and the record that it was told can't part.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from sk_agents.credit import Credit
from sk_agents.ledger import Ledger
from sk_bus.contract import Producer
from sk_bus.events import AgentLog
from sk_bus.internal import FactExited, FactFrame, FactUp
from sk_bus.model import AgentName
from sk_bus.vocabulary import Event


class Publisher:
    """The producer ``agents``, its ledger, and every agent's credit."""

    def __init__(self, producer: Producer, ledger: Ledger, credit: Credit) -> None:
        self._producer = producer
        self._put: Any = producer.position
        self._freed = asyncio.Event()
        self.ledger = ledger
        self.credit = credit

    def up(self, agent: AgentName, inc: int, pid: int) -> None:
        self.ledger.began(agent, inc)
        self.credit.other()
        self._send([FactUp(agent=agent, inc=inc, pid=pid)])

    def output(
        self, agent: AgentName, inc: int, events: list[tuple[FactFrame | AgentLog, int]], end: int
    ) -> None:
        """Lines of stdout, each with its size in bytes; ``end`` is the offset after the last."""
        self.ledger.told(agent, inc, out=end)
        for event, size in events:
            if isinstance(event, FactFrame):
                self.credit.spend(agent, size)
            else:
                self.credit.other()
        self._send([event for event, _ in events])

    def errors(self, agent: AgentName, inc: int, events: list[AgentLog], end: int) -> None:
        """Lines of stderr, as far as they are told; ``end`` as above."""
        self.ledger.told(agent, inc, err=end)
        for _ in events:
            self.credit.other()
        if events:
            self._send(list(events))

    def took(self, agent: AgentName, inc: int, n: int) -> None:
        self.ledger.told(agent, inc, taken=n)
        self.moved()

    def exited(self, event: FactExited) -> None:
        self.ledger.ended(event.agent, event.inc)
        self.credit.other()
        self._send([event])

    def closed(self, seq: int) -> None:
        """The order at ``seq`` is carried out."""
        self.ledger.closed(seq)

    def moved(self) -> None:
        """Let the bus know a position that moved without an event."""
        position = self.ledger.position()
        if position != self._put:
            self._send([])

    async def confirmed(self) -> None:
        """Wait until the bus has everything published so far."""
        await self._producer.drained()

    def acknowledged(self, agent: AgentName, inc: int) -> tuple[int, int]:
        """Offsets of this life's stdout and stderr up to which the bus has everything."""
        position = self._producer.position
        life = position["agents"].get(agent) if isinstance(position, dict) else None
        return (life[1], life[2]) if life is not None and life[0] == inc else (0, 0)

    def confirmed_cursor(self) -> int:
        """The cursor that the bus has of us."""
        position = self._producer.position
        return int(position["cursor"]) if isinstance(position, dict) else 0

    async def credited(self, agent: AgentName, size: int) -> None:
        """Wait until ``agent`` may publish another frame of ``size`` bytes."""
        await self._until(lambda: self.credit.allows(agent, size))

    def decided(self, seq: int) -> None:
        """The router has decided on everything up to ``seq``."""
        self.credit.decide(seq)
        self._freed.set()

    def caught_up(self) -> None:
        """What a former one of us published is known."""
        self.credit.caught_up()
        self._freed.set()

    async def _until(self, true: Callable[[], bool]) -> None:
        while not true():
            self._freed.clear()
            await self._freed.wait()

    def _send(self, events: list[Event]) -> None:
        self._put = self.ledger.position()
        self._producer.put(events, self._put)
