"""A service for tests: it follows, answers Preview with its text, and does as the text says."""

import asyncio
import os
from typing import Any

from sk_bus.errors import RefusedError, problem
from sk_bus.model import Cursor
from sk_bus.queries import Preview, PreviewView
from sk_bus.service import Service, run
from sk_bus.wire import Batch


async def body(service: Service) -> None:
    if os.environ.get("FAILS"):
        raise RuntimeError("as told")
    hold = asyncio.Event()

    async def preview(query: Preview) -> Any:
        match query.text:
            case "refuse":
                raise RefusedError(problem("told", "as {told}", told="told"))
            case "raise":
                raise KeyError("as told")
            case "wait":
                await hold.wait()
            case "release":
                hold.set()
            case _:
                pass
        return PreviewView(answering=(), unknown=(query.text,))

    service.answers(Preview, preview)
    if os.environ.get("KNOWS_BY_ITSELF"):
        service.follows = False
        await hold.wait()
    service.details = {"hello": 1}
    async for batch in service.bus.follow(Cursor(epoch=service.hello.epoch, seq=0)):
        assert isinstance(batch, Batch)
        service.advance(batch.last)
        await service.report_now()


if __name__ == "__main__":
    run("router", body)
