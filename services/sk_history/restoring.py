"""The history's word in a new epoch: what it kept, for those who lost their log.

First the last messages of each channel, for agents whose own memory is gone; then channels,
sessions and commands, which open the epoch.
"""

from sk_bus.codec import value_of
from sk_bus.excerpt import excerpt
from sk_bus.internal import (
    HistoryPast,
    HistoryRestored,
    PastMessage,
    SessionChanged,
    StoredCommands,
    StoredSession,
)
from sk_bus.model import AgentName, Channel, Message, Role, SlashCommand, TextPart
from sk_history import records, unreadable
from sk_history.fold import Fold
from sk_history.store import Store

TOLD = 20
# Among so many messages the last that said something are looked for.
_LOOKED_AT = 200


def word(store: Store, fold: Fold) -> list[HistoryPast | HistoryRestored]:
    """All that is to be said, in order."""
    pasts = [past(store, channel) for channel in fold.channels.values()]
    return [*(one for one in pasts if one.messages), _restored(store, fold)]


def past(store: Store, channel: Channel) -> HistoryPast:
    """The last messages that were said in a channel."""
    begin = records.messages_of(channel.id)
    rows = unreadable.rows(store, channel.id, begin, records.end_of(begin), last=_LOOKED_AT)
    said: list[PastMessage] = []
    for key, data in rows:
        told = _told(value_of(Message, unreadable.or_message(channel.id, key, data)))
        if told is not None:
            said.append(told)
        if len(said) == TOLD:
            break
    return HistoryPast(channel=channel.id, messages=tuple(reversed(said)))


def _told(message: Message) -> PastMessage | None:
    """A message as it is told to agents; ``None`` when it said nothing, or nobody was meant."""
    if message.role is Role.SYSTEM or (message.role is Role.USER and message.error is not None):
        return None
    text = excerpt(part.text for part in message.parts if isinstance(part, TextPart))
    return PastMessage(id=message.id, author=message.agent, text=text) if text.strip() else None


def _restored(store: Store, fold: Fold) -> HistoryRestored:
    sessions: list[StoredSession] = []
    for channel in fold.channels.values():
        prefix = records.sessions_of(channel.id)
        for _, data in store.first(prefix, records.end_of(prefix)):
            kept = value_of(SessionChanged, records.value(data))
            if kept.agent in channel.members:
                sessions.append(
                    StoredSession(
                        channel=kept.channel,
                        agent=kept.agent,
                        sessionId=kept.sessionId,
                        seen=kept.seen,
                        since=kept.since,
                        prompted=kept.prompted,
                    )
                )
    announced = [
        StoredCommands(
            agent=AgentName(records.agent_of(records.COMMANDS, key)),
            commands=tuple(value_of(SlashCommand, one) for one in records.value(data)),
        )
        for key, data in store.first(records.COMMANDS, records.end_of(records.COMMANDS))
    ]
    return HistoryRestored(
        channels=tuple(fold.channels.values()),
        sessions=tuple(sessions),
        commands=tuple(announced),
    )
