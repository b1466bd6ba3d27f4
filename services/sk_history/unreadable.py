"""What stands in the place of a message that can't be read: damage costs that message alone.

A row may have another checksum than it should; and files may be damaged, so that rows can't be had
at all. Then the index still says which messages there were.
"""

from sk_bus.codec import plain
from sk_bus.errors import problem
from sk_bus.model import ChannelId, Message, MessageId, Role
from sk_history import index, records
from sk_history.store import DamagedError, Reading, Rows
from sk_history.texts import Plain

CODE = "unreadable"


def message(channel: str, key: bytes) -> Plain:
    """A message (plain) that says that the one under ``key`` can't be read."""
    id_ = records.id_text("m", key[-records.ID_SIZE :])
    error = problem(
        "unreadable-message",
        "The record of this message is damaged and can't be read; the rest of the conversation "
        "is whole.",
    )
    # Seqs begin at the time of their epoch, in microseconds: near enough.
    made = Message(
        id=MessageId(id_),
        channel=ChannelId(channel),
        createdAt=int(id_[1:17]) // 1000,
        role=Role.SYSTEM,
        code=CODE,
        error=error,
    )
    return dict(plain(made))


def or_message(channel: str, key: bytes, data: bytes) -> Plain:
    """The message of a row, or the one that says that it can't be read."""
    try:
        return records.message(data)
    except records.CorruptRowError:
        return message(channel, key)


def rows(
    store: Reading, channel: str, begin: bytes, end: bytes, *, first: int = 0, last: int = 0
) -> Rows:
    """The first or last messages of a range; where files are damaged, as many as can be had."""
    try:
        if first:
            return store.first(begin, end, limit=first)
        return store.last(begin, end, limit=last)
    except DamagedError:
        ids = sorted(index.known(store, channel))
        keys = [key for id_ in ids if begin <= (key := records.messages_of(channel) + id_) < end]
        chosen = keys[:first] if first else keys[: -last - 1 : -1]
        return [(key, _or_nothing(store, key)) for key in chosen]


def _or_nothing(store: Reading, key: bytes) -> bytes:
    try:
        return store.get(key) or b""
    except DamagedError:
        return b""
