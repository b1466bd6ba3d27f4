"""Routing from the state: who is to answer a message that waits, as things stand now.

The rules are those of :mod:`sk_router.recipients`; here stands what they are told of the channel.
"""

from collections.abc import Iterable
from functools import lru_cache

from sk_bus.model import AgentName, Channel, ChannelId
from sk_router.decision import Decision
from sk_router.recipients import Room, Route, route
from sk_router.records import Answerers, Queued
from sk_router.state import State

# A message that waits is routed after every input, and nearly always as before.
_route = lru_cache(maxsize=256)(route)


def room(state: State, channel: Channel, gone: Iterable[str] = ()) -> Room:
    """A channel as the rules see it; ``gone`` are names that were configured a moment ago."""
    names = [one.name for one in state.config.agents]
    gone_names = [AgentName(one) for one in gone if one not in names]
    return Room(
        channel=channel,
        agents=(*names, *gone_names),
        answered=state.answerers.get(channel.id, Answerers()).agents,
    )


def routed(decision: Decision, channel: ChannelId, entry: Queued) -> Route:
    """The route of a message. Whoever has gone since it was sent is still one that it names."""
    now = room(decision.state, decision.state.channels[channel], sorted(entry.barred))
    return _route(decision.whole(entry.text), now)
