"""Carries out what the life of an agent asks for: orders to the executor, states to everyone.

The one place that writes to an agent: every line gets its number here. What other parts must hear
of a life (it runs, it has gone) is left in ``decision.became``.
"""

from dataclasses import replace
from typing import Any

from sk_bus.events import AgentStateChanged
from sk_bus.internal import DoSend, DoStart, DoStop
from sk_bus.model import AgentConfig, AgentName, ChannelId, CommandId, Problem
from sk_router.acp import messages
from sk_router.agents import lifecycle, pool
from sk_router.decision import Became, Decision
from sk_router.records import Call, Life

_START_TIMEOUT = 30_000


def configured(decision: Decision, agent: AgentName) -> AgentConfig | None:
    return next((one for one in decision.state.config.agents if one.name == agent), None)


def patience(decision: Decision, agent: AgentName) -> float:
    """How long the agent may take to start, and to open a session, in seconds."""
    milliseconds = patience_ms(decision, agent)
    return milliseconds / 1000 if milliseconds % 1000 else milliseconds // 1000


def patience_ms(decision: Decision, agent: AgentName) -> int:
    """The same in milliseconds."""
    config = configured(decision, agent)
    return config.startTimeout if config is not None else _START_TIMEOUT


def step(decision: Decision, agent: AgentName, event: lifecycle.Event) -> None:
    """Let ``event`` happen to the agent."""
    before = decision.life(agent)
    life, instructions = lifecycle.handle(before, event)
    if life != before:
        decision.put("lives", agent, life)
    for instruction in instructions:
        _perform(decision, agent, life, instruction)


def _perform(
    decision: Decision, agent: AgentName, life: Life, instruction: lifecycle.Instruction
) -> None:
    match instruction:
        case lifecycle.Show():
            show(decision, agent)
        case lifecycle.Spawn():
            decision.say(DoStart(agent=agent, inc=life.inc, digest=life.digest))
            decision.timer(f"start/{agent}", decision.mono + patience_ms(decision, agent))
        case lifecycle.Initialize():
            call(decision, agent, "initialize", messages.INITIALIZE)
            # Anew: a login shell may have been slow, which is no fault of the agent's.
            decision.timer(f"start/{agent}", decision.mono + patience_ms(decision, agent))
        case lifecycle.Terminate():
            decision.untimer(f"start/{agent}")
            decision.say(DoStop(agent=agent, inc=life.inc))
        case lifecycle.Succeed(commands, value):
            decision.succeed(commands, value)
        case lifecycle.Refuse(commands, problem):
            decision.refuse(commands, problem)
        case lifecycle.TellReady():
            decision.untimer(f"start/{agent}")
            decision.became.append(Became(agent, gone=False))
        case lifecycle.TellGone(inc, problem, taken):
            decision.untimer(f"start/{agent}")
            decision.became.append(Became(agent, gone=True, inc=inc, problem=problem, taken=taken))


def show(decision: Decision, agent: AgentName) -> None:
    """Say the agent's state to everyone."""
    life = decision.life(agent)
    decision.say(
        AgentStateChanged(
            agent=agent,
            state=life.state,
            error=life.error,
            outdated=life.outdated,
            stopping=life.stopping,
        )
    )


def start(decision: Decision, agent: AgentName, command: CommandId | None = None) -> Problem | None:
    """Start the agent if it doesn't run, stopping an idle one for it where the limit asks so.

    Returns why it can't be: then nothing was done.
    """
    if not pool.counts(decision.life(agent)):
        state = decision.state
        if pool.demand(state) >= state.config.limits.maxRunningAgents:
            idle = pool.unused(state)
            if not idle:
                return pool.full(state)
            step(decision, idle[0], lifecycle.StopAsked("evicted"))
    step(decision, agent, lifecycle.StartAsked(decision.seq, command))
    launch(decision)
    return None


def launch(decision: Decision) -> None:
    """Begin the wanted starts that there is room for."""
    for agent in pool.launchable(decision.state):
        config = configured(decision, agent)
        if config is None:
            step(decision, agent, lifecycle.StopAsked("removed"))
        else:
            step(decision, agent, lifecycle.Launched(decision.seq, config))


def reachable(life: Life) -> bool:
    """Whether a line can be delivered to it now."""
    return life.alive and life.up and not life.stopping


def write(decision: Decision, agent: AgentName, line: str) -> int:
    """Write one line to the agent; returns its number."""
    life = decision.life(agent)
    n = life.n + 1
    decision.put("lives", agent, replace(life, n=n))
    decision.say(DoSend(agent=agent, inc=life.inc, n=n, line=line))
    return n


def call(
    decision: Decision,
    agent: AgentName,
    method: str,
    params: dict[str, Any],
    channel: ChannelId | None = None,
    *,
    waited: bool = True,
) -> int:
    """Send a request, whose answer will be known by its number."""
    n = decision.life(agent).n + 1
    write(decision, agent, messages.request(n, method, params))
    life = decision.life(agent)
    made = Call(n=n, method=method, channel=channel, waited=waited)
    decision.put("lives", agent, replace(life, calls=(*life.calls, made)))
    return n


def called(decision: Decision, agent: AgentName, request_id: Any) -> Call | None:
    """Take the request that an answer belongs to; ``None`` when nothing waits for it."""
    life = decision.life(agent)
    found = next((one for one in life.calls if messages.same_id(one.n, request_id)), None)
    if found is not None:
        left = tuple(one for one in life.calls if one is not found)
        decision.put("lives", agent, replace(life, calls=left))
    return found


def give_up(decision: Decision, agent: AgentName, call_: Call) -> None:
    """Wait no longer for an answer; when it comes, it will be known as one that nobody awaits."""
    life = decision.life(agent)
    calls = tuple(replace(one, waited=False) if one is call_ else one for one in life.calls)
    decision.put("lives", agent, replace(life, calls=calls))
