"""Who would answer a message now, and what that takes: the router's answer to ``Preview``.

It asks the function that routes, then thinks the answers through one after the other: who joins,
starts and waits, and whom a full house would stop. Nothing changes by being asked.
"""

from collections.abc import Sequence
from dataclasses import replace

from sk_bus.commands import Send
from sk_bus.errors import problem
from sk_bus.model import AgentName, Channel, ChannelId, CommandId, Problem, WaitingFor
from sk_bus.queries import Answering, Mentioned, PreviewView
from sk_router import closing
from sk_router.agents import pool
from sk_router.channels.mentions import Mention
from sk_router.channels.routing import room
from sk_router.recipients import Room, Route, route
from sk_router.records import Life, Talk
from sk_router.state import State
from sk_router.texts import head


def preview(state: State, channel: Channel, text: str) -> PreviewView:
    """Who would answer ``text`` now, and what that takes."""
    routed = route(text, _foreseen(state, channel))
    refused = _refused(state, channel)
    if refused is not None:
        return PreviewView(answering=(), unknown=routed.unknown, problem=refused)
    house = _House(state, channel.id)
    return PreviewView(
        answering=tuple(
            _answering(state, channel.id, one, routed, house, first=index == 0)
            for index, one in enumerate(routed.recipients)
        ),
        unknown=routed.unknown,
        problem=routed.problem,
        command=routed.command,
        mentions=_marks(text, routed.mentions),
    )


def _foreseen(state: State, channel: Channel) -> Room:
    """The channel as it will be when what is under way and what waits there has been answered."""
    now = room(state, channel)
    talk, round_ = state.talks.get(channel.id) or Talk(), state.rounds.get(channel.id)
    if talk.turn is not None:
        now = _after(now, (talk.turn.agent,))
    if round_ is not None:
        now = _after(now, round_.then)
    for message in talk.queue:
        routed = route(head(state.waiting[message].text), now)
        members = (*now.channel.members, *routed.joins)
        joined = replace(now, channel=replace(now.channel, members=members))
        now = _after(joined, routed.recipients)
    return now


def _after(now: Room, agents: Sequence[AgentName]) -> Room:
    """The room when the agents have answered one after the other."""
    last_first = tuple(dict.fromkeys([*reversed(agents), *now.answered]))
    return replace(now, answered=last_first)


class _House:
    """The agents that have a process, as they will be when the ones before have answered."""

    def __init__(self, state: State, channel: ChannelId) -> None:
        self._state = state
        self._most = state.config.limits.maxRunningAgents
        self._living = {AgentName(one) for one, life in state.lives.items() if pool.counts(life)}
        here = [one for one in self._living if state.lives[one].claimed == channel]
        self._idle = [*pool.unused(state), *sorted(here)]

    def enter(self, agent: AgentName) -> tuple[bool, AgentName | None, Problem | None]:
        """Let the agent answer: whether it starts for that, whom it pushes out, or why it can't."""
        starts, stops = agent not in self._living, None
        if starts and len(self._living) >= self._most:
            stops = next((one for one in self._idle if one != agent), None)
            if stops is None:
                return True, None, pool.full(self._state)
            self._living.discard(stops)
        self._living.add(agent)
        self._idle = [*(one for one in self._idle if one not in (agent, stops)), agent]
        return starts, stops, None


def _answering(
    state: State, channel: ChannelId, agent: AgentName, routed: Route, house: _House, *, first: bool
) -> Answering:
    joins = agent in routed.joins
    if all(one.name != agent for one in state.config.agents):
        gone = problem("no-such-agent", "no such agent: {agent}", agent=agent)
        return Answering(agent=agent, joins=joins, problem=gone)
    waits = _waits(state, channel, agent, first=first)
    starts, stops, full = house.enter(agent)
    return Answering(
        agent=agent, joins=joins, starts=starts, waitsFor=waits, stops=stops, problem=full
    )


def _waits(state: State, channel: ChannelId, agent: AgentName, *, first: bool) -> WaitingFor | None:
    """Whose turn is before that of the agent: its own elsewhere, or the one of this channel."""
    claimed = (state.lives.get(agent) or Life()).claimed
    if claimed is not None and claimed != channel:
        return WaitingFor(agent=agent, channel=claimed)
    if not first:
        return None  # it waits for those who are named before it
    turn = (state.talks.get(channel) or Talk()).turn
    if turn is not None:
        return WaitingFor(agent=turn.agent, channel=channel)
    shown = state.shown.get(channel)
    if shown is None:
        return None
    if shown.waitingFor is not None:
        return shown.waitingFor
    return WaitingFor(agent=shown.answering, channel=channel) if shown.answering else None


def _refused(state: State, channel: Channel) -> Problem | None:
    """Why a message would not be accepted now."""
    sent = Send(id=CommandId(""), channel=channel.id, text="")
    if (late := closing.refusal(state, sent)) is not None:
        return late
    if channel.id in state.deletions:
        return problem("being-deleted", "the channel is being deleted")
    return None


def _marks(text: str, mentions: tuple[Mention, ...]) -> tuple[Mentioned, ...]:
    """Where the mentions stand, counted as a page counts."""
    marks = []
    at = units = 0
    for one in mentions:
        units += _units(text[at : one.start])
        length = _units(text[one.start : one.end])
        marks.append(Mentioned(start=units, length=length, agent=one.agent))
        at, units = one.end, units + length
    return tuple(marks)


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)
