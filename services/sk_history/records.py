"""The rows of the history: how keys and values look as bytes. Nothing here reads or writes them.

Keys sort as people read: within a channel, messages lie in the order of their creation, so that a
page is one range read. All that belongs to a channel alone lies under one prefix, so that deleting
it is one range.

======== ============================== ==========================================
key      followed by                    value
======== ============================== ==========================================
``0``    a name                         the schema's version, the cursor, …
``A``    agent                          its slash commands
``C``    channel                        the channel
``O``    channel, message               nothing: the message is unfinished
``P``    channel, permission            a permission request that waits
``R``    sha256, key of a row           nothing: that row names the blob
``T``    channel                        the turn under way
``X``    channel, ``D``, message, rev   a stretch of deltas of a growing message
``X``    channel, ``M``, message        the message
``X``    channel, ``S``, agent          its session, and what it has seen
``X``    channel, ``U``, agent          its usage
======== ============================== ==========================================

An id is 12 bytes: seq and k, big-endian. Values are msgpack of plain maps.
"""

import re
import struct
from collections.abc import Iterator
from typing import Any

import msgpack

from sk_bus.wire import packed, unpacked

SCHEMA = 1

_ID = re.compile(r"[a-z](\d{16,19})\.(\d{1,9})")
_ID_BYTES = struct.Struct(">QI")
_REV = struct.Struct(">I")
_SHA256 = re.compile(r"[0-9a-f]{64}")
ID_SIZE = _ID_BYTES.size

CHANNELS = b"C"
COMMANDS = b"A"
UNFINISHED = b"O"
PERMISSIONS = b"P"
BLOBS = b"R"
TURNS = b"T"


class NotAnIdError(ValueError):
    """A text that is no id of ours; nothing can be stored under it."""


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


def unfinished_key(channel: str, message: str) -> bytes:
    return UNFINISHED + id_bytes(channel) + id_bytes(message)


def unfinished_ids(key: bytes) -> tuple[str, str]:
    """(channel, message) of an unfinished row."""
    return id_text("c", key[1 : 1 + ID_SIZE]), id_text("m", key[1 + ID_SIZE :])


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


def row_with(view: dict[str, Any], name: str, rows: list[bytes]) -> bytes:
    """``view`` as bytes, with one more field: the list of these rows, as they are."""
    packer = msgpack.Packer()
    pieces = [packer.pack_map_header(len(view) + 1)]
    for key, item in view.items():
        pieces += row(key), row(item)
    pieces += row(name), packer.pack_array_header(len(rows)), *rows
    return b"".join(pieces)


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
