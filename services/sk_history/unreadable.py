"""What stands in the place of a message whose row is damaged: it costs that message alone."""

from sk_bus.codec import plain
from sk_bus.errors import problem
from sk_bus.model import ChannelId, Message, MessageId, Role
from sk_history import records
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
