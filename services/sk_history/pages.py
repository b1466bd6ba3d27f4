"""What the history answers: channels, conversations, pages. Rows in, values as they travel out.

A page is answered as bytes: stored messages are packed already, and turning a hundred of them into
values and back would cost ten times as much as reading them.
"""

from typing import Any

from sk_bus.codec import plain
from sk_bus.errors import RefusedError, problem
from sk_bus.model import AgentName, ChannelId, MessageId
from sk_history import index, migrating, records, unreadable
from sk_history.fold import Fold
from sk_history.store import Reading, Rows, Store

PAGE = 100
# Bytes of a page: an answer of hundreds of tool calls is a row of megabytes, and what a person
# waits for is the last of them.
_LARGEST = 4_000_000
# Around a message: so many before it, it, and so many after it.
BEFORE, AFTER = 50, 49

Plain = dict[str, Any]


def channels(fold: Fold) -> list[Plain]:
    """Every channel, oldest first."""
    return [plain(channel) for channel in fold.channels.values()]


def conversation(store: Store, fold: Fold, channel: ChannelId) -> bytes:
    """A ConversationView, packed: the last messages, and all that is under way.

    Raises:
        RefusedError: there is no such channel.
    """
    known(fold, channel)
    view: Plain = {"channel": plain(fold.channels[channel])}
    turn = fold.turns.get(channel)
    if turn is not None:
        view["busy"] = turn.busy
        view["queued"] = turn.queued
        view["answering"] = turn.answering
        view["then"] = plain(turn.then)
        view["waitingFor"] = plain(turn.waitingFor)
    view["usage"] = fold.usages.get(channel, {})
    view["permissions"] = [one for one in permissions(fold) if one["channel"] == channel]
    begin = records.messages_of(channel)
    rows = unreadable.rows(store, channel, begin, records.end_of(begin), last=PAGE + 1)
    return _page(fold, channel, rows, view)


def older(store: Store, fold: Fold, channel: ChannelId, before: MessageId) -> bytes:
    """A Page, packed: the messages before ``before``.

    Raises:
        RefusedError: there is no such channel, or ``before`` is no message's id.
    """
    known(fold, channel)
    begin, end = records.messages_of(channel), _key(channel, before)
    rows = unreadable.rows(store, channel, begin, end, last=PAGE + 1)
    return _page(fold, channel, rows, {})


def newer(store: Store, fold: Fold, channel: ChannelId, after: MessageId) -> bytes:
    """A Page, packed: the messages after ``after``; ``more`` newer ones than these.

    Raises:
        RefusedError: there is no such channel, or ``after`` is no message's id.
    """
    known(fold, channel)
    begin, end = _after(channel, _key(channel, after))
    rows = unreadable.rows(store, channel, begin, end, first=PAGE + 1)
    return _page(fold, channel, rows, {}, newest=False)


def around(store: Store, fold: Fold, channel: ChannelId, message: MessageId) -> bytes:
    """An AroundView, packed: a message in its place.

    Raises:
        RefusedError: there is no such channel, or no such message in it.
    """
    known(fold, channel)
    key = _key(channel, message)
    begin, end = _after(channel, key)
    earlier = unreadable.rows(store, channel, records.messages_of(channel), begin, last=BEFORE + 2)
    if not earlier or earlier[0][0] != key:
        raise _no_message(message)
    later = unreadable.rows(store, channel, begin, end, first=AFTER + 1)
    before, after = _bounded(earlier[: BEFORE + 1]), _bounded(later[:AFTER])
    rows = [*reversed(before), *after]
    view = {"more": len(earlier) > len(before), "later": len(later) > len(after)}
    return _with_messages(view, fold, channel, rows)


def count(store: Reading, channel: ChannelId) -> int:
    """How many messages a channel has."""
    if migrating.marking(store):
        begin = records.messages_of(channel)
        return len(store.first(begin, records.end_of(begin)))
    begin = records.UNFINISHED + records.id_bytes(channel)
    return index.count(store, channel) + len(store.first(begin, begin + b"\xff"))


def commands(store: Store, agent: AgentName) -> list[Plain]:
    """The slash commands that an agent announced last."""
    data = store.get(records.commands_key(agent))
    made: list[Plain] = [] if data is None else records.value(data)
    return made


def permissions(fold: Fold) -> list[Plain]:
    """Every permission request that waits, oldest first."""
    ordered = sorted(fold.permissions.values(), key=lambda one: records.id_bytes(one.id))
    return [plain(one) for one in ordered]


def known(fold: Fold, channel: ChannelId) -> None:
    """Let a channel pass that exists.

    Raises:
        RefusedError: there is no such channel.
    """
    if channel not in fold.channels:
        raise RefusedError(
            problem(
                "no-such-channel",
                "There is no conversation {channel}; it may have been deleted.",
                channel=channel,
            )
        )


def _key(channel: ChannelId, message: MessageId) -> bytes:
    try:
        return records.message_key(channel, message)
    except records.NotAnIdError as error:
        raise _no_message(message) from error


def _no_message(message: MessageId) -> RefusedError:
    return RefusedError(
        problem("no-such-message", "There is no message {messageId}.", messageId=message)
    )


def _after(channel: ChannelId, key: bytes) -> tuple[bytes, bytes]:
    """The range of a channel's messages after ``key``."""
    return records.after(key), records.end_of(records.messages_of(channel))


def _page(fold: Fold, channel: ChannelId, rows: Rows, view: Plain, *, newest: bool = True) -> bytes:
    """``view`` with the first of these rows, which begin with the ``newest`` or the oldest."""
    kept = rows[:PAGE]
    view["more"] = len(rows) > len(kept)
    made = _with_messages(view, fold, channel, kept[::-1] if newest else kept)
    if len(made) <= _LARGEST:
        return made
    kept = _bounded(kept)
    view["more"] = len(rows) > len(kept)
    return _with_messages(view, fold, channel, kept[::-1] if newest else kept)


def _bounded(rows: Rows) -> Rows:
    """As many of these rows, from the first on, as a page may hold; one at least."""
    size = 0
    for count, (_, data) in enumerate(rows):
        size += len(data)
        if count and size > _LARGEST:
            return rows[:count]
    return rows


def _with_messages(view: Plain, fold: Fold, channel: ChannelId, rows: Rows) -> bytes:
    """``view`` with the rows as they travel; growing messages with all that has come of them."""
    growing = {
        records.message_key(channel, message.id): message for message in fold.growing(channel)
    }
    if not growing:
        made = records.page(view, [data for _, data in rows])
        if made is not None:
            return made
    bodies = [
        records.row(plain(growing[key])) if key in growing else _body(channel, key, data)
        for key, data in rows
    ]
    return records.unchecked(view, bodies)


def _body(channel: ChannelId, key: bytes, data: bytes) -> bytes:
    try:
        return records.body(data)
    except records.CorruptRowError:
        return records.row(unreadable.message(channel, key))
