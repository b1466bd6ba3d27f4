"""The router's clock: says ``timer:fired`` once a deadline of the state has passed.

It decides nothing about what a deadline means; one that was overtaken is ignored by the decider.
Its position at the bus is a count.
"""

import asyncio
import time
from collections.abc import Mapping

from sk_bus.contract import Producer
from sk_bus.internal import TimerFired


class Clock:
    """Watches the deadlines (mono, in milliseconds) that the state holds."""

    def __init__(self, producer: Producer, deadlines: Mapping[str, int]) -> None:
        self._producer = producer
        self._deadlines = deadlines
        self._said: dict[str, int] = {}
        self._moved = asyncio.Event()
        self._count = producer.position if isinstance(producer.position, int) else 0

    def look(self) -> None:
        """The deadlines may have changed."""
        self._moved.set()

    async def run(self) -> None:
        while True:
            self._moved.clear()
            self._said = {
                name: deadline
                for name, deadline in self._said.items()
                if self._deadlines.get(name) == deadline
            }
            now = time.monotonic_ns() // 1_000_000
            ahead = [one for one in self._deadlines.items() if self._said.get(one[0]) != one[1]]
            for name, deadline in ahead:
                if deadline <= now:
                    self._said[name] = deadline
                    self._count += 1
                    self._producer.put([TimerFired(id=name)], self._count)
            left = [deadline - now for _, deadline in ahead if deadline > now]
            try:
                async with asyncio.timeout(min(left) / 1000 if left else None):
                    await self._moved.wait()
            except TimeoutError:
                continue
