"""Prepare: the members whose commands nobody knows yet are started, and their sessions opened.

A member that is answering elsewhere, or that there is no room for, is left alone. What is opened
here serves the member's first answer. No prompt is sent, so no model is loaded.
"""

from dataclasses import replace

from sk_bus.model import AgentName, ChannelId, CommandId, Problem
from sk_router.acp import openings
from sk_router.agents import lifecycle, lives, pool
from sk_router.decision import Decision
from sk_router.records import Preparation, Session
from sk_router.state import place


def prepare(decision: Decision, channel: ChannelId, command: CommandId) -> None:
    """Begin with every member that needs it; the command's result comes when all are through."""
    known = decision.state.preparations.get(channel) or Preparation()
    commands = (*known.commands, command)
    decision.put("preparations", channel, replace(known, commands=commands))
    for agent in decision.state.channels[channel].members:
        if agent in decision.state.announced or agent in known.awaited:
            continue
        if _may(decision, agent):
            _await(decision, channel, agent)
            _step(decision, channel, agent)
        else:
            _through(decision, channel, agent, "skipped")
    _settle(decision, channel)


def _may(decision: Decision, agent: AgentName) -> bool:
    """Whether preparing takes nothing from anybody."""
    if lives.configured(decision, agent) is None or decision.life(agent).claimed is not None:
        return False
    state = decision.state
    fits = pool.demand(state) < state.config.limits.maxRunningAgents
    return pool.counts(decision.life(agent)) or fits


def awaited(decision: Decision, channel: ChannelId, agent: AgentName) -> bool:
    known = decision.state.preparations.get(channel)
    return known is not None and agent in known.awaited


def advance(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """Take the next step with a member: the agent, its session."""
    if awaited(decision, channel, agent):
        _step(decision, channel, agent)
        _settle(decision, channel)


def _step(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    if decision.life(agent).claimed is None:
        lives.step(decision, agent, lifecycle.Claimed(channel))
    life = decision.life(agent)
    if not lifecycle.running(life):
        refusal = lives.start(decision, agent)
        if refusal is not None:
            _fail(decision, channel, agent, refusal)
        return
    if life.claimed == channel:
        lives.step(decision, agent, lifecycle.Claimed(channel))  # it runs now: it is busy
    key = place(channel, agent)
    session = decision.state.sessions.get(key) or Session()
    opened = session.inc == life.inc and key not in decision.state.gates
    if opened and session.sessionId is not None:
        _through(decision, channel, agent, "opened")
        return
    if not openings.under_way(decision, channel, agent):
        openings.begin(decision, channel, agent)
    openings.bound(decision, channel, agent)


def failed(decision: Decision, channel: ChannelId, agent: AgentName, reason: Problem) -> None:
    """The member can't be started, or gives no session, or has left."""
    if awaited(decision, channel, agent):
        _fail(decision, channel, agent, reason)
        _settle(decision, channel)


def _fail(decision: Decision, channel: ChannelId, agent: AgentName, reason: Problem) -> None:
    known = decision.state.preparations[channel]
    decision.put("preparations", channel, replace(known, problem=known.problem or reason))
    _through(decision, channel, agent, "failed")


def give_up(decision: Decision, agent: AgentName, reason: Problem) -> None:
    """The agent is stopped, or has ended: no channel waits for it any more."""
    for key in sorted(decision.state.preparations):
        failed(decision, ChannelId(key), agent, reason)


def _await(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    known = decision.state.preparations[channel]
    decision.put("preparations", channel, replace(known, awaited=(*known.awaited, agent)))


def _through(decision: Decision, channel: ChannelId, agent: AgentName, how: str) -> None:
    known = decision.state.preparations[channel]
    left = tuple(one for one in known.awaited if one != agent)
    outcome = {**known.outcome, how: (*known.outcome.get(how, ()), agent)}
    decision.put("preparations", channel, replace(known, awaited=left, outcome=outcome))
    turn = decision.talk(channel).turn
    answering = turn is not None and turn.agent == agent
    if decision.life(agent).claimed == channel and not answering:
        lives.step(decision, agent, lifecycle.Released(decision.mono))


def _settle(decision: Decision, channel: ChannelId) -> None:
    """Answer the commands once everybody is through."""
    known = decision.state.preparations[channel]
    if known.awaited:
        return
    decision.put("preparations", channel, None)
    if known.problem is not None and "opened" not in known.outcome:
        decision.refuse(known.commands, known.problem)
    else:
        ways = ("opened", "skipped", "failed")
        value = {how: list(known.outcome.get(how, ())) for how in ways}
        decision.succeed(known.commands, value)
