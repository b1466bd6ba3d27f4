"""What the history answers: channels, conversations, pages. Rows in, values as they travel out.

A page is answered as bytes: stored messages are packed already, and turning a hundred of them into
values and back would cost ten times as much as reading them.
"""

from typing import Any

from sk_bus.codec import plain
from sk_bus.errors import RefusedError, problem
from sk_bus.model import AgentName, ChannelId, MessageId
from sk_history import records
from sk_history.fold import Fold
from sk_history.store import Store

PAGE = 100

Plain = dict[str, Any]


def channels(fold: Fold) -> list[Plain]:
    """Every channel, oldest first."""
    return [plain(channel) for channel in fold.channels.values()]


def conversation(store: Store, fold: Fold, channel: ChannelId) -> bytes:
    """A ConversationView, packed: the last messages, and all that is under way.

    Raises:
        RefusedError: there is no such channel.
    """
    _known(fold, channel)
    view: Plain = {"channel": plain(fold.channels[channel])}
    turn = fold.turns.get(channel)
    if turn is not None:
        view["busy"] = turn.busy
        view["queued"] = turn.queued
        view["answering"] = turn.answering
        view["waitingFor"] = plain(turn.waitingFor)
    prefix = records.usages_of(channel)
    view["usage"] = {
        records.agent_of(prefix, key): records.value(data)
        for key, data in store.first(prefix, records.end_of(prefix))
    }
    view["permissions"] = [one for one in permissions(fold) if one["channel"] == channel]
    begin = records.messages_of(channel)
    return _page(store, fold, channel, records.end_of(begin), view)


def older(store: Store, fold: Fold, channel: ChannelId, before: MessageId) -> bytes:
    """A Page, packed: the messages before ``before``.

    Raises:
        RefusedError: there is no such channel, or ``before`` is no message's id.
    """
    _known(fold, channel)
    try:
        end = records.message_key(channel, before)
    except records.NotAnIdError as error:
        raise RefusedError(
            problem("no-such-message", "There is no message {messageId}.", messageId=before)
        ) from error
    return _page(store, fold, channel, end, {})


def commands(store: Store, agent: AgentName) -> list[Plain]:
    """The slash commands that an agent announced last."""
    data = store.get(records.commands_key(agent))
    made: list[Plain] = [] if data is None else records.value(data)
    return made


def permissions(fold: Fold) -> list[Plain]:
    """Every permission request that waits, oldest first."""
    ordered = sorted(fold.permissions.values(), key=lambda one: records.id_bytes(one.id))
    return [plain(one) for one in ordered]


def _known(fold: Fold, channel: ChannelId) -> None:
    if channel not in fold.channels:
        raise RefusedError(
            problem(
                "no-such-channel",
                "There is no conversation {channel}; it may have been deleted.",
                channel=channel,
            )
        )


def _page(store: Store, fold: Fold, channel: ChannelId, end: bytes, view: Plain) -> bytes:
    rows = store.last(records.messages_of(channel), end, limit=PAGE + 1)
    view["more"] = len(rows) > PAGE
    growing = {
        records.message_key(channel, message.id): message for message in fold.growing(channel)
    }
    messages = [
        records.row(plain(growing[key])) if key in growing else data
        for key, data in reversed(rows[:PAGE])
    ]
    return records.row_with(view, "messages", messages)
