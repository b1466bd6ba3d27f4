"""An export in pieces, each asked for by itself: nothing is remembered between two of them.

A cursor says where the next piece begins: the channel, the message, and how far into its text. The
history goes on meanwhile: what is said during an export stands in it if its place is still to come.
"""

import zlib
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from sk_bus.errors import RefusedError, problem
from sk_bus.model import Channel, ChannelId
from sk_history import lines, records, unreadable
from sk_history.store import Store
from sk_history.texts import Plain, Whole

PIECE = 500_000  # characters
_READ_AT_ONCE = 50
# Before the first message: only the channel's own lines were said.
_NONE = "m0000000000000000.0"


class Form(Protocol):
    """How an export looks."""

    def opening(self) -> str:
        """What stands before everything."""

    def channel(self, channel: Channel) -> str:
        """What stands before a channel's messages."""

    def message(self, message: Plain, whole: Whole) -> str:
        """One message."""


class JsonLines:
    """The form that can be imported."""

    def opening(self) -> str:
        return lines.line(lines.HEADER)

    def channel(self, channel: Channel) -> str:
        return lines.channel_line(channel)

    def message(self, message: Plain, whole: Whole) -> str:
        return lines.message_line(message, whole)


class Remembering:
    """A form that makes a text of many pieces once, if they are asked for one after the other."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._last: tuple[Plain, str] | None = None

    def opening(self) -> str:
        return self._form.opening()

    def channel(self, channel: Channel) -> str:
        return self._form.channel(channel)

    def message(self, message: Plain, whole: Whole) -> str:
        if self._last is not None and self._last[0] == message:
            return self._last[1]
        text = self._form.message(message, whole)
        self._last = (message, text) if len(text) > PIECE else None
        return text


class Place(NamedTuple):
    """Where a piece begins: in a channel, behind a message of it, ``skip`` characters further on.

    Without ``channel`` it is the beginning; without ``message``, the channel's own lines come next.
    ``sum`` is that of the text which was begun, so that no two halves of different texts meet.
    """

    channel: str = ""
    message: str = ""
    skip: int = 0
    sum: int = 0

    def text(self) -> str:
        return f"{self.channel}/{self.message}/{self.skip}/{self.sum}"


def place(text: str | None) -> Place:
    """The place that a cursor names.

    Raises:
        RefusedError: it is none of ours.
    """
    if text is None:
        return Place()
    try:
        channel, message, skip, sum_ = text.split("/")
        for id_ in (channel, message):
            if id_:
                records.id_bytes(id_)
        return Place(channel, message, int(skip), int(sum_))
    except ValueError as error:
        raise _no_piece() from error


def piece(
    store: Store, channels: list[Channel], form: Form, start: Place, whole: Whole
) -> tuple[str, Place | None]:
    """A piece of the export of these channels (oldest first), and where the next one begins.

    Raises:
        RefusedError: the text that the last piece ended in is another now.
    """
    texts: list[str] = []
    length = 0
    skip = start.skip
    for before, text in _texts(store, channels, form, start, whole):
        if skip and (before[:2] != start[:2] or _sum(text) != start.sum):
            raise _no_piece()
        taken = text[skip : skip + PIECE - length]
        texts.append(taken)
        length += len(taken)
        if skip + len(taken) < len(text):
            return "".join(texts), before._replace(skip=skip + len(taken), sum=_sum(text))
        skip = 0
    if skip:
        raise _no_piece()
    return "".join(texts), None


def _texts(
    store: Store, channels: list[Channel], form: Form, start: Place, whole: Whole
) -> Iterator[tuple[Place, str]]:
    """The export's texts from a place on, each with the place before it."""
    if not start.channel:
        yield Place(), form.opening()
    first = records.id_bytes(start.channel) if start.channel else b""
    for channel in channels:
        id_ = records.id_bytes(channel.id)
        if id_ < first:
            continue
        after = start.message if id_ == first and start.message else _NONE
        if after == _NONE and not (id_ == first and start.message):
            yield Place(channel.id), form.channel(channel)
        for before, message in _messages(store, channel.id, after):
            yield Place(channel.id, before), form.message(message, whole)


def _messages(store: Store, channel: ChannelId, after: str) -> Iterator[tuple[str, Plain]]:
    """The finished messages after one, each with the id of the one before it."""
    end = records.end_of(records.messages_of(channel))
    while True:
        begin = records.after(records.message_key(channel, after))
        rows = unreadable.rows(store, channel, begin, end, first=_READ_AT_ONCE)
        for key, data in rows:
            message = unreadable.or_message(channel, key, data)
            if message["done"] and not message["queued"]:
                yield after, message
            after = records.id_text("m", key[-records.ID_SIZE :])
        if len(rows) < _READ_AT_ONCE:
            return


def _sum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _no_piece() -> RefusedError:
    return RefusedError(
        problem("no-such-piece", "What is exported changed meanwhile; export it again.")
    )
