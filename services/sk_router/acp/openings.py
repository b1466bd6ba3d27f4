"""How a session is opened: taken up again where the agent can, new where it can't.

``session/resume`` first, then ``session/load``, then ``session/new``. A session that can't be taken
up is dropped for good, and the channel hears that the agent's own memory is lost. The answers
are heard elsewhere.
"""

from sk_bus.errors import problem
from sk_bus.internal import SessionChanged
from sk_bus.model import AgentName, ChannelId, Problem, SessionId
from sk_router.acp import capabilities, messages
from sk_router.agents import lives
from sk_router.channels import context, notices
from sk_router.decision import Decision
from sk_router.records import Call, Gate, Session
from sk_router.state import place

METHODS = ("session/new", "session/load", "session/resume")


def under_way(decision: Decision, channel: ChannelId, agent: AgentName) -> bool:
    """Whether a session of the channel is being opened."""
    return place(channel, agent) in decision.state.gates or bool(pending(decision, channel, agent))


def pending(decision: Decision, channel: ChannelId, agent: AgentName) -> list[Call]:
    """The requests by which a session of the channel is being opened."""
    return [
        one
        for one in decision.life(agent).calls
        if one.waited and one.channel == channel and one.method in METHODS
    ]


def bound(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """Wait for the session as long as the agent may take to start."""
    if pending(decision, channel, agent):
        patience = lives.patience_ms(decision, agent)
        decision.timer(f"session/{place(channel, agent)}", decision.mono + patience)


def begin(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """Ask the agent for the channel's session."""
    life = decision.life(agent)
    session = decision.state.sessions.get(place(channel, agent)) or Session()
    if session.sessionId is None:
        _new(decision, channel, agent)
    elif (agent, life.inc, session.sessionId) in decision.state.routes:
        why = problem("session-reused", "{agent} gave its session to another channel", agent=agent)
        lose(decision, channel, agent, why)
        _new(decision, channel, agent)
    elif capabilities.can(life, "resume"):
        take_up(decision, channel, agent, session.sessionId, "session/resume")
    elif capabilities.can_load(life):
        take_up(decision, channel, agent, session.sessionId, "session/load")
    else:
        why = problem("cannot-load", "{agent} can't take up an earlier session again", agent=agent)
        lose(decision, channel, agent, why)
        _new(decision, channel, agent)


def _new(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    life = decision.life(agent)
    servers, left_out = capabilities.mcp_servers(life)
    if left_out:
        why = problem(
            "mcp-left-out",
            "{agent} takes no MCP servers by {transports}: {count} of the {all} configured were"
            " left out",
            agent=agent,
            transports=" or ".join(sorted(set(left_out))),
            count=len(left_out),
            all=life.servers,
        )
        notices.say(decision, channel, agent, "mcp-left-out", error=why)
    params = {"cwd": life.cwd, "mcpServers": servers}
    lives.call(decision, agent, "session/new", params, channel)


def take_up(
    decision: Decision, channel: ChannelId, agent: AgentName, session: SessionId, method: str
) -> None:
    """Ask for an earlier session; what it tells of the past stays behind a gate."""
    life = decision.life(agent)
    bind(decision, channel, agent, session, life.inc)
    gate = Gate(channel=channel, agent=agent, inc=life.inc, method=method)
    decision.put("gates", place(channel, agent), gate)
    servers, _ = capabilities.mcp_servers(life)
    params = {"sessionId": session, "cwd": life.cwd, "mcpServers": servers}
    lives.call(decision, agent, method, params, channel)


def bind(
    decision: Decision, channel: ChannelId, agent: AgentName, session: SessionId | None, inc: int
) -> None:
    """Know the session as open in the life ``inc``, or in none."""
    before = decision.state.sessions.get(place(channel, agent)) or Session()
    if (before.sessionId, before.inc) != (session, inc):
        decision.say(
            SessionChanged(
                channel=channel,
                agent=agent,
                inc=inc,
                sessionId=session,
                seen=before.seen,
                since=before.since,
                prompted=before.prompted,
            )
        )


def lose(decision: Decision, channel: ChannelId, agent: AgentName, why: Problem) -> None:
    """Drop the session for good; where it held something, the channel hears so."""
    before = decision.state.sessions.get(place(channel, agent)) or Session()
    since = before.since
    if before.seen is not None:
        turn = decision.talk(channel).turn
        since = context.newest(decision.state, channel, turn.answers if turn else None)
    ungate(decision, channel, agent)
    decision.say(SessionChanged(channel=channel, agent=agent, inc=0, since=since))
    if before.seen is not None:
        notices.say(decision, channel, agent, "memory-lost", error=why)


def close(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """The channel is done with its session: the agent may free what it holds."""
    session = decision.state.sessions.get(place(channel, agent))
    for call in pending(decision, channel, agent):
        give_up(decision, agent, call)
    decision.untimer(f"session/{place(channel, agent)}")
    if session is not None and session.sessionId is not None:
        if session.inc == decision.life(agent).inc:
            close_session(decision, agent, session.sessionId)
        ungate(decision, channel, agent)
        decision.say(SessionChanged(channel=channel, agent=agent, inc=0))


def close_session(decision: Decision, agent: AgentName, session: str) -> None:
    """Ask the agent to free a session, where it offers that; nobody waits for the answer."""
    life = decision.life(agent)
    if lives.reachable(life) and capabilities.can(life, "close"):
        lives.call(decision, agent, "session/close", {"sessionId": session}, waited=False)


def give_up(decision: Decision, agent: AgentName, call: Call) -> None:
    """Wait no longer for the answer to a request; the agent hears so, and may answer yet."""
    lives.give_up(decision, agent, call)
    if lives.reachable(decision.life(agent)):
        line = messages.notification("$/cancel_request", {"requestId": call.n})
        lives.write(decision, agent, line)


def ungate(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    key = place(channel, agent)
    if key in decision.state.gates:
        decision.put("gates", key, None)
        decision.untimer(f"gate/{key}")
