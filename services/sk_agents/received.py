"""What a holder has sent and nobody has dealt with yet, given out when it is due."""

import asyncio
from collections import deque

from sk_agents import frames
from sk_agents.gathering import Gathering

Item = tuple[int, bytes]  # kind and payload: a piece of stdout, or the end
_TOGETHER = 64 * 1024  # bytes; more would keep other agents waiting


class Received:
    """A queue whose reader is woken by :class:`Gathering`'s rule, and by an end at once."""

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._gathering = Gathering()
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def put(self, kind: int, payload: bytes) -> None:
        self._items.append((kind, payload))
        loop = asyncio.get_running_loop()
        now = loop.time()
        due = self._gathering.came(now, len(payload)) if kind == frames.OUT else now
        if due <= now:
            self._due.set()
        elif self._timer is None:
            self._timer = loop.call_at(due, self._due.set)

    def close(self) -> None:
        """Nothing more will come."""
        self._closed = True
        self._due.set()

    async def take(self) -> list[Item]:
        """What has come, in its order; empty when nothing more will come."""
        await self._due.wait()
        taken: list[Item] = []
        size = 0
        while self._items and size < _TOGETHER:
            taken.append(self._items.popleft())
            size += len(taken[-1][1])
        if not self._items:
            self._gathering.taken()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if not self._closed:
                self._due.clear()
        return taken
