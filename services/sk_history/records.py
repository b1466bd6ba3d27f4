"""The rows of the history: how keys and values look as bytes. Nothing here reads or writes them.

Keys sort as people read: within a channel, messages lie in the order of their creation, so that a
page is one range read. All that belongs to a channel alone lies under one prefix, so that deleting
it is one range.

======== ============================== ==========================================
key      followed by                    value
======== ============================== ==========================================
``0``    a name                         the schema's version, the cursor, …
``A``    agent                          its slash commands
``B``    channel, block                 a block of the index: what it covers
``C``    channel                        the channel
``F``    channel, message               anything: it isn't in the index as it is now
``O``    channel, message               nothing: the message is unfinished
``P``    channel, permission            a permission request that waits
``R``    sha256, key of a row           nothing: that row names the blob
``T``    channel                        the turn under way
``X``    channel, ``D``, message, rev   a stretch of deltas of a growing message
``X``    channel, ``I``, block, term    which of the block's messages have the term
``X``    channel, ``M``, message        the message, sealed
``X``    channel, ``N``, block          the ids of the block's messages
``X``    channel, ``S``, agent          its session, and what it has seen
``X``    channel, ``U``, agent          its usage
======== ============================== ==========================================

An id is 12 bytes: seq and k, big-endian. A block has the id of its first message. Values are
msgpack of plain maps; that of a message has a checksum before it, so that damage is found and costs
that message alone.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgpack

from sk_bus.errors import MalformedError
from sk_bus.wire import packed, unpacked

# 2: messages are sealed, and there is an index.
SCHEMA = 2

_ID = re.compile(r"[a-z](\d{16,19})\.(\d{1,9})")
_ID_BYTES = struct.Struct(">QI")
_REV = struct.Struct(">I")
_SHA256 = re.compile(r"[0-9a-f]{64}")
ID_SIZE = _ID_BYTES.size

CHANNELS = b"C"
BLOCKS = b"B"
FRESH = b"F"
COMMANDS = b"A"
UNFINISHED = b"O"
PERMISSIONS = b"P"
BLOBS = b"R"
TURNS = b"T"


# A byte that begins no msgpack, then CRC-32 of what follows.
_SEAL = struct.Struct(">BI")
_SEALED = 0xC1


class CorruptRowError(ValueError):
    """The bytes of a row are not those that were written."""


class NotAnIdError(ValueError):
    """A text that is no id of ours; nothing can be stored under it."""


@lru_cache(maxsize=4096)
def id_bytes(id_: str) -> bytes:
    """The 12 bytes that stand for an id, in the order of creation.

    Raises:
        NotAnIdError: it is no id.
    """
    match = _ID.fullmatch(id_)
    if match is None:
        raise NotAnIdError(id_)
    return _ID_BYTES.pack(int(match[1]), int(match[2]))


def id_text(letter: str, data: bytes) -> str:
    """The id that 12 bytes stand for."""
    seq, k = _ID_BYTES.unpack(data)
    return f"{letter}{seq:016d}.{k}"


def end_of(prefix: bytes) -> bytes:
    """The first key after every key that begins with ``prefix`` (whose last byte isn't 255)."""
    return prefix[:-1] + bytes((prefix[-1] + 1,))


def after(key: bytes) -> bytes:
    """The first key after ``key``."""
    return key + b"\0"


def meta(name: str) -> bytes:
    return b"0" + name.encode()


def commands_key(agent: str) -> bytes:
    return COMMANDS + agent.encode()


def channel_key(channel: str) -> bytes:
    return CHANNELS + id_bytes(channel)


def unfinished_of(channel: str) -> bytes:
    """The prefix of a channel's unfinished messages."""
    return UNFINISHED + id_bytes(channel)


def unfinished_key(channel: str, message: str) -> bytes:
    return UNFINISHED + id_bytes(channel) + id_bytes(message)


def unfinished_ids(key: bytes) -> tuple[str, str]:
    """(channel, message) of an unfinished row."""
    return id_text("c", key[1 : 1 + ID_SIZE]), id_text("m", key[1 + ID_SIZE :])


def fresh_of(channel: str) -> bytes:
    """The prefix of a channel's messages that the index has yet to take in."""
    return FRESH + id_bytes(channel)


def fresh_key(channel: str, message: str) -> bytes:
    return FRESH + id_bytes(channel) + id_bytes(message)


def blocks_of(channel: str) -> bytes:
    """The prefix of a channel's blocks."""
    return BLOCKS + id_bytes(channel)


def block_key(channel: str, block: bytes) -> bytes:
    return blocks_of(channel) + block


def members_key(channel: str, block: bytes) -> bytes:
    return b"X" + id_bytes(channel) + b"N" + block


def terms_of(channel: str, block: bytes) -> bytes:
    """The prefix of a block's terms."""
    return b"X" + id_bytes(channel) + b"I" + block


def permission_key(channel: str, permission: str) -> bytes:
    return PERMISSIONS + id_bytes(channel) + id_bytes(permission)


def turn_key(channel: str) -> bytes:
    return TURNS + id_bytes(channel)


def blob_key(sha256: str, row: bytes) -> bytes:
    return BLOBS + bytes.fromhex(sha256) + row


def blob_and_row(key: bytes) -> tuple[str, bytes]:
    """(sha256, key of the row that names it)."""
    return key[1:33].hex(), key[33:]


def everything_of(channel: str) -> tuple[bytes, bytes]:
    """The range of all that belongs to a channel alone."""
    begin = b"X" + id_bytes(channel)
    return begin, begin + b"\xff"


def index_of(channel: str) -> list[tuple[bytes, bytes]]:
    """The ranges of a channel's index within what belongs to it alone, and outside of it."""
    inside = b"X" + id_bytes(channel)
    prefixes = (inside + b"I", inside + b"N", blocks_of(channel))
    return [(prefix, prefix + b"\xff") for prefix in prefixes]


def messages_of(channel: str) -> bytes:
    """The prefix of a channel's messages."""
    return b"X" + id_bytes(channel) + b"M"


def message_key(channel: str, message: str) -> bytes:
    return messages_of(channel) + id_bytes(message)


def deltas_of(channel: str, message: str) -> bytes:
    """The prefix of a growing message's deltas."""
    return b"X" + id_bytes(channel) + b"D" + id_bytes(message)


def delta_key(channel: str, message: str, rev: int) -> bytes:
    return deltas_of(channel, message) + _REV.pack(rev)


def delta_rev(key: bytes) -> int:
    """The first rev in a row of deltas."""
    return int(_REV.unpack(key[-_REV.size :])[0])


def sessions_of(channel: str) -> bytes:
    return b"X" + id_bytes(channel) + b"S"


def session_key(channel: str, agent: str) -> bytes:
    return sessions_of(channel) + agent.encode()


def usages_of(channel: str) -> bytes:
    return b"X" + id_bytes(channel) + b"U"


def usage_key(channel: str, agent: str) -> bytes:
    return usages_of(channel) + agent.encode()


def agent_of(prefix: bytes, key: bytes) -> str:
    """The agent's name at the end of a key."""
    return key[len(prefix) :].decode()


def row(value: Any) -> bytes:
    """A plain value as bytes."""
    return packed(value)


def value(data: bytes) -> Any:
    """The plain value of a row."""
    return unpacked(data)


def sealed(plain_value: Any) -> bytes:
    """A message's value as bytes, with its checksum."""
    body = packed(plain_value)
    return _SEAL.pack(_SEALED, zlib.crc32(body)) + body


def body(data: bytes) -> bytes:
    """The packed value of a message's row.

    Raises:
        CorruptRowError: it is damaged.
    """
    if data[:1] != b"\xc1":  # of schema 1
        message(data)
        return data
    if len(data) < _SEAL.size or _SEAL.unpack(data[: _SEAL.size])[1] != zlib.crc32(
        memoryview(data)[_SEAL.size :]
    ):
        raise CorruptRowError("a row that is not what was written")
    return data[_SEAL.size :]


def message(data: bytes) -> dict[str, Any]:
    """The plain value of a message's row.

    Raises:
        CorruptRowError: it is damaged.
    """
    try:
        found = unpacked(body(data) if data[:1] == b"\xc1" else data)
    except MalformedError as error:
        raise CorruptRowError("a row that is not msgpack") from error
    if not isinstance(found, dict) or "parts" not in found:
        raise CorruptRowError("a row that is no message")
    return found


def row_with(view: dict[str, Any], name: str, rows: list[bytes]) -> bytes:
    """``view`` as bytes, with one more field: the list of these rows, as they are."""
    packer = msgpack.Packer()
    pieces = [packer.pack_map_header(len(view) + 1)]
    for key, item in view.items():
        pieces += row(key), row(item)
    pieces += row(name), packer.pack_array_header(len(rows)), *rows
    return b"".join(pieces)


def names_a_blob(data: bytes) -> bool:
    """Whether a row may name a blob: most don't, and needn't be looked through."""
    return b"sha256" in data


def named_blobs(plain_value: Any) -> Iterator[str]:
    """The sha256 of every blob that a plain value names, at any depth."""
    if isinstance(plain_value, dict):
        sha256 = plain_value.get("sha256")
        if isinstance(sha256, str) and "length" in plain_value and _SHA256.fullmatch(sha256):
            yield sha256
            return
        plain_value = plain_value.values()
    elif not isinstance(plain_value, list):
        return
    for item in plain_value:
        if isinstance(item, (dict, list)):
            yield from named_blobs(item)
