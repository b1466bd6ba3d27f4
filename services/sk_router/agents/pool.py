"""How many agents may live at once, and which idle one makes room.

Pure counting over the lives and the configuration; who is stopped or refused is carried out
elsewhere. The limit counts every agent that has a process: starting, running and stopping ones.
"""

from sk_bus.errors import problem
from sk_bus.model import AgentName, AgentState, Problem
from sk_router.records import Life
from sk_router.state import State


def counts(life: Life) -> bool:
    """Whether it lives on, or is about to: one that is being stopped makes room."""
    return bool(life.wanted) or (life.alive and not life.stopping and not life.halted)


def living(state: State) -> int:
    """Agents that have a process."""
    return sum(life.alive for life in state.lives.values())


def demand(state: State) -> int:
    """Agents that will have a process once what is being stopped has gone."""
    return sum(counts(life) for life in state.lives.values())


def in_use(state: State, agent: str) -> bool:
    """Whether stopping it would take something from somebody."""
    life = state.lives[agent]
    return (
        life.state is not AgentState.READY  # a turn makes it busy
        or any(call.waited for call in life.calls)
        or any(ask.agent == agent for ask in state.asks.values())
    )


def unused(state: State) -> list[AgentName]:
    """Agents that run and that nobody uses, the least recently used first."""
    found = [
        (life.idle, agent)
        for agent, life in state.lives.items()
        if life.alive and not life.stopping and not in_use(state, agent)
    ]
    return [AgentName(agent) for _, agent in sorted(found)]


def idle_since(state: State, mono: int) -> list[AgentName]:
    """Agents that nobody has used for ``limits.stopIdleAgentsAfter``."""
    bound = state.config.limits.stopIdleAgentsAfter
    if bound == 0:
        return []
    return [agent for agent in unused(state) if mono - state.lives[agent].idle >= bound]


def excess(state: State) -> list[AgentName]:
    """Unused agents beyond the limit, as after it was lowered."""
    beyond = demand(state) - state.config.limits.maxRunningAgents
    return unused(state)[:beyond] if beyond > 0 else []


def launchable(state: State) -> list[AgentName]:
    """Wanted agents that there is room for now, in the order in which they were asked for."""
    room = state.config.limits.maxRunningAgents - living(state)
    waiting = sorted(
        (life.wanted, agent)
        for agent, life in state.lives.items()
        if life.wanted and not life.alive
    )
    return [AgentName(agent) for _, agent in waiting[: max(room, 0)]]


def full(state: State) -> Problem:
    """Why no other agent can start."""
    order = [agent.name for agent in state.config.agents]
    names = [name for name in order if name in state.lives and counts(state.lives[name])]
    names += sorted(
        AgentName(name) for name, life in state.lives.items() if counts(life) and name not in order
    )
    return problem(
        "too-many-agents",
        "too many agents running: {count} agent(s) busy ({names}), the limit is {limit}",
        count=len(names),
        names=", ".join(names),
        limit=state.config.limits.maxRunningAgents,
    )
