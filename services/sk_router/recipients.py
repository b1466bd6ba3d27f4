"""Who answers a message, and what of it they are sent: the table of the specification, as code.

One function routes and previews. It sees a text and a room, and knows nothing of agents that run,
wait or fail.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sk_bus.errors import problem
from sk_bus.model import AgentName, Channel, Problem
from sk_router.channels.mentions import Mention, folded, mentioned, mentions, unknown

_PREFIXED = re.compile(r"/([^\s:/]+):(?=\S)")
_MOST_NAMED = 10
_MOST_MARKED = 100
_BETWEEN = " \t\r\n,;:*_"  # what stands between mentions, and around them


@dataclass(frozen=True, slots=True)
class Room:
    """A channel, the names that can be mentioned, and who answered with a text, the last first."""

    channel: Channel
    agents: tuple[AgentName, ...]
    answered: tuple[AgentName, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """Who answers, one after the other; ``joins`` are those of them who aren't members yet.

    They are sent the message as it was written, or else a ``command``: that alone, without the
    mentions. ``unknown`` are names that nobody has; ``mentions`` say where each stands that counts,
    and each of those. Where nobody answers, ``problem`` says whom to mention.
    """

    recipients: tuple[AgentName, ...] = ()
    joins: tuple[AgentName, ...] = ()
    command: str | None = None
    unknown: tuple[str, ...] = ()
    problem: Problem | None = None
    mentions: tuple[Mention, ...] = ()


def route(text: str, room: Room) -> Route:
    """Who answers ``text`` in ``room``."""
    if room.channel.direct:
        return _direct(text, AgentName(room.channel.direct))
    found = mentions(text, room.agents)
    at = _beginning(text, found)
    command = text[at:] if text[at : at + 1] == "/" else None
    if command is not None and (agent := _addressed(command, room.agents)) is not None:
        before = {one.agent for one in found if one.start < at}
        if before <= {agent}:
            marks = tuple(one for one in found if one.start < at)
            return Route((agent,), _joins(room, (agent,)), _unprefixed(command), mentions=marks)
    agents, nobodys = mentioned(found), unknown(found)
    if agents and command is not None:
        command = _without(text, at, found)
    if not agents:
        agents = _unmentioned(room)
    if not agents:
        return Route(unknown=nobodys, problem=_nobody(room), mentions=found[:_MOST_MARKED])
    return Route(agents, _joins(room, agents), command, nobodys, mentions=found[:_MOST_MARKED])


def _direct(text: str, agent: AgentName) -> Route:
    """A direct conversation: its agent, verbatim but for its own prefix before a command."""
    if _addressed(text, (agent,)) is not None:
        return Route((agent,), command=_unprefixed(text))
    return Route((agent,), command=text if text.startswith("/") else None)


def _unmentioned(room: Room) -> tuple[AgentName, ...]:
    """Who answers where nobody is mentioned: whoever did last, or the only member."""
    members = room.channel.members
    last = [one for one in room.answered if one in members and one in room.agents]
    if last:
        return (last[0],)
    return members if len(members) == 1 else ()


def _addressed(text: str, names: Sequence[AgentName]) -> AgentName | None:
    """The agent whom ``/agent:command`` names."""
    prefixed = _PREFIXED.match(text)
    if prefixed is None:
        return None
    wanted = folded(prefixed[1])
    return next((name for name in names if folded(name) == wanted), None)


def _unprefixed(command: str) -> str:
    return "/" + _PREFIXED.sub("", command, count=1)


def _beginning(text: str, found: Sequence[Mention]) -> int:
    """Where the text begins behind the mentions that stand in front of it."""
    at = 0
    for mention in found:
        between = text[at : mention.start].strip(_BETWEEN)
        if mention.agent is None or between not in ("", "/"):
            break
        at = mention.end
    while at < len(text) and (text[at].isspace() or (at > 0 and text[at] in _BETWEEN)):
        at += 1
    return at


def _without(text: str, at: int, found: Sequence[Mention]) -> str:
    """A command from ``at`` on, without the mentions of agents and the space before each."""
    kept = []
    for mention in found:
        if mention.agent is not None and mention.start >= at:
            kept.append(text[at : mention.start].rstrip())
            at = mention.end
    return "".join([*kept, text[at:]])


def _joins(room: Room, agents: Sequence[AgentName]) -> tuple[AgentName, ...]:
    return tuple(agent for agent in agents if agent not in room.channel.members)


def _nobody(room: Room) -> Problem:
    """Why nobody answers, and whom to mention."""
    members = [name for name in room.channel.members if name in room.agents]
    if members:
        text = "nobody has answered here yet: mention {members}"
        return problem("no-recipient", text, members=_named(members))
    if room.agents:
        text = "nobody is in this channel yet: mention {agents}"
        return problem("no-members", text, agents=_named(room.agents))
    return problem("no-agents", "no agent is configured: add one in the settings")


def _named(names: Sequence[AgentName]) -> str:
    return ", ".join(f"@{name}" for name in names[:_MOST_NAMED])
