"""Sessions: which conversation a frame belongs to, and what comes before that is known.

An agent may speak of a session before it has answered ``session/new``; such updates are kept as
they came, and taken once the answer names their channel. A session ends with its agent's life.
"""

from dataclasses import replace
from typing import Any

import orjson

from sk_bus.errors import problem
from sk_bus.internal import SessionChanged
from sk_bus.model import AgentName, ChannelId, Problem, SessionId
from sk_router.acp import messages, updates
from sk_router.agents import lives
from sk_router.channels import answers, turns
from sk_router.decision import Decision
from sk_router.records import Call, Early, Session
from sk_router.state import place

_MOST_EARLY = 200
_MOST_EARLY_CHARACTERS = 128 * 1024


def channel_of(decision: Decision, agent: AgentName, params: dict[str, Any]) -> ChannelId | None:
    """The channel that a frame's ``sessionId`` stands for in this life of the agent."""
    session = params.get("sessionId")
    if not isinstance(session, str):
        return None
    return decision.state.routes.get((agent, decision.life(agent).inc, session))


def updated(decision: Decision, agent: AgentName, params: dict[str, Any]) -> None:
    """A ``session/update`` came."""
    channel = channel_of(decision, agent, params)
    if channel is None:
        if any(call.method == "session/new" for call in decision.life(agent).calls):
            _keep_early(decision, agent, params)
        else:
            decision.note(f"{agent}: an update of a session that we don't know")
        return
    _take(decision, channel, agent, params)


def _take(decision: Decision, channel: ChannelId, agent: AgentName, params: dict[str, Any]) -> None:
    turn = decision.talk(channel).turn
    if turn is None or turn.agent != agent or turn.phase != "prompt":
        outside(decision, channel, agent)
    answers.take(decision, channel, agent, updates.change(params.get("update")))


def outside(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """A frame came outside a turn: it resets the idle clock, and what waits for quiet waits on."""
    life = decision.life(agent)
    # To the second: the clock that asks is checked every 30.
    if decision.mono - life.idle >= 1_000:
        decision.put("lives", agent, replace(life, idle=decision.mono))
    answers.heard(decision, channel, agent)


def _keep_early(decision: Decision, agent: AgentName, params: dict[str, Any]) -> None:
    kept = decision.state.early.get(agent) or Early()
    line = orjson.dumps(params).decode()
    length = len(line) + sum(len(one) for one in kept.lines)
    if len(kept.lines) >= _MOST_EARLY or length > _MOST_EARLY_CHARACTERS:
        decision.note(f"{agent}: too many updates of a session that isn't open; one is dropped")
        return
    decision.put("early", agent, Early(lines=(*kept.lines, line)))


def opened(decision: Decision, agent: AgentName, call: Call, answer: messages.Answer) -> None:
    """``session/new`` was answered."""
    channel = call.channel
    assert channel is not None
    decision.untimer(f"session/{channel}")
    result = answer.result if isinstance(answer.result, dict) else {}
    session = result.get("sessionId")
    if answer.error is not None or not isinstance(session, str):
        reason, code = _failure(agent, answer)
        turns.session_failed(decision, channel, agent, reason, code)
        return
    before = decision.state.sessions.get(place(channel, agent)) or Session()
    decision.say(
        SessionChanged(
            channel=channel,
            agent=agent,
            inc=decision.life(agent).inc,
            sessionId=SessionId(session),
            seen=before.seen,
        )
    )
    _take_early(decision, channel, agent, session)
    turns.session_opened(decision, channel, agent)


def _take_early(decision: Decision, channel: ChannelId, agent: AgentName, session: str) -> None:
    kept = decision.state.early.get(agent)
    if kept is None:
        return
    rest = []
    for line in kept.lines:
        params = orjson.loads(line)
        if params.get("sessionId") == session:
            _take(decision, channel, agent, params)
        else:
            rest.append(line)
    waits = any(call.method == "session/new" for call in decision.life(agent).calls)
    decision.put("early", agent, Early(lines=tuple(rest)) if rest and waits else None)


def _failure(agent: AgentName, answer: messages.Answer) -> tuple[Problem, str]:
    if answer.error is None:
        reason = problem("no-session", "{agent} opened no session", agent=agent)
        return reason, "agent-unavailable"
    said = messages.worded(answer.error)
    code = messages.code(answer.error)
    reason = Problem(id="agent-error", message=said, params={"agent": agent, "code": code})
    if code == messages.AUTHENTICATION_REQUIRED:
        return reason, "login-needed"
    return reason, "agent-unavailable"


def late(decision: Decision, channel: ChannelId) -> None:
    """``session/new`` of a channel took too long: its turn fails, the agent stays ready."""
    for key, life in sorted(decision.state.lives.items()):
        agent = AgentName(key)
        found = [one for one in life.calls if one.method == "session/new"]
        found = [one for one in found if one.channel == channel]
        if found:
            lives.called(decision, agent, found[0].n)
            reason = problem("session-late", "{agent} opened no session in time", agent=agent)
            turns.session_failed(decision, channel, agent, reason, "agent-unavailable")
