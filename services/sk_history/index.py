"""The full-text index: which messages of a channel may hold a word, in blocks of 256 messages.

A block covers a stretch of its channel. For each term it has one row, whose value is a byte for
each message that holds the term: the message's place in the block. So a word costs a search one
read a block, however frequent it is, and deleting a channel is deleting ranges. (Measured on prose
and code in messages of 680 bytes: the index adds a quarter to the text, and all of the database is
0.8 times as large as the text. With 128 messages a block it is 0.81, with 1024 it is 0.75.)

Here rows are read and writes come out. Whoever performs them marks messages as *fresh* in the very
write that stores them; a search looks at fresh ones by itself, so that the index may come later.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sk_history import records
from sk_history.store import Drop, DropRange, Put, Reading, Write
from sk_history.texts import Plain, Whole, paths_of, text_of, tools_of
from sk_history.words import folded, terms

VERSION = 1
BLOCK = 256  # places are bytes

WORD, AGENT, TOOL, PATH = b"w", b"a", b"t", b"p"
_BETWEEN = "\0"


class Block(NamedTuple):
    """What a block covers: ids as bytes, times in milliseconds."""

    channel: str
    first: bytes
    last: bytes
    size: int
    oldest: int
    newest: int


@dataclass(frozen=True, slots=True)
class Entry:
    """What one message is indexed under."""

    createdAt: int
    words: frozenset[str]
    agent: str = ""
    tools: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()


def entry(message: Plain, whole: Whole) -> Entry | None:
    """A message's entry; ``None`` while it is unfinished."""
    if not message["done"] or message.get("queued"):
        return None
    words: set[str] = set()
    for part in message["parts"]:
        words |= terms(text_of(part, whole))
    tools = [tool for _, tool in tools_of(message)]
    return Entry(
        createdAt=message["createdAt"],
        words=frozenset(words),
        agent=folded(message["agent"]) if message["role"] == "agent" else "",
        tools=frozenset(
            folded(text) for tool in tools for text in (tool.get("kind"), tool.get("title")) if text
        ),
        paths=frozenset(folded(path) for tool in tools for path in paths_of(tool)),
    )


# --- reading ------------------------------------------------------------------------------


def blocks(store: Reading, channel: str) -> list[Block]:
    """A channel's blocks, oldest first."""
    prefix = records.blocks_of(channel)
    return [_block(key, data) for key, data in store.first(prefix, prefix + b"\xff")]


def all_blocks(store: Reading) -> list[Block]:
    """The blocks of all channels."""
    rows = store.first(records.BLOCKS, records.end_of(records.BLOCKS))
    return [_block(key, data) for key, data in rows]


def members(store: Reading, block: Block) -> list[bytes]:
    """The ids of a block's messages, by their places."""
    data = store.get(records.members_key(block.channel, block.first)) or b""
    size = records.ID_SIZE
    return [data[at : at + size] for at in range(0, len(data), size)]


def known(store: Reading, channel: str) -> set[bytes]:
    """The ids of a channel's messages, without looking at these."""
    ids = {id_ for block in blocks(store, channel) for id_ in members(store, block)}
    for prefix in (records.fresh_of(channel), records.unfinished_of(channel)):
        rows = store.first(prefix, prefix + b"\xff")
        ids.update(key[-records.ID_SIZE :] for key, _ in rows)
    return ids


def count(store: Reading, channel: str) -> int:
    """How many finished messages a channel has, by its index and what that has yet to take in."""
    known = blocks(store, channel)
    prefix = records.fresh_of(channel)
    fresh = [key[-records.ID_SIZE :] for key, _ in store.first(prefix, prefix + b"\xff")]
    again = 0
    for block, ids in _by_block(known, fresh):
        if block is not None:
            again += len({*members(store, block)} & {*ids})
    return sum(block.size for block in known) + len(fresh) - again


def having(store: Reading, block: Block, term: str, *, beginning: bool) -> frozenset[int]:
    """The places of the messages that hold a word, or one that begins with it."""
    key = records.terms_of(block.channel, block.first) + WORD + _bytes(term)
    if not beginning:
        return frozenset(store.get(key) or b"")
    return frozenset().union(*(data for _, data in store.first(key, key + b"\xff" * 5)))


def by(store: Reading, block: Block, agent: str) -> frozenset[int]:
    """The places of an agent's messages."""
    key = records.terms_of(block.channel, block.first) + AGENT + _bytes(agent)
    return frozenset(store.get(key) or b"")


def naming(store: Reading, block: Block, kind: bytes, text: str) -> frozenset[int]:
    """The places of the messages of which a tool (or a path) has ``text`` in its name."""
    data = store.get(records.terms_of(block.channel, block.first) + kind)
    if data is None:
        return frozenset()
    joined, places = records.value(data)
    if text not in joined:
        return frozenset()
    names = joined.split(_BETWEEN)
    fitting = (at for name, at in zip(names, places, strict=True) if text in name)
    return frozenset().union(*fitting)


def _block(key: bytes, data: bytes) -> Block:
    size = records.ID_SIZE
    last, held, oldest, newest = records.value(data)
    channel = records.id_text("c", key[1 : 1 + size])
    return Block(channel, key[1 + size :], last, held, oldest, newest)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# --- writing ------------------------------------------------------------------------------

# What a message is indexed under; None where there is nothing to be indexed (any more).
Entries = Callable[[bytes], Entry | None]


def taking_in(
    store: Reading, channel: str, ids: Iterable[bytes], entries: Entries
) -> Iterator[Write]:
    """The writes that bring the index up to date about these messages of a channel."""
    known = blocks(store, channel)
    for block, news in _by_block(known, sorted(ids)):
        if block is None:
            yield from _built(channel, news, entries)
            continue
        there = members(store, block)
        if news[0] > there[-1] and block is known[-1]:
            room = BLOCK - len(there)
            yield from _appended(store, block, there, news[:room], entries)
            yield from _built(channel, news[room:], entries)
        else:
            # Some are in it already, as they were before, or belong between those that are.
            yield from _dropped(block)
            yield from _built(channel, sorted({*there, *news}), entries)


def _by_block(known: list[Block], ids: list[bytes]) -> Iterator[tuple[Block | None, list[bytes]]]:
    """The ids in stretches, each with the block that it belongs to."""
    if not known:
        if ids:
            yield None, ids
        return
    at = 0
    for number, block in enumerate(known):
        last = number == len(known) - 1
        begin = at
        while at < len(ids) and (last or ids[at] < known[number + 1].first):
            at += 1
        if at > begin:
            yield block, ids[begin:at]


@dataclass(slots=True)
class _Rows:
    """The rows of a block in the making."""

    block: Block
    ids: list[bytes] = field(default_factory=list)
    terms: dict[bytes, bytearray] = field(default_factory=dict)
    names: dict[bytes, dict[str, bytearray]] = field(default_factory=dict)

    def add(self, id_: bytes, found: Entry) -> None:
        place = len(self.ids)
        self.ids.append(id_)
        for word in found.words:
            self.terms.setdefault(WORD + _bytes(word), bytearray()).append(place)
        if found.agent:
            self.terms.setdefault(AGENT + _bytes(found.agent), bytearray()).append(place)
        for kind, names in ((TOOL, found.tools), (PATH, found.paths)):
            for name in names:
                known = self.names.setdefault(kind, {})
                known.setdefault(name.replace(_BETWEEN, ""), bytearray()).append(place)
        block = self.block
        self.block = block._replace(
            last=id_,
            size=place + 1,
            oldest=min(block.oldest, found.createdAt) if place else found.createdAt,
            newest=max(block.newest, found.createdAt) if place else found.createdAt,
        )

    def writes(self) -> Iterator[Write]:
        block = self.block
        prefix = records.terms_of(block.channel, block.first)
        for term, places in self.terms.items():
            yield Put(prefix + term, bytes(places))
        for kind, names in self.names.items():
            # Sorted, so that the same messages make the same rows.
            ordered = sorted(names.items())
            joined = _BETWEEN.join(name for name, _ in ordered)
            yield Put(prefix + kind, records.row([joined, [bytes(at) for _, at in ordered]]))
        yield Put(records.members_key(block.channel, block.first), b"".join(self.ids))
        covered = [block.last, block.size, block.oldest, block.newest]
        yield Put(records.block_key(block.channel, block.first), records.row(covered))


def _built(channel: str, ids: Sequence[bytes], entries: Entries) -> Iterator[Write]:
    """New blocks of these messages, as even as they can be."""
    count = -(-len(ids) // BLOCK)
    for number in range(count):
        piece = ids[number * len(ids) // count : (number + 1) * len(ids) // count]
        found = [(id_, one) for id_ in piece if (one := entries(id_)) is not None]
        if not found:
            continue
        rows = _Rows(Block(channel, found[0][0], b"", 0, 0, 0))
        for id_, one in found:
            rows.add(id_, one)
        yield from rows.writes()


def _appended(
    store: Reading, block: Block, there: list[bytes], ids: list[bytes], entries: Entries
) -> Iterator[Write]:
    rows = _Rows(block, list(there))
    for id_ in ids:
        found = entries(id_)
        if found is not None:
            rows.add(id_, found)
    prefix = records.terms_of(block.channel, block.first)
    for term, places in rows.terms.items():
        places[:0] = store.get(prefix + term) or b""
    for kind, names in rows.names.items():
        joined, earlier = records.value(store.get(prefix + kind) or records.row(["", []]))
        before = dict(zip(joined.split(_BETWEEN), earlier, strict=True)) if earlier else {}
        for name, places in names.items():
            places[:0] = before.pop(name, b"")
        names.update((name, bytearray(places)) for name, places in before.items())
    yield from rows.writes()


def _dropped(block: Block) -> Iterator[Write]:
    prefix = records.terms_of(block.channel, block.first)
    yield DropRange(prefix, prefix + b"\xff")
    yield Drop(records.members_key(block.channel, block.first))
    yield Drop(records.block_key(block.channel, block.first))
