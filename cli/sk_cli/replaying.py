"""Reading the log backwards: the last so many of something, however far back they begin."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar

from sk_bus.contract import Bus, Hello, Resync
from sk_bus.model import Cursor
from sk_bus.wire import Batch

T = TypeVar("T")

_FIRST_LOOK = 512


async def stretch(bus: Bus, epoch: int, after: int, stop: int) -> AsyncIterator[Batch]:
    """The batches after ``after``, up to the one that holds ``stop``."""
    if after >= stop:
        return
    async for item in bus.follow(Cursor(epoch=epoch, seq=after)):
        if isinstance(item, Resync):
            return
        if isinstance(item, Batch):
            yield item
            if item.last >= stop:
                return


async def last(
    bus: Bus,
    hello: Hello,
    take: Callable[[Batch], Iterable[T]],
    count: int,
    *,
    first: int = 0,
) -> list[T]:
    """The last ``count`` of what ``take`` finds in the log's batches after ``first``.

    Nobody knows how far back they begin, so the look goes back farther until there are enough.
    """
    begin = max(first, hello.floor - 1)
    back = _FIRST_LOOK
    while True:
        after = max(hello.head - back, begin)
        found = [
            one
            async for batch in stretch(bus, hello.epoch, after, hello.head)
            for one in take(batch)
        ]
        if after == begin or len(found) >= count:
            return found[-count:] if count else []
        back *= 8
