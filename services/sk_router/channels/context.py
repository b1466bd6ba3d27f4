"""What an agent doesn't know of a channel and is to be told before the message it answers.

Its cursor stands in the order in which things were said. A direct conversation's agent has heard
everything, unless its session was lost. How it is told is the affair of
:mod:`sk_router.channels.prompts`.
"""

from collections.abc import Sequence

from sk_bus.ids import sort_key
from sk_bus.internal import PastMessage
from sk_bus.model import AgentName, ChannelId, MessageId
from sk_router.records import Past, Session
from sk_router.state import State, place

MOST = 20


def newest(state: State, channel: ChannelId, besides: MessageId | None) -> MessageId | None:
    """The last message that was said in the channel, ``besides`` not counted."""
    said = [one.id for one in _past(state, channel) if one.id != besides]
    return said[-1] if said else None


def lost(state: State, channel: ChannelId, agent: AgentName) -> bool:
    """Whether the agent's session was lost, and nothing has been told to the new one yet."""
    session = _session(state, channel, agent)
    return session.seen is None and session.since is not None


def unseen(
    state: State, channel: ChannelId, agent: AgentName, message: MessageId
) -> tuple[PastMessage, ...]:
    """What the agent is to be told before ``message``: at most the last 20, oldest first.

    Not its own messages, nor what it was prompted with already. Where its memory was lost, its own
    ones up to then are told as well.
    """
    session = _session(state, channel, agent)
    past = _past(state, channel)
    forgotten = session.seen is None and session.since is not None
    known = 0 if session.seen is None else _behind(past, session.seen)
    remembered = _behind(past, session.since) if forgotten and session.since else 0
    if state.channels[channel].direct:
        past = past[:remembered]  # all that came after, it was prompted with
    told = [
        one
        for at, one in enumerate(past)
        if at >= known
        and one.id != message
        and one.id not in session.prompted
        and (one.author != agent or at < remembered)
    ]
    return tuple(told[-MOST:])


def _session(state: State, channel: ChannelId, agent: AgentName) -> Session:
    return state.sessions.get(place(channel, agent)) or Session()


def _behind(past: Sequence[PastMessage], cursor: MessageId) -> int:
    """The place behind the message at the cursor; one that isn't kept any more counts by its id."""
    for at, one in enumerate(past):
        if one.id == cursor:
            return at + 1
    return sum(sort_key(one.id) <= sort_key(cursor) for one in past)


def _past(state: State, channel: ChannelId) -> tuple[PastMessage, ...]:
    return state.past.get(channel, Past()).messages
