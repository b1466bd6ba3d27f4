"""What an agent is told of a conversation before the message that it answers.

Nothing, in a direct conversation whose agent has heard everything; the last messages, where its own
memory was lost. Each is set off by a mark that stands in none of them, so that no text can pretend
to be another's. Pure text: when a memory is lost is decided elsewhere.
"""

import hashlib
from collections.abc import Sequence

from sk_bus.ids import sort_key
from sk_bus.internal import PastMessage
from sk_bus.model import AgentName, ChannelId, MessageId
from sk_router.records import Past, Session
from sk_router.state import State, place

MOST = 20
_MARK = 12  # characters of a hash: nobody can write a text that holds the hash of itself


def newest(state: State, channel: ChannelId, besides: MessageId | None) -> MessageId | None:
    """The last message that was said in the channel, ``besides`` not counted."""
    said = [one.id for one in _past(state, channel) if one.id != besides]
    return said[-1] if said else None


def untold(
    state: State, channel: ChannelId, agent: AgentName, message: MessageId
) -> tuple[PastMessage, ...]:
    """What the agent doesn't know and is to be told before ``message``, oldest first."""
    session = state.sessions.get(place(channel, agent)) or Session()
    if session.seen is not None or session.since is None:
        return ()
    since = sort_key(session.since)
    unknown = tuple(
        one for one in _past(state, channel) if one.id != message and sort_key(one.id) <= since
    )
    return unknown[-MOST:]


def told(messages: Sequence[PastMessage], agent: AgentName) -> str:
    """The messages as one text that stands before the message to be answered."""
    mark = _mark(messages)
    opening = (
        "You have no memory of this conversation: the session in which you had it is gone. Its "
        f"last messages follow, oldest first. Each begins with a line “[{mark}]” and its author."
    )
    lines = [opening]
    for one in messages:
        author = "the user" if not one.author else one.author
        lines.append(f"[{mark}] {author}{' (you)' if one.author == agent else ''}:\n{one.text}")
    lines.append(f"[{mark}] End of the last messages. The message to answer is this:\n\n")
    return "\n\n".join(lines)


def _mark(messages: Sequence[PastMessage]) -> str:
    seed = "\0".join(f"{one.id}\0{one.author}\0{one.text}" for one in messages)
    while True:
        seed = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()
        if all(seed[:_MARK] not in one.text for one in messages):
            return seed[:_MARK]


def _past(state: State, channel: ChannelId) -> tuple[PastMessage, ...]:
    return state.past.get(channel, Past()).messages
