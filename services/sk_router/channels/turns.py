"""Turns: one answer at a time per channel and per agent, from the queue to its end.

A turn claims its agent from the moment its message leaves the queue until the prompt's response,
or the bound on a cancel. It ends exactly once, here.
"""

from dataclasses import replace
from typing import Any

from sk_bus.errors import problem
from sk_bus.internal import DoTurn
from sk_bus.model import (
    AgentName,
    ChannelId,
    Problem,
    Text,
)
from sk_router.acp import failures, messages, openings
from sk_router.agents import lifecycle, lives
from sk_router.channels import (
    answers,
    context,
    growth,
    notices,
    permissions,
    preparations,
    prompts,
    queue,
    rooms,
    routing,
)
from sk_router.decision import Decision
from sk_router.records import Round, Session, Turn
from sk_router.state import place

# What an agent is told of a channel fits into an event: 20 messages of 1,500 characters. As a blob,
# which no message names, it would outlive the channel.
_LONGEST = 128 * 1024


def dispatch(decision: Decision) -> None:
    """Begin what can begin, in the order of acceptance, until nothing more can."""
    while _begun(decision):
        pass


def _begun(decision: Decision) -> bool:
    begun = False
    taken: set[AgentName] = set()
    for _, channel, agent in _waiting(decision):
        if agent is not None:
            if agent in taken:
                continue
            taken.add(agent)  # those behind wait, also for one that waits for quiet
            hindered = queue.hindrance(decision, channel, agent)
            if isinstance(hindered, int):
                decision.timer(f"quiet/{channel}", hindered)
            if hindered is not None:
                continue
        if channel not in decision.state.rounds:
            _begin(decision, channel)
        if channel in decision.state.rounds:
            _go_on(decision, channel)
        begun = True
    return begun


def _waiting(decision: Decision) -> list[tuple[int, ChannelId, AgentName | None]]:
    """The channels that answer nothing though something waits there, by the order of acceptance."""
    found = []
    state = decision.state
    for key in state.talks.keys() | state.rounds.keys():
        channel = ChannelId(key)
        if decision.talk(channel).turn is None:
            next_ = queue.following(decision, channel)
            if next_ is not None:
                found.append((next_.seq, channel, next_.agent))
    return sorted(found, key=lambda one: one[:2])


def _begin(decision: Decision, channel: ChannelId) -> None:
    """Take the first message of the queue: who answers it is decided now."""
    entry = decision.state.waiting[decision.talk(channel).queue[0]]
    route = routing.routed(decision, channel, entry)
    entry = queue.taken(decision, channel)
    if not route.recipients:
        notices.say(
            decision,
            channel,
            AgentName(""),
            "no-recipient",
            error=route.problem,
            answers=entry.messageId,
        )
        return
    rooms.join(decision, channel, route.joins, entry.messageId)
    round_ = Round(
        messageId=entry.messageId,
        seq=entry.seq,
        text=entry.text if route.command is None else decision.kept(route.command),
        command=route.command is not None,
        then=route.recipients,
        barred=entry.barred,
    )
    decision.put("rounds", channel, round_)


def _go_on(decision: Decision, channel: ChannelId) -> None:
    """Let the next one answer."""
    round_ = decision.state.rounds[channel]
    agent, then = round_.then[0], round_.then[1:]
    decision.put("rounds", channel, replace(round_, then=then) if then else None)
    decision.untimer(f"quiet/{channel}")
    turn = Turn(agent=agent, answers=round_.messageId, text=round_.text, command=round_.command)
    put_turn(decision, channel, turn)
    if agent in round_.barred and not lifecycle.running(decision.life(agent)):
        unavailable(decision, channel, lifecycle.was_stopped(round_.barred[agent]))
    else:
        proceed(decision, channel, turn)


def proceed(decision: Decision, channel: ChannelId, turn: Turn) -> None:
    """Take the turn's next step: the agent, its session, the prompt."""
    agent = turn.agent
    if lives.configured(decision, agent) is None:
        gone = problem("no-such-agent", "no such agent: {agent}", agent=agent)
        unavailable(decision, channel, gone)
        return
    lives.step(decision, agent, lifecycle.Claimed(channel))
    life = decision.life(agent)
    if not lifecycle.running(life):
        refusal = lives.start(decision, agent)
        if refusal is not None:
            unavailable(decision, channel, refusal)
        return
    key = place(channel, agent)
    session = decision.state.sessions.get(key) or Session()
    opened = session.inc == life.inc and key not in decision.state.gates
    if opened and session.sessionId is not None:
        _prompt(decision, channel, turn, session.sessionId)
        return
    put_turn(decision, channel, replace(turn, phase="session", inc=life.inc))
    if not openings.under_way(decision, channel, agent):
        openings.begin(decision, channel, agent)
    openings.bound(decision, channel, agent)


def _prompt(decision: Decision, channel: ChannelId, turn: Turn, session: str) -> None:
    agent = turn.agent
    answers.forget_tail(decision, place(channel, agent))
    inc = decision.life(agent).inc
    decision.say(DoTurn(agent=agent, inc=inc, open=True))
    texts = _texts(decision, channel, turn)
    kept = [decision.kept(one, _LONGEST) if isinstance(one, str) else one for one in texts]
    lives.call(decision, agent, "session/prompt", messages.prompt(session, kept), channel)
    told = context.newest(decision.state, channel, None)
    put_turn(decision, channel, replace(turn, phase="prompt", inc=inc, text="", told=told))


def _texts(decision: Decision, channel: ChannelId, turn: Turn) -> list[Text]:
    """What the turn's agent is sent."""
    if turn.command:
        return prompts.alone(turn.text)
    state, agent = decision.state, turn.agent
    lost = context.lost(state, channel, agent)
    told = context.unseen(state, channel, agent, turn.answers)
    if state.channels[channel].direct:
        return prompts.remembering(turn.text, agent, told) if lost else prompts.alone(turn.text)
    return prompts.in_channel(turn.text, agent, told, lost=lost)


def put_turn(decision: Decision, channel: ChannelId, turn: Turn | None) -> None:
    decision.put_talk(channel, replace(decision.talk(channel), turn=turn))


def agent_ready(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """The agent runs: who waits for it goes on."""
    turn = decision.talk(channel).turn
    if turn is not None and turn.agent == agent and turn.phase == "agent":
        proceed(decision, channel, turn)


def session_opened(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """The session is there, or no longer awaited: who waits for it goes on."""
    turn = decision.talk(channel).turn
    if turn is not None and turn.agent == agent and turn.phase == "session":
        proceed(decision, channel, turn)
    preparations.advance(decision, channel, agent)


def session_failed(
    decision: Decision, channel: ChannelId, agent: AgentName, reason: Problem, code: str
) -> None:
    """There will be no session; the agent stays as it is."""
    preparations.failed(decision, channel, agent, reason)
    turn = decision.talk(channel).turn
    if turn is not None and turn.agent == agent and turn.phase == "session":
        unavailable(decision, channel, reason, code)


# --- how a turn ends ------------------------------------------------------------------------


def responded(decision: Decision, channel: ChannelId, agent: AgentName, answer: Any) -> None:
    """The prompt's response came: ``answer`` is a :class:`messages.Answer`."""
    turn = decision.talk(channel).turn
    if turn is None or turn.agent != agent or turn.phase != "prompt":
        decision.note(f"{agent}: the response to a prompt that was given up")
        return
    if answer.error is not None:
        reason = failures.of(agent, decision.life(agent), answer.error)
        ended(decision, channel, stop_reason=None, error=reason)
        return
    result = answer.result if isinstance(answer.result, dict) else {}
    stop_reason = messages.string(result.get("stopReason"))
    error = None
    if not stop_reason:
        error = problem("no-stop-reason", "{agent} didn't say how its answer ended", agent=agent)
    else:
        answers.saw(decision, channel, agent, turn)
    ended(decision, channel, stop_reason=stop_reason or None, error=error)


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
        message = growth.empty(
            decision, channel, agent, turn.answers, stop_reason=stop_reason, error=error
        )
    else:
        growth.finish(decision, message, stop_reason=stop_reason, error=error)
    life = decision.life(agent)
    if turn.phase == "prompt" and life.inc == turn.inc and lives.reachable(life):
        decision.say(DoTurn(agent=agent, inc=turn.inc, open=False))
    if turn.phase == "prompt":
        answers.was_prompted(decision, channel, agent, turn)
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
        notices.say(decision, channel, turn.agent, code, error=reason, answers=turn.answers)
        _over(decision, channel, turn.agent)


def _over(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    put_turn(decision, channel, None)
    decision.untimer(f"cancel/{channel}")
    life = decision.life(agent)
    if life.answered:
        # The end of the turn is proof that the agent has read them; its own end says otherwise.
        decision.put("lives", agent, replace(life, answered=()))
    if decision.life(agent).claimed == channel:
        lives.step(decision, agent, lifecycle.Released(decision.mono))
    members = decision.state.channels[channel].members
    if agent not in members:
        openings.close(decision, channel, agent)
