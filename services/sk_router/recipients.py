"""Who answers a message. The one function that routes is also the one that previews.

So far a direct conversation: its agent, always. Named channels get their rules beside it.
"""

from sk_bus.errors import problem
from sk_bus.model import AgentName, BlobRef, Channel, Text, WaitingFor
from sk_bus.queries import Answering, PreviewView
from sk_router.agents import lifecycle, pool
from sk_router.records import Life
from sk_router.state import State


def recipients(channel: Channel) -> tuple[AgentName, ...]:
    """The agents that answer the next message of ``channel``, in order."""
    return (AgentName(channel.direct),) if channel.direct else ()


def prompt(channel: Channel, agent: AgentName, text: Text) -> Text:
    """What the agent receives: the text verbatim, its own prefix before a command taken off."""
    if not channel.direct or isinstance(text, BlobRef):
        return text
    prefix = f"/{agent}:"
    return "/" + text[len(prefix) :] if text.startswith(prefix) else text


def preview(state: State, channel: Channel) -> PreviewView:
    """Who would answer now, and what that takes."""
    return PreviewView(answering=tuple(_answering(state, one) for one in recipients(channel)))


def _answering(state: State, agent: AgentName) -> Answering:
    life = state.lives.get(agent) or Life()
    if all(one.name != agent for one in state.config.agents):
        gone = problem("no-such-agent", "no such agent: {agent}", agent=agent)
        return Answering(agent=agent, problem=gone)
    waits = WaitingFor(agent=agent, channel=life.claimed) if life.claimed is not None else None
    if lifecycle.running(life) or pool.counts(life):
        return Answering(agent=agent, waitsFor=waits)
    if pool.demand(state) < state.config.limits.maxRunningAgents:
        return Answering(agent=agent, starts=True, waitsFor=waits)
    idle = pool.unused(state)
    if not idle:
        return Answering(agent=agent, starts=True, problem=pool.full(state))
    return Answering(agent=agent, starts=True, stops=idle[0])
