"""The yardstick for sustained deltas: the official SDK's client alone, with nothing behind it.

``python -m tests.bench.sdk [COUNT]`` lets the flooding agent talk to it and prints one JSON object.
"""

import asyncio
import json
import sys
import time
from typing import Any

import acp
from acp.schema import ClientCapabilities, TextContentBlock

from tests.bench.talk import AGENT

COUNT = 50_000


class Counter(acp.Client):
    """Counts what it is told."""

    def __init__(self, wanted: int) -> None:
        self.seen = 0
        self.all = asyncio.Event()
        self._wanted = wanted

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.seen += 1
        if self.seen >= self._wanted:
            self.all.set()


async def measure(count: int) -> dict[str, float]:
    counter = Counter(count)
    async with acp.spawn_agent_process(counter, sys.executable, str(AGENT)) as (agent, _):
        await agent.initialize(protocol_version=1, client_capabilities=ClientCapabilities())
        session = await agent.new_session(cwd="/", mcp_servers=[])
        begun = time.monotonic()
        prompt = asyncio.create_task(
            agent.prompt(
                session_id=session.session_id,
                prompt=[TextContentBlock(type="text", text=f"flood {count}")],
            )
        )
        await counter.all.wait()
        taken = time.monotonic() - begun
        await prompt
    return {"sdk_updates_a_second": round(count / taken)}


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    print(json.dumps(asyncio.run(measure(wanted)), indent=1))
