"""What cuts turns short: a cancel, an agent that is stopped or restarted, an agent that has gone.

ACP's order is kept: ``session/cancel`` first, then an answer to each open permission request, and
the turn goes on until the prompt's response, within a bound.
"""

from dataclasses import replace

from sk_bus.errors import problem
from sk_bus.model import AgentName, ChannelId
from sk_router.acp import messages, openings
from sk_router.agents import lifecycle, lives
from sk_router.channels import (
    answers,
    growth,
    notices,
    permissions,
    preparations,
    queue,
    rooms,
    turns,
)
from sk_router.decision import Became, Decision
from sk_router.state import place

CANCEL_BOUND = 10_000


def cancel(decision: Decision, channel: ChannelId) -> None:
    """Stop the answer under way, those still to answer, and what waits."""
    decision.put("rounds", channel, None)
    talk = decision.talk(channel)
    dropped = problem("cancelled", "cancelled")
    for entry in queue.emptied(decision, channel):
        queue.tell_user(decision, channel, entry, queued=False, error=dropped)
    turn = talk.turn
    if turn is None:
        return
    if turn.phase == "prompt":
        interrupt(decision, channel)
    else:
        turns.ended(decision, channel, stop_reason="cancelled", error=None)


def leave(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """The agent leaves the channel: its answer there ends as by a stop, those after it go on."""
    turn = decision.talk(channel).turn
    rooms.leave(decision, channel, agent)
    if turn is not None and turn.agent == agent:
        if turn.phase == "prompt":
            interrupt(decision, channel)
        else:
            turns.ended(decision, channel, stop_reason="cancelled", error=None)


def interrupt(decision: Decision, channel: ChannelId) -> None:
    """Ask the agent to stop answering, in ACP's order; the turn ends with its response."""
    turn = decision.talk(channel).turn
    if turn is None or turn.phase != "prompt" or turn.cancelled:
        return
    agent = turn.agent
    turns.put_turn(decision, channel, replace(turn, cancelled=True))
    session = decision.state.sessions[place(channel, agent)]
    if lives.reachable(decision.life(agent)) and session.sessionId is not None:
        lives.write(decision, agent, messages.cancel(session.sessionId))
    permissions.cancel_all(decision, agent, by="stop", channel=channel)
    if turn.messageId is not None:
        growth.end_tools(decision, turn.messageId, cancelled=True)
    decision.timer(f"cancel/{channel}", decision.mono + CANCEL_BOUND)


def stayed_deaf(decision: Decision, channel: ChannelId) -> None:
    """The bound on a cancel has passed: the channel is freed, the agent goes down the ladder."""
    turn = decision.talk(channel).turn
    if turn is None or not turn.cancelled:
        return
    lives.step(decision, turn.agent, lifecycle.StayedDeaf())
    turns.ended(decision, channel, stop_reason="cancelled", error=None)


def stop_agent(decision: Decision, agent: AgentName, reason: lifecycle.StopReason) -> None:
    """Before an agent is stopped: end its answer, and let nothing that waits start it again."""
    stopped = lifecycle.was_stopped(reason)
    preparations.give_up(decision, agent, stopped)
    for key in sorted(decision.state.talks.keys() | decision.state.rounds.keys()):
        channel = ChannelId(key)
        waiting = []
        if decision.state.channels[channel].direct == agent:
            waiting = queue.emptied(decision, channel)
        queue.bar(decision, channel, agent, reason)
        turn = decision.talk(channel).turn
        if turn is not None and turn.agent == agent:
            if turn.phase == "prompt":
                # Begun before what is said of the messages behind it, so that it stands before.
                answers.current(decision, channel, agent)
                interrupt(decision, channel)
            else:
                turns.unavailable(decision, channel, stopped)
        for entry in waiting:
            if entry.shown:
                queue.tell_user(decision, channel, entry, queued=False)
            notices.say(
                decision,
                channel,
                agent,
                "agent-unavailable",
                error=stopped,
                answers=entry.messageId,
            )
    permissions.cancel_all(decision, agent, by="stop")


def restart_agent(decision: Decision, agent: AgentName) -> None:
    """Before an agent is restarted: end its answer; what waits goes on with the new life."""
    for key in sorted(decision.state.talks):
        channel = ChannelId(key)
        turn = decision.talk(channel).turn
        if turn is not None and turn.agent == agent:
            if turn.phase == "prompt":
                interrupt(decision, channel)
            else:
                turns.put_turn(decision, channel, replace(turn, phase="agent", inc=0))
    permissions.cancel_all(decision, agent, by="stop")


def agent_became(decision: Decision, became: Became) -> None:
    """An agent runs, or has gone."""
    if not became.gone:
        claimed = decision.life(became.agent).claimed
        if claimed is not None:
            turns.agent_ready(decision, claimed, became.agent)
        for key in sorted(decision.state.preparations):
            preparations.advance(decision, ChannelId(key), became.agent)
        return
    agent, reason = became.agent, became.problem
    assert reason is not None
    permissions.cancel_all(decision, agent, by="agent")
    if not decision.life(agent).wanted:
        preparations.give_up(decision, agent, reason)
    for key, tail in sorted(decision.state.tails.items()):
        if tail.agent == agent and tail.unasked:
            answers.forget_tail(decision, key)
    decision.put("early", agent, None)
    for _, gate in sorted(decision.state.gates.items()):
        if gate.agent == agent:
            openings.ungate(decision, gate.channel, agent)
    for key in sorted(decision.state.talks):
        channel = ChannelId(key)
        turn = decision.talk(channel).turn
        if turn is None or turn.agent != agent:
            continue
        if turn.phase == "prompt" and turn.inc == became.inc:
            turns.ended(decision, channel, stop_reason=None, error=reason)
        elif not decision.life(agent).wanted:
            turns.unavailable(decision, channel, reason)
