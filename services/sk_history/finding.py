"""Search: from what is asked to a page of hits, newest first.

The index says which messages may fit, block by block; only these are read, and only as many as a
page needs. Messages that are fresh, as the index has yet to take them in, are read all.
"""

import heapq
from collections.abc import Iterable, Iterator

from sk_history import index, migrating, records
from sk_history.asked import Asked
from sk_history.matching import hit
from sk_history.store import DamagedError, Reading
from sk_history.texts import Plain, Whole

# Fresh messages that one search reads: more are there only while an index is being made.
_MOST_FRESH = 500
# Messages that one page looks at: words that are frequent, but never in a row, end it early.
_MOST_LOOKED_AT = 2_000

Candidate = tuple[bytes, str]  # (id, channel)


def found(store: Reading, channels: Iterable[str], search: Asked, whole: Whole) -> Plain:
    """A page of Hits, plain. ``store`` is to be frozen: block and rows belong together."""
    chosen = {one for one in channels if search.channel in (None, one)}
    fresh, complete = _fresh(store, chosen, search)
    hits: list[Plain] = []
    last = None
    for looked, (id_, channel) in enumerate(_newest_first(store, chosen, search, fresh)):
        if len(hits) == search.limit or looked == _MOST_LOOKED_AT:
            return {"hits": hits, "next": last, "complete": complete}
        last = records.id_text("m", id_)
        one = _hit(store, records.message_key(channel, last), search, whole)
        if one is not None:
            hits.append(one)
    return {"hits": hits, "next": None, "complete": complete}


def _hit(store: Reading, key: bytes, search: Asked, whole: Whole) -> Plain | None:
    try:
        data = store.get(key)
        message = None if data is None else records.message(data)
    except (records.CorruptRowError, DamagedError):
        return None  # it says so where it stands
    if message is None or not message["done"] or message["queued"]:
        return None
    return hit(message, search, whole)


def _fresh(store: Reading, chosen: set[str], search: Asked) -> tuple[set[Candidate], bool]:
    """Fresh messages, and whether these and the index are all there is."""
    made: set[Candidate] = set()
    rows = store.first(records.FRESH, records.end_of(records.FRESH), limit=_MOST_FRESH + 1)
    size = records.ID_SIZE
    for key, _ in rows[:_MOST_FRESH]:
        channel, id_ = records.id_text("c", key[1 : 1 + size]), key[1 + size :]
        if channel in chosen and (search.before is None or id_ < search.before):
            made.add((id_, channel))
    return made, len(rows) <= _MOST_FRESH and not migrating.marking(store)


def _newest_first(
    store: Reading, chosen: set[str], search: Asked, fresh: set[Candidate]
) -> Iterator[Candidate]:
    """Every message that may fit, the newest first; blocks are opened when their turn comes."""
    blocks = sorted(_blocks(store, chosen, search), key=lambda block: block.last)
    waiting = [_Newest(one) for one in fresh]
    heapq.heapify(waiting)
    while blocks or waiting:
        while blocks and not (waiting and waiting[0].id > blocks[-1].last):
            block = blocks.pop()
            places = _places(store, block, search)
            if not places:
                continue
            ids = index.members(store, block)
            for place in places:
                one = (ids[place], block.channel)
                if one not in fresh and (search.before is None or one[0] < search.before):
                    heapq.heappush(waiting, _Newest(one))
        if waiting:
            yield heapq.heappop(waiting).candidate


class _Newest:
    """Orders candidates for a heap, the newest first."""

    __slots__ = ("candidate", "id")

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.id = candidate[0]

    def __lt__(self, other: "_Newest") -> bool:
        return self.id > other.id


def _blocks(store: Reading, chosen: set[str], search: Asked) -> list[index.Block]:
    if search.channel is not None:
        known = index.blocks(store, search.channel) if search.channel in chosen else []
    else:
        known = index.all_blocks(store)
    return [
        block
        for block in known
        if block.channel in chosen
        and (search.before is None or block.first < search.before)
        and (search.since is None or block.newest >= search.since)
        and (search.until is None or block.oldest <= search.until)
    ]


def _places(store: Reading, block: index.Block, search: Asked) -> frozenset[int]:
    """The places in a block of the messages that may fit."""
    places = frozenset(range(block.size))
    if search.agent is not None:
        places &= index.by(store, block, search.agent)
    if search.tool is not None and places:
        places &= index.naming(store, block, index.TOOL, search.tool)
    if search.path is not None and places:
        places &= index.naming(store, block, index.PATH, search.path)
    for term, beginning in search.terms:
        if not places:
            break
        places &= index.having(store, block, term, beginning=beginning)
    return places
