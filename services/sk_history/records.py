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
msgpack of plain maps; that of a message ends in a checksum, so that damage is found and costs that
message alone.
"""

import dataclasses
import re
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any
from zlib import crc32

from sk_bus.errors import MalformedError
from sk_bus.model import Message
from sk_bus.wire import packed, unpacked

# 2: messages are sealed, and there is an index. 3: the seal is a field, so that rows travel as they
# lie.
SCHEMA = 3

_ID = re.compile(r"[a-z](\d{16,19})\.(\d{1,9})")
_ID_BYTES = struct.Struct(">QI")
_REV = struct.Struct(">I")
_MESSAGES = packed("messages")
_LIST = struct.Struct(">BH")  # the header of msgpack's array 16
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


# The last field of a message's row; whoever reads a message from the bus passes over it. Its value
# makes the CRC-32 of the whole row 0. So that of sound rows, one behind the other, is 0 too: a page
# is checked in one go, and travels as it lies.
_SEAL = "seal"
_OPEN = 0xFFFFFFFF
_MARK = packed({_SEAL: _OPEN})[1:-4]
_FIELDS = frozenset(field.name for field in dataclasses.fields(Message))
# What four bytes take to make a CRC-32 0, whatever it was before them.
_TO_ZERO = 0x6DD90A9D
_SUM = struct.Struct("<I")
# In schema 2: a byte that begins no msgpack, then CRC-32 of what follows.
_SEAL_2 = struct.Struct(">BI")
_SEALED_2 = b"\xc1"


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


def fresh_of_row(key: bytes) -> bytes:
    """The fresh key of the message under ``key``."""
    return FRESH + key[1 : 1 + ID_SIZE] + key[-ID_SIZE:]


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


def sealed(plain_value: dict[str, Any], *, pack: Callable[[Any], bytes] = packed) -> bytes:
    """A message's value as bytes, with its checksum."""
    body = pack({**plain_value, _SEAL: _OPEN})[:-4]
    return body + _SUM.pack(crc32(body) ^ _TO_ZERO)


def body(data: bytes) -> bytes:
    """The packed value of a message's row.

    Raises:
        CorruptRowError: it is damaged.
    """
    if data[:1] == _SEALED_2:
        if data[: _SEAL_2.size] != _SEAL_2.pack(_SEALED_2[0], crc32(data[_SEAL_2.size :])):
            raise CorruptRowError("a row that is not what was written")
        return data[_SEAL_2.size :]
    if data[-4 - len(_MARK) : -4] == _MARK:
        if crc32(data):
            raise CorruptRowError("a row that is not what was written")
        return data
    # Of schema 1, or what was the mark is damaged.
    if not _unpacked(data).keys() <= _FIELDS:
        raise CorruptRowError("a row that is neither sealed nor of schema 1")
    return data


def message(data: bytes) -> dict[str, Any]:
    """The plain value of a message's row.

    Raises:
        CorruptRowError: it is damaged.
    """
    found = _unpacked(body(data))
    found.pop(_SEAL, None)
    return found


def _unpacked(data: bytes) -> dict[str, Any]:
    try:
        found = unpacked(data)
    except MalformedError as error:
        raise CorruptRowError("a row that is not msgpack") from error
    if not isinstance(found, dict) or "parts" not in found:
        raise CorruptRowError("a row that is no message")
    return found


def page(view: dict[str, Any], rows: list[bytes]) -> bytes | None:
    """``view`` packed, with messages as rows; ``None`` where one is damaged, or not of today."""
    beginning = _before_messages(view, len(rows))
    made = b"".join((beginning, *rows))
    sound = all(rows) and not crc32(memoryview(made)[len(beginning) :])
    return made if sound else None


def unchecked(view: dict[str, Any], bodies: list[bytes]) -> bytes:
    """``view`` packed, with the packed values of messages."""
    return b"".join((_before_messages(view, len(bodies)), *bodies))


def _before_messages(view: dict[str, Any], count: int) -> bytes:
    # One field more, which is the last. With fewer than 16 a map's header is one byte.
    return bytes((0x81 + len(view),)) + packed(view)[1:] + _MESSAGES + _LIST.pack(0xDC, count)


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
