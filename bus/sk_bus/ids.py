"""Ids that are unique, sort by creation, and say nothing else.

``<letter><16 digits of seq>.<k>``: the letter tells the kind, seq is that of the input that made
the thing, and k counts within that input. Seq grows over epochs, so ids never repeat.
"""

from sk_bus.model import ChannelId, MessageId, PermissionId


def _made(letter: str, seq: int, k: int) -> str:
    return f"{letter}{seq:016d}.{k}"


def channel_id(seq: int, k: int = 0) -> ChannelId:
    return ChannelId(_made("c", seq, k))


def message_id(seq: int, k: int = 0) -> MessageId:
    return MessageId(_made("m", seq, k))


def permission_id(seq: int, k: int = 0) -> PermissionId:
    return PermissionId(_made("p", seq, k))


def sort_key(id_: str) -> tuple[str, int]:
    """Order of creation: as plain text, ``.10`` would come before ``.9``."""
    stem, _, k = id_.rpartition(".")
    return stem, int(k)
