"""A query that comes while a service starts is answered, late and not wrong."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sk_bus.errors import SidekicksError
from sk_bus.memory import MemoryBus
from sk_bus.paths import Instance
from sk_bus.queries import ListChannels
from sk_bus.service import Service
from tests.support.patience import PATIENCE

QUESTION = ["ListChannels", {}, 0]


def history(directory: Path) -> Service:
    bus = MemoryBus(directory=directory)
    instance = Instance(name="test", state=directory, run=directory)
    return Service("history", instance, bus.client(), bus.hello)


async def channels(_query: ListChannels) -> Any:
    return ()


def test_a_query_waits_for_its_handler(tmp_path: Path) -> None:
    async def asked_first() -> None:
        service = history(tmp_path)
        asked = asyncio.ensure_future(service.answered("query", QUESTION))
        await asyncio.sleep(0)
        assert not asked.done()
        service.answers(ListChannels, channels)
        async with asyncio.timeout(PATIENCE):
            assert (await asked)[0] == []

    asyncio.run(asked_first())


def test_a_query_of_another_service_is_refused_at_once(tmp_path: Path) -> None:
    async def asked() -> None:
        service = history(tmp_path)
        with pytest.raises(SidekicksError, match="sk-history answers no query ListAgents"):
            await service.answered("query", ["ListAgents", {}, 0])

    asyncio.run(asked())
