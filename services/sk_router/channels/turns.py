"""Turns: the queue of a channel, and one answer at a time per channel and per agent.

Messages are answered in the order of acceptance. A turn claims its agent from the moment it leaves
the queue until the prompt's response (or the bound on a cancel); it ends exactly once, here.
"""

from dataclasses import replace
from typing import Any

from sk_bus.errors import problem
from sk_bus.events import MessageUpdated, TurnChanged
from sk_bus.internal import DoTurn
from sk_bus.model import (
    AgentName,
    ChannelId,
    Message,
    MessageId,
    Problem,
    Role,
    Text,
    TextPart,
    WaitingFor,
)
from sk_router.acp import messages
from sk_router.agents import lifecycle, lives
from sk_router.channels import answers, permissions
from sk_router.decision import Became, Decision
from sk_router.recipients import prompt, recipients
from sk_router.state import Queued, Talk, Turn, place

CANCEL_BOUND = 10_000


def send(decision: Decision, channel: ChannelId, text: Text) -> MessageId:
    """Accept a user's message; it is answered now, or waits."""
    made = decision.message_id()
    entry = Queued(messageId=made, seq=decision.seq, createdAt=decision.ts, text=text)
    talk = decision.talk(channel)
    waits = bool(talk.queue) or _hindrance(decision, channel) is not None
    _tell_user(decision, channel, entry, queued=waits)
    decision.put("waiting", made, replace(entry, shown=waits))
    decision.put_talk(channel, replace(talk, queue=(*talk.queue, made)))
    return made


def _tell_user(
    decision: Decision,
    channel: ChannelId,
    entry: Queued,
    *,
    queued: bool,
    error: Problem | None = None,
) -> None:
    message = Message(
        id=entry.messageId,
        channel=channel,
        createdAt=entry.createdAt,
        role=Role.USER,
        parts=(TextPart(text=entry.text),),
        queued=queued,
        error=error,
    )
    decision.say(MessageUpdated(channel=channel, message=message))


def _hindrance(decision: Decision, channel: ChannelId) -> str | WaitingFor | int | None:
    """What keeps the next message of a channel waiting: a turn, another channel, or a time."""
    if decision.talk(channel).turn is not None:
        return "turn"
    (agent,) = recipients(decision.state.channels[channel])
    claimed = decision.life(agent).claimed
    if claimed is not None:
        return WaitingFor(agent=agent, channel=claimed)
    tail = decision.state.tails.get(place(channel, agent))
    if tail is not None and not tail.unasked and decision.mono < tail.quiet:
        return tail.quiet
    return None


def dispatch(decision: Decision) -> None:
    """Begin what can begin, in the order of acceptance."""
    if not decision.state.talks:
        return
    taken: set[AgentName] = set()
    waiting = sorted(
        (decision.state.waiting[talk.queue[0]].seq, channel)
        for channel, talk in decision.state.talks.items()
        if talk.queue
    )
    for _, key in waiting:
        channel = ChannelId(key)
        (agent,) = recipients(decision.state.channels[channel])
        if agent in taken:
            continue
        hindrance = _hindrance(decision, channel)
        if isinstance(hindrance, int):
            decision.timer(f"quiet/{channel}", hindrance)
        if hindrance is None:
            _begin(decision, channel, agent)
        taken.add(agent)  # those behind wait, also for one that waits for quiet


def _begin(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    talk = decision.talk(channel)
    entry, rest = decision.state.waiting[talk.queue[0]], talk.queue[1:]
    decision.put("waiting", entry.messageId, None)
    if entry.shown:
        _tell_user(decision, channel, entry, queued=False)
    decision.untimer(f"quiet/{channel}")
    text = prompt(decision.state.channels[channel], agent, entry.text)
    turn = Turn(agent=agent, answers=entry.messageId, text=text)
    decision.put_talk(channel, Talk(turn=turn, queue=rest))
    _proceed(decision, channel, turn)


def _proceed(decision: Decision, channel: ChannelId, turn: Turn) -> None:
    """Take the turn's next step: the agent, its session, the prompt."""
    agent = turn.agent
    if lives.configured(decision, agent) is None:
        gone = problem("no-such-agent", "no such agent: {agent}", agent=agent)
        unavailable(decision, channel, gone)
        return
    lives.step(decision, agent, lifecycle.Claimed(channel))
    life = decision.life(agent)
    if not lifecycle.running(life) or life.halted:
        refusal = lives.start(decision, agent)
        if refusal is not None:
            unavailable(decision, channel, refusal)
        return
    session = decision.state.sessions.get(place(channel, agent))
    if session is not None and session.inc == life.inc and session.sessionId is not None:
        _prompt(decision, channel, turn, session.sessionId)
        return
    _set(decision, channel, replace(turn, phase="session", inc=life.inc))
    if not any(one.method == "session/new" and one.channel == channel for one in life.calls):
        params = messages.new_session(life.cwd, life.digest, life.servers)
        lives.call(decision, agent, "session/new", params, channel)
    config = lives.configured(decision, agent)
    if config is not None:
        decision.timer(f"session/{channel}", decision.mono + config.startTimeout)


def _prompt(decision: Decision, channel: ChannelId, turn: Turn, session: str) -> None:
    agent = turn.agent
    answers.forget_tail(decision, place(channel, agent))
    inc = decision.life(agent).inc
    decision.say(DoTurn(agent=agent, inc=inc, open=True))
    lives.call(decision, agent, "session/prompt", messages.prompt(session, turn.text), channel)
    _set(decision, channel, replace(turn, phase="prompt", inc=inc, text=""))


def _set(decision: Decision, channel: ChannelId, turn: Turn | None) -> None:
    decision.put_talk(channel, replace(decision.talk(channel), turn=turn))


def session_opened(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """The session is there: whoever waits for it may prompt."""
    turn = decision.talk(channel).turn
    if turn is not None and turn.agent == agent and turn.phase == "session":
        _proceed(decision, channel, turn)


def session_failed(
    decision: Decision, channel: ChannelId, agent: AgentName, reason: Problem, code: str
) -> None:
    """There will be no session; the agent stays as it is."""
    turn = decision.talk(channel).turn
    if turn is not None and turn.agent == agent and turn.phase == "session":
        unavailable(decision, channel, reason, code)


# --- how a turn ends ------------------------------------------------------------------------


def ended(
    decision: Decision, channel: ChannelId, *, stop_reason: str | None, error: Problem | None
) -> None:
    """End the turn under way with its message; one that was cancelled is shown as cancelled."""
    turn = decision.talk(channel).turn
    if turn is None:
        return
    if turn.cancelled:
        stop_reason, error = "cancelled", None
    agent, message = turn.agent, turn.messageId
    permissions.cancel_all(decision, agent, by="agent", channel=channel)
    if message is None:
        message = answers.empty(
            decision, channel, agent, turn.answers, stop_reason=stop_reason, error=error
        )
        if turn.phase == "prompt" and error is None:
            answers.saw(decision, channel, agent, turn.answers)
    else:
        answers.finish(decision, message, stop_reason=stop_reason, error=error)
    life = decision.life(agent)
    if turn.phase == "prompt" and life.inc == turn.inc and lives.reachable(life):
        decision.say(DoTurn(agent=agent, inc=turn.inc, open=False))
    if turn.phase == "prompt":
        answers.keep_tail(decision, channel, agent, message, unasked=False, chunk=turn.chunk)
    else:
        decision.forget_message(message)
    _over(decision, channel, agent)


def unavailable(
    decision: Decision, channel: ChannelId, reason: Problem, code: str = "agent-unavailable"
) -> None:
    """End the turn under way before its prompt: the agent can't be started or reached."""
    turn = decision.talk(channel).turn
    if turn is not None:
        _say_unavailable(decision, channel, turn.agent, turn.answers, error=reason, code=code)
        _over(decision, channel, turn.agent)


def _say_unavailable(
    decision: Decision,
    channel: ChannelId,
    agent: AgentName,
    message: MessageId,
    *,
    error: Problem,
    code: str = "agent-unavailable",
) -> None:
    said = Message(
        id=decision.message_id(),
        channel=channel,
        createdAt=decision.ts,
        role=Role.SYSTEM,
        agent=agent,
        answers=message,
        code=code,
        error=error,
    )
    decision.say(MessageUpdated(channel=channel, message=said))


def _over(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    _set(decision, channel, None)
    decision.untimer(f"cancel/{channel}")
    life = decision.life(agent)
    if life.answered:
        # The end of the turn is proof that the agent has read them; its own end says otherwise.
        decision.put("lives", agent, replace(life, answered=()))
    if decision.life(agent).claimed == channel:
        lives.step(decision, agent, lifecycle.Released(decision.mono))


def responded(decision: Decision, channel: ChannelId, agent: AgentName, answer: Any) -> None:
    """The prompt's response came: ``answer`` is a :class:`messages.Answer`."""
    turn = decision.talk(channel).turn
    if turn is None or turn.agent != agent or turn.phase != "prompt":
        decision.note(f"{agent}: the response to a prompt that was given up")
        return
    if answer.error is not None:
        said = messages.worded(answer.error)
        reason = Problem(
            id="agent-error",
            message=said,
            params={"agent": agent, "code": answer.error.get("code")},
        )
        ended(decision, channel, stop_reason=None, error=reason)
        return
    result = answer.result if isinstance(answer.result, dict) else {}
    stop_reason = messages.string(result.get("stopReason"))
    error = None
    if not stop_reason:
        error = problem("no-stop-reason", "{agent} didn't say how its answer ended", agent=agent)
    ended(decision, channel, stop_reason=stop_reason or None, error=error)


# --- cancel and stop ------------------------------------------------------------------------


def cancel(decision: Decision, channel: ChannelId) -> None:
    """Stop the answer under way, and drop what waits."""
    talk = decision.talk(channel)
    dropped = problem("cancelled", "cancelled")
    for entry in _unqueued(decision, channel):
        _tell_user(decision, channel, entry, queued=False, error=dropped)
    turn = talk.turn
    if turn is None:
        return
    if turn.phase == "prompt":
        interrupt(decision, channel)
    else:
        ended(decision, channel, stop_reason="cancelled", error=None)


def _unqueued(decision: Decision, channel: ChannelId) -> list[Queued]:
    """Empty the queue of a channel; what was in it."""
    talk = decision.talk(channel)
    entries = [decision.state.waiting[one] for one in talk.queue]
    for entry in entries:
        decision.put("waiting", entry.messageId, None)
    decision.put_talk(channel, replace(talk, queue=()))
    decision.untimer(f"quiet/{channel}")
    return entries


def interrupt(decision: Decision, channel: ChannelId) -> None:
    """Ask the agent to stop answering, in ACP's order; the turn ends with its response."""
    turn = decision.talk(channel).turn
    if turn is None or turn.phase != "prompt" or turn.cancelled:
        return
    agent = turn.agent
    _set(decision, channel, replace(turn, cancelled=True))
    session = decision.state.sessions[place(channel, agent)]
    if lives.reachable(decision.life(agent)) and session.sessionId is not None:
        lives.write(decision, agent, messages.cancel(session.sessionId))
    permissions.cancel_all(decision, agent, by="stop", channel=channel)
    if turn.messageId is not None:
        answers.end_tools(decision, turn.messageId, cancelled=True)
    decision.timer(f"cancel/{channel}", decision.mono + CANCEL_BOUND)


def stayed_deaf(decision: Decision, channel: ChannelId) -> None:
    """The bound on a cancel has passed: the channel is freed, the agent goes down the ladder."""
    turn = decision.talk(channel).turn
    if turn is None or not turn.cancelled:
        return
    lives.step(decision, turn.agent, lifecycle.StayedDeaf())
    ended(decision, channel, stop_reason="cancelled", error=None)


def stop_agent(decision: Decision, agent: AgentName, reason: lifecycle.StopReason) -> None:
    """Before an agent is stopped: end its answer, and let nothing that waits start it again."""
    stopped = lifecycle.was_stopped(reason)
    for key in sorted(decision.state.talks):
        channel = ChannelId(key)
        waiting = []
        if recipients(decision.state.channels[channel]) == (agent,):
            waiting = _unqueued(decision, channel)
        turn = decision.talk(channel).turn
        if turn is not None and turn.agent == agent:
            if turn.phase == "prompt":
                # Begun before what is said of the messages behind it, so that it stands before.
                answers.current(decision, channel, agent)
                interrupt(decision, channel)
            else:
                unavailable(decision, channel, stopped)
        for entry in waiting:
            if entry.shown:
                _tell_user(decision, channel, entry, queued=False)
            _say_unavailable(decision, channel, agent, entry.messageId, error=stopped)
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
                _set(decision, channel, replace(turn, phase="agent", inc=0))
    permissions.cancel_all(decision, agent, by="stop")


# --- what an agent's life means for turns ---------------------------------------------------


def agent_became(decision: Decision, became: Became) -> None:
    """An agent runs, or has gone."""
    if not became.gone:
        claimed = decision.life(became.agent).claimed
        turn = decision.talk(claimed).turn if claimed is not None else None
        if claimed is not None and turn is not None and turn.phase == "agent":
            _proceed(decision, claimed, turn)
        return
    agent, reason = became.agent, became.problem
    assert reason is not None
    permissions.cancel_all(decision, agent, by="agent")
    for key, tail in sorted(decision.state.tails.items()):
        if tail.agent == agent and tail.unasked:
            answers.forget_tail(decision, key)
    decision.put("early", agent, None)
    for key in sorted(decision.state.talks):
        channel = ChannelId(key)
        turn = decision.talk(channel).turn
        if turn is None or turn.agent != agent:
            continue
        if turn.phase == "prompt" and turn.inc == became.inc:
            ended(decision, channel, stop_reason=None, error=reason)
        elif not decision.life(agent).wanted:
            unavailable(decision, channel, reason)


def tell_turns(decision: Decision) -> None:
    """Say of each channel whose turn it is, where that has changed."""
    state = decision.state
    for key in sorted(state.talks.keys() | state.shown.keys()):
        channel = ChannelId(key)
        told = _turn_told(decision, channel)
        if told != (state.shown.get(channel) or TurnChanged(channel=channel, busy=False)):
            decision.say(told)


def _turn_told(decision: Decision, channel: ChannelId) -> TurnChanged:
    talk = decision.talk(channel)
    if channel not in decision.state.channels:
        return TurnChanged(channel=channel, busy=False)
    hindrance = _hindrance(decision, channel) if talk.queue else None
    return TurnChanged(
        channel=channel,
        busy=talk.turn is not None or bool(talk.queue),
        queued=len(talk.queue),
        answering=talk.turn.agent if talk.turn is not None else None,
        answers=talk.turn.answers if talk.turn is not None else None,
        waitingFor=hindrance if isinstance(hindrance, WaitingFor) else None,
    )
