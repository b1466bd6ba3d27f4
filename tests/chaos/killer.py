"""Kills processes of the instance at moments that a seed decides; never an agent or its holder."""

import asyncio
import os
import random
import signal
import time

from sk_bus.supervisor import SupervisorError
from tests.chaos.evidence import Evidence, Kill
from tests.support.instance import TestInstance

SERVICES = ("bus", "config", "agents", "router", "history", "gateway")
SUPERVISOR = ("supervisord",)


class Killer:
    """First each target once, in an order of the seed's; then whatever comes up."""

    def __init__(self, instance: TestInstance, evidence: Evidence, seed: int) -> None:
        self._instance = instance
        self._evidence = evidence
        self._choose = random.Random(f"killer {seed}")
        self._first: list[tuple[str, ...]] = [
            *((name,) for name in SERVICES),
            SERVICES,
            SUPERVISOR,
            *(self._several() for _ in range(2)),
        ]
        self._choose.shuffle(self._first)

    async def run(self, until: float) -> None:
        """Kill until that moment of the monotonic clock; everything is up when it returns."""
        while time.monotonic() < until:
            await asyncio.sleep(self._choose.uniform(0.1, 1.2))
            await self._kill(self._first.pop() if self._first else self._next())

    def _next(self) -> tuple[str, ...]:
        die = self._choose.random()
        if die < 0.70:
            return (self._choose.choice(SERVICES),)
        if die < 0.85:
            return self._several()
        return SERVICES if die < 0.94 else SUPERVISOR

    def _several(self) -> tuple[str, ...]:
        return tuple(self._choose.sample(SERVICES, self._choose.randint(2, 4)))

    async def _kill(self, targets: tuple[str, ...]) -> None:
        try:
            pids = await asyncio.to_thread(self._instance.pids)
        except (SupervisorError, OSError):
            return  # it is on its way; another time
        began = time.monotonic()
        for target in targets:
            if pids.get(target):
                _end(pids[target])
        if targets == SUPERVISOR:
            await asyncio.to_thread(self._instance.up)
        until = time.monotonic()
        self._evidence.kills.append(Kill(targets, began, until))


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it had ended by itself a moment ago
