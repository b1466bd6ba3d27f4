"""Search: from what is asked to a page of hits, newest first."""

import heapq
from collections.abc import Iterator

from sk_history import records
from sk_history.asked import Asked
from sk_history.matching import hit
from sk_history.store import Store
from sk_history.texts import Plain, Whole

_READ_AT_ONCE = 200


def found(store: Store, channels: list[str], search: Asked, whole: Whole) -> Plain:
    """A page of Hits, plain."""
    hits: list[Plain] = []
    last = None
    for _, data in _newest_first(store, channels, search):
        message = records.value(data)
        if not message["done"] or message.get("queued"):
            continue
        one = hit(message, search, whole)
        if one is None:
            continue
        if len(hits) == search.limit:
            return {"hits": hits, "next": last}
        hits.append(one)
        last = message["id"]
    return {"hits": hits, "next": None}


def _newest_first(
    store: Store, channels: list[str], search: Asked
) -> Iterator[tuple[bytes, bytes]]:
    chosen = [one for one in channels if search.channel in (None, one)]
    return heapq.merge(
        *(_back(store, channel, search.before) for channel in chosen),
        key=lambda row: row[0],
        reverse=True,
    )


def _back(store: Store, channel: str, before: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    begin = records.messages_of(channel)
    end = records.end_of(begin) if before is None else begin + before
    while True:
        rows = store.last(begin, end, limit=_READ_AT_ONCE)
        for key, data in rows:
            yield key[-records.ID_SIZE :], data
        if len(rows) < _READ_AT_ONCE:
            return
        end = rows[-1][0]
