"""The live stream of the bus, read once and offered to every browser.

It waits for none of them: what a browser can't take is that browser's own affair.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Protocol

from sk_bus.contract import Bus, Heartbeat, Resync
from sk_bus.model import Cursor
from sk_bus.seconds import until_next
from sk_bus.wire import Batch
from sk_gateway.frames import Bundle


class Listener(Protocol):
    """One who follows, as the hub sees it. None of these may wait."""

    def offered(self, bundle: Bundle, now: float) -> None:
        """A bundle of the live stream."""

    def cut(self) -> None:
        """The log goes on elsewhere than it stopped: begin anew at the hub's head."""

    def ticked(self, now: float) -> None:
        """A second has passed."""


class Hub:
    """Where the live stream stands, and who follows it.

    ``moved`` is told each seq that was passed on, ``heard`` each heartbeat of the bus.
    """

    def __init__(
        self,
        bus: Bus,
        start: Cursor,
        *,
        moved: Callable[[int], None],
        heard: Callable[[Heartbeat], None],
    ) -> None:
        self._bus = bus
        self._moved = moved
        self._heard = heard
        self._listeners: set[Listener] = set()
        self.head = start
        self.beat: tuple[Heartbeat | None, int] = (None, 0)
        """The bus's last heartbeat, and when it came (ms of CLOCK_MONOTONIC)."""

    def __len__(self) -> int:
        return len(self._listeners)

    def join(self, listener: Listener) -> None:
        self._listeners.add(listener)

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    async def run(self) -> None:
        """Follow the bus for ever."""
        async with aclosing(self._bus.follow(self.head, heartbeats=True)) as follow:
            async for item in follow:
                match item:
                    case Heartbeat():
                        self.beat = (item, time.monotonic_ns() // 1_000_000)
                        self._heard(item)
                    case Resync(epoch=epoch, head=head):
                        self.head = Cursor(epoch=epoch, seq=head)
                        for listener in tuple(self._listeners):
                            listener.cut()
                        self._moved(head)
                    case Batch() if item.count:
                        bundle = Bundle(item)
                        self.head = Cursor(epoch=item.epoch, seq=item.last)
                        now = time.monotonic()
                        for listener in tuple(self._listeners):
                            listener.offered(bundle, now)
                        self._moved(item.last)
                        # Unread batches come without a wait: let the senders have their turn.
                        await asyncio.sleep(0)

    async def tick(self) -> None:
        """Tell the listeners each second that passes, for ever."""
        while True:
            await asyncio.sleep(until_next(time.monotonic()))
            now = time.monotonic()
            for listener in tuple(self._listeners):
                listener.ticked(now)
