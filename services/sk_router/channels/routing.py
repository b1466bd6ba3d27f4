"""Routing from the state: who is to answer a message that waits, as things stand now.

The rules are those of :mod:`sk_router.recipients`; here stands what they are told of the channel.
"""

from sk_bus.model import AgentName, ChannelId
from sk_router.decision import Decision
from sk_router.recipients import Room, Route, route
from sk_router.records import Answerers, Queued


def routed(decision: Decision, channel: ChannelId, entry: Queued) -> Route:
    """The route of a message. Whoever has gone since it was sent is still one that it names."""
    state = decision.state
    names = [one.name for one in state.config.agents]
    gone = [AgentName(one) for one in sorted(entry.barred) if one not in names]
    room = Room(
        channel=state.channels[channel],
        agents=(*names, *gone),
        answered=state.answerers.get(channel, Answerers()).agents,
    )
    return route(decision.whole(entry.text), room)
