"""How long a browser's command may take."""

import asyncio
import json
from pathlib import Path
from typing import Any

from sk_bus.contract import Cursor, Outcome
from sk_bus.events import CommandResult
from sk_bus.memory import MemoryBus
from sk_bus.supervisor import Supervisor
from sk_cli.commands import agents
from sk_gateway.calls import call_of
from sk_gateway.desk import Desk
from sk_gateway.hub import Hub

PREPARE = {"id": 7, "name": "Prepare", "args": {"channel": "c1"}, "command": "u-1"}


class WaitingBus:
    """It notes how long it may take."""

    waited = 0.0

    async def command(self, command: Any, *, timeout: float) -> Outcome:
        self.waited = timeout
        return Outcome(result=CommandResult(id=command.id, ok=True), seq=1)


def test_the_page_waits_for_a_start_as_long_as_the_command_line() -> None:
    async def waited() -> float:
        client = MemoryBus(directory=Path("/nowhere")).client()
        start = Cursor(epoch=1, seq=0)
        hub = Hub(client, start, moved=lambda _: None, heard=lambda _: None)
        bus: Any = WaitingBus()
        desk = Desk(bus, Supervisor(Path("/nowhere/s.sock")), hub)
        frame = json.loads(await desk.done(call_of(PREPARE), since=0))
        assert frame["ok"]
        return bus.waited

    assert asyncio.run(waited()) == agents._TIMEOUT
