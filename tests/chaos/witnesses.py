"""Followers that note what they see: on the bus, and at the gateway's WebSocket like a page."""

import asyncio
import time
from collections.abc import Callable

import orjson
from websockets.asyncio.client import connect as websocket
from websockets.exceptions import InvalidHandshake, WebSocketException

from sk_bus.client import connect
from sk_bus.contract import Heartbeat, Resync
from sk_bus.model import Cursor
from tests.chaos.evidence import Evidence, Gap, Seen, Witness
from tests.support.instance import TestInstance


async def on_the_bus(
    instance: TestInstance,
    evidence: Evidence,
    witness: Witness,
    after: Cursor,
    last: int | None = None,
    *,
    told: Callable[[Seen], None] = lambda _: None,
) -> None:
    """Follow every event after ``after``: up to ``last``, or for ever."""
    async with connect(instance.paths) as bus:
        async for item in bus.follow(after):
            evidence.epochs.add(item.epoch)
            if isinstance(item, Resync):
                witness.resyncs += 1
            elif not isinstance(item, Heartbeat):
                now = time.monotonic()
                for seq, event in enumerate(item.raw(), item.first):
                    seen = Seen(seq, event, now)
                    witness.seen.append(seen)
                    told(seen)
                if last is not None and item.last >= last:
                    return


async def _floor(instance: TestInstance) -> int:
    async with connect(instance.paths) as bus:
        return (await bus.hello()).floor


async def on_the_page(
    instance: TestInstance, evidence: Evidence, witness: Witness, after: Cursor
) -> None:
    """Follow the public events as a page does, for ever: reconnect, and go on from the cursor."""
    cursor = after
    while True:
        try:
            async with websocket(
                f"ws://127.0.0.1:{instance.port}/ws",
                origin=instance.address,  # type: ignore[arg-type]  # a NewType of str
                max_size=None,
            ) as socket:
                await socket.send(
                    orjson.dumps(
                        {
                            "t": "hello",
                            "v": 1,
                            "token": instance.token,
                            "resume": {"epoch": cursor.epoch, "seq": cursor.seq},
                            "want": ["public", "delta", "result"],
                        }
                    ).decode()
                )
                async for data in socket:
                    frame = orjson.loads(data)
                    now = time.monotonic()
                    match frame:
                        case {"t": "welcome", "resumed": True}:
                            pass
                        case {"t": "welcome" | "resync", "epoch": epoch, "seq": seq}:
                            floor = await _floor(instance)
                            witness.gaps.append(Gap(cursor.seq, seq, floor))
                            cursor = Cursor(epoch=epoch, seq=seq)
                        case {"t": "at", "seq": seq}:
                            cursor = Cursor(epoch=cursor.epoch, seq=seq)
                        case {"t": "ev", "epoch": epoch, "e": entries}:
                            evidence.epochs.add(epoch)
                            for entry in entries:
                                event = {"type": entry["type"], **entry["data"]}
                                witness.seen.append(Seen(entry["seq"], event, now))
                                cursor = Cursor(epoch=epoch, seq=entry["seq"])
        except (OSError, WebSocketException, InvalidHandshake, EOFError):
            pass  # it was killed; it will be back
        witness.reconnects += 1
        await asyncio.sleep(0.05)
