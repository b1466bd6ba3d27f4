"""Who would answer a message now, and what that takes: the router's answer to ``Preview``.

It asks the function that routes and looks at the state as it is; nothing changes by being asked.
"""

from sk_bus.errors import problem
from sk_bus.model import AgentName, Channel, ChannelId, WaitingFor
from sk_bus.queries import Answering, PreviewView
from sk_router.agents import lifecycle, pool
from sk_router.channels.routing import room
from sk_router.recipients import route
from sk_router.records import Life
from sk_router.state import State


def preview(state: State, channel: Channel, text: str) -> PreviewView:
    """Who would answer ``text`` now, and what that takes."""
    routed = route(text, room(state, channel))
    return PreviewView(
        answering=tuple(
            _answering(state, one, joins=one in routed.joins) for one in routed.recipients
        ),
        unknown=routed.unknown,
        problem=routed.problem,
    )


def _answering(state: State, agent: AgentName, *, joins: bool) -> Answering:
    life = state.lives.get(agent) or Life()
    if all(one.name != agent for one in state.config.agents):
        gone = problem("no-such-agent", "no such agent: {agent}", agent=agent)
        return Answering(agent=agent, problem=gone)
    claimed = life.claimed
    waits = WaitingFor(agent=agent, channel=ChannelId(claimed)) if claimed is not None else None
    if lifecycle.running(life) or pool.counts(life):
        return Answering(agent=agent, joins=joins, waitsFor=waits)
    if pool.demand(state) < state.config.limits.maxRunningAgents:
        return Answering(agent=agent, joins=joins, starts=True, waitsFor=waits)
    idle = pool.unused(state)
    if not idle:
        return Answering(agent=agent, joins=joins, starts=True, problem=pool.full(state))
    return Answering(agent=agent, joins=joins, starts=True, stops=idle[0])
