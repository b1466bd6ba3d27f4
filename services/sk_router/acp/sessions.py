"""Sessions: which conversation a frame belongs to, and how the agent answered when one was opened.

An agent may speak of a session before it has answered ``session/new``; such updates are kept as
they came, and taken once the answer names their channel. What it tells of the past while it takes
a session up again is not shown: we have it already.
"""

from dataclasses import replace
from typing import Any

import orjson

from sk_bus.errors import problem
from sk_bus.internal import SessionChanged
from sk_bus.model import AgentName, ChannelId, Problem, SessionId
from sk_router.acp import capabilities, failures, messages, openings, updates
from sk_router.agents import lives
from sk_router.channels import answers, turns
from sk_router.decision import Decision
from sk_router.records import Call, Early, Gate, Session
from sk_router.state import place

_MOST_EARLY = 200
_MOST_EARLY_CHARACTERS = 128 * 1024


# --- updates --------------------------------------------------------------------------------


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
        if _opening(decision, agent):
            _keep_early(decision, agent, params)
        else:
            decision.note(f"{agent}: an update of a session that we don't know")
        return
    _take(decision, channel, agent, params)


def _take(decision: Decision, channel: ChannelId, agent: AgentName, params: dict[str, Any]) -> None:
    change = updates.change(params.get("update"))
    gate = decision.state.gates.get(place(channel, agent))
    if gate is not None:
        _behind(decision, gate, change)
        return
    turn = decision.talk(channel).turn
    if turn is None or turn.agent != agent or turn.phase != "prompt":
        outside(decision, channel, agent)
    elif not isinstance(change, updates.CommandsSaid | updates.PassedOver):
        # Those may still be about the session itself, which was opened a moment ago.
        answers.saw(decision, channel, agent, turn)
    answers.take(decision, channel, agent, change)


def _behind(decision: Decision, gate: Gate, change: updates.Change) -> None:
    """While a session is taken up, what belongs to no message counts; the rest is the past."""
    match change:
        case updates.UsageSaid() | updates.CommandsSaid() | updates.PassedOver():
            answers.take(decision, gate.channel, gate.agent, change)
        case _ if not gate.replayed:
            gate = replace(gate, replayed=True)
    if gate.answered:
        gate = replace(gate, quiet=min(decision.mono + answers.QUIET, gate.until))
    decision.put("gates", place(gate.channel, gate.agent), gate)


def outside(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """A frame came outside a turn: it resets the idle clock, and what waits for quiet waits on."""
    life = decision.life(agent)
    # To the second: the clock that asks is checked every 30.
    if decision.mono - life.idle >= 1_000:
        decision.put("lives", agent, replace(life, idle=decision.mono))
    answers.heard(decision, channel, agent)


def _opening(decision: Decision, agent: AgentName) -> bool:
    return any(call.method == "session/new" for call in decision.life(agent).calls)


def _keep_early(decision: Decision, agent: AgentName, params: dict[str, Any]) -> None:
    kept = decision.state.early.get(agent) or Early()
    line = orjson.dumps(_without_meta(params)).decode()
    length = len(line) + sum(len(one) for one in kept.lines)
    if len(kept.lines) >= _MOST_EARLY or length > _MOST_EARLY_CHARACTERS:
        decision.note(f"{agent}: too many updates of a session that isn't open; one is dropped")
        return
    decision.put("early", agent, Early(lines=(*kept.lines, line)))


def _without_meta(params: dict[str, Any]) -> dict[str, Any]:
    """An update without its ``_meta``: of one line of 561 KB that qwen-code sends, all but 21."""
    update = params.get("update")
    if isinstance(update, dict):
        update = {key: value for key, value in update.items() if key != "_meta"}
    return {"sessionId": params.get("sessionId"), "update": update}


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
    waits = _opening(decision, agent)
    decision.put("early", agent, Early(lines=tuple(rest)) if rest and waits else None)


def _forget_early(decision: Decision, agent: AgentName) -> None:
    """What was kept for a session that isn't opened any more belongs to none."""
    if not _opening(decision, agent):
        decision.put("early", agent, None)


# --- answers --------------------------------------------------------------------------------


def answered(decision: Decision, agent: AgentName, call: Call, answer: messages.Answer) -> None:
    """A request about a session was answered."""
    channel = call.channel
    if not call.waited or channel is None:
        _unwaited(decision, agent, call, answer)
        return
    decision.untimer(f"session/{place(channel, agent)}")
    if call.method == "session/new":
        _opened(decision, channel, agent, answer)
    else:
        _taken_up(decision, channel, agent, answer)


def _unwaited(decision: Decision, agent: AgentName, call: Call, answer: messages.Answer) -> None:
    """A session that came too late is closed again, so that the agent needn't hold it."""
    result = answer.result if isinstance(answer.result, dict) else {}
    session = result.get("sessionId")
    _forget_early(decision, agent)
    if answer.error is not None:
        decision.note(f"{agent}: {call.method} failed: {messages.worded(answer.error)}")
    elif call.method == "session/new" and isinstance(session, str):
        openings.close_session(decision, agent, session)


def _opened(
    decision: Decision, channel: ChannelId, agent: AgentName, answer: messages.Answer
) -> None:
    result = answer.result if isinstance(answer.result, dict) else {}
    session = result.get("sessionId")
    if answer.error is not None or not isinstance(session, str):
        _forget_early(decision, agent)
        reason, code = _failure(decision, agent, answer)
        turns.session_failed(decision, channel, agent, reason, code)
        return
    if (agent, decision.life(agent).inc, session) in decision.state.routes:
        _forget_early(decision, agent)
        reason = problem(
            "session-twice", "{agent} gave one session to two channels; restart it", agent=agent
        )
        turns.session_failed(decision, channel, agent, reason, "agent-unavailable")
        return
    before = decision.state.sessions.get(place(channel, agent)) or Session()
    decision.say(
        SessionChanged(
            channel=channel,
            agent=agent,
            inc=decision.life(agent).inc,
            sessionId=SessionId(session),
            since=before.since,
        )
    )
    _take_early(decision, channel, agent, session)
    turns.session_opened(decision, channel, agent)


def _failure(decision: Decision, agent: AgentName, answer: messages.Answer) -> tuple[Problem, str]:
    if answer.error is None:
        reason = problem("no-session", "{agent} opened no session", agent=agent)
        return reason, "agent-unavailable"
    reason = failures.of(agent, decision.life(agent), answer.error)
    return reason, "login-needed" if failures.wants_login(answer.error) else "agent-unavailable"


def _taken_up(
    decision: Decision, channel: ChannelId, agent: AgentName, answer: messages.Answer
) -> None:
    """``session/resume`` or ``session/load`` was answered, by anything at all when it succeeded."""
    key = place(channel, agent)
    gate = decision.state.gates.get(key)
    session = decision.state.sessions.get(key) or Session()
    if gate is None or session.sessionId is None:
        decision.note(f"{agent}: a session was taken up that nobody needs any more")
    elif answer.error is None:
        # Some send the past after the answer: the gate stays until nothing more comes.
        quiet, until = decision.mono + answers.QUIET, decision.mono + answers.LATE
        decision.put("gates", key, replace(gate, answered=True, quiet=quiet, until=until))
        decision.timer(f"gate/{key}", quiet)
    elif failures.wants_login(answer.error):
        openings.ungate(decision, channel, agent)
        openings.bind(decision, channel, agent, session.sessionId, 0)
        reason, code = _failure(decision, agent, answer)
        turns.session_failed(decision, channel, agent, reason, code)
    elif gate.method == "session/resume" and capabilities.can_load(decision.life(agent)):
        openings.take_up(decision, channel, agent, session.sessionId, "session/load")
        turns.session_opened(decision, channel, agent)  # not yet: so it waits on, with a new bound
    else:
        said = messages.worded(answer.error)
        why = problem(
            "session-gone", "{agent} no longer has its session: {said}", agent=agent, said=said
        )
        openings.lose(decision, channel, agent, why)
        turns.session_opened(decision, channel, agent)


def settled(decision: Decision, key: str) -> None:
    """Nothing more of the past comes, or there was time enough for it."""
    gate = decision.state.gates.get(key)
    if gate is None or not gate.answered:
        return
    if decision.mono < gate.quiet:
        decision.timer(f"gate/{key}", gate.quiet)
        return
    channel, agent = gate.channel, gate.agent
    session = decision.state.sessions.get(key) or Session()
    if gate.method == "session/load" and not gate.replayed and session.seen is not None:
        # A load replays the whole session. Some agents say yes to any id, and remember nothing.
        why = problem("nothing-replayed", "{agent} knew nothing of its session", agent=agent)
        if session.sessionId is not None:
            openings.close_session(decision, agent, session.sessionId)
        openings.lose(decision, channel, agent, why)
    openings.ungate(decision, channel, agent)
    turns.session_opened(decision, channel, agent)


def late(decision: Decision, about: str) -> None:
    """The session of a channel takes too long: the turn fails, the agent stays ready.

    ``about`` is the place of the session; in logs of older code the channel alone.
    """
    channel_, _, agent_ = about.partition("/")
    channel = ChannelId(channel_)
    for key in [agent_] if agent_ else sorted(decision.state.lives):
        agent = AgentName(key)
        for call in openings.pending(decision, channel, agent):
            openings.give_up(decision, agent, call)
            reason = problem(
                "session-late",
                "{agent} gave no answer to {method} in {seconds} s",
                agent=agent,
                method=call.method,
                seconds=lives.patience(decision, agent),
            )
            if call.method != "session/new":
                # Not tried again: what is too long once is so for good, more often than not.
                openings.lose(decision, channel, agent, reason)
            turns.session_failed(decision, channel, agent, reason, "agent-unavailable")
