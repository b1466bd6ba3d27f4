"""Growing an agent's message: during its turn, for a moment after it, and when nobody asked.

A message begins with its first content, grows by deltas, and ends once, told whole. What comes
within 2 s after that belongs to it, and it is told again; later content makes a message of its own.
"""

from dataclasses import replace

from sk_bus.events import CommandsChanged, UsageChanged
from sk_bus.internal import SessionChanged
from sk_bus.model import (
    AgentName,
    ChannelId,
    MessageId,
    OtherPart,
    PlanPart,
    TextPart,
    ThoughtPart,
    ToolCall,
)
from sk_router.acp import updates
from sk_router.channels import growth
from sk_router.decision import Decision
from sk_router.records import Past, Session, Tail, Turn
from sk_router.state import place
from sk_router.texts import head

QUIET = 300
LATE = 2_000


def take(decision: Decision, channel: ChannelId, agent: AgentName, change: updates.Change) -> None:
    """Let an update of the session do what it says."""
    match change:
        case updates.UsageSaid(usage):
            decision.say(UsageChanged(channel=channel, agent=agent, usage=usage))
        case updates.CommandsSaid(commands):
            decision.say(CommandsChanged(agent=agent, commands=commands))
        case updates.UserSaid(text, message):
            # During our prompt and right after it, it is what we sent, coming back.
            if head(text) and not _expected(decision, channel, agent):
                chunk = updates.Chunk("text", text, f"user {message}")
                _content(decision, channel, agent, chunk)
        case updates.PassedOver(kind):
            decision.note(f"{agent}: nothing to show of {kind}")
        case updates.Unknown(raw) if not _expected(decision, channel, agent):
            decision.note(f"{agent}: an update of an unknown kind: {raw.get('sessionUpdate')!r}")
        case _:
            _content(decision, channel, agent, change)


def _expected(decision: Decision, channel: ChannelId, agent: AgentName) -> bool:
    turn = decision.talk(channel).turn
    prompted = turn is not None and turn.agent == agent and turn.phase == "prompt"
    return prompted or place(channel, agent) in decision.state.tails


def _content(
    decision: Decision, channel: ChannelId, agent: AgentName, change: updates.Change
) -> None:
    message = current(decision, channel, agent)
    # Text that waits is a part, too: of what was kept for a session several come at once.
    decision.flush()
    growing = decision.state.messages[message]
    match change:
        case updates.Chunk(kind, text, acp):
            if isinstance(text, str):
                goes_on = _same_chunk(decision, channel, agent, acp)
                growth.grow_text(decision, growing, kind, text, goes_on=goes_on)
            else:
                part = TextPart(text=text) if kind == "text" else ThoughtPart(text=text)
                growth.put_part(decision, growing, len(growing.parts), part)
        case updates.Block(part):
            growth.put_part(decision, growing, len(growing.parts), part)
        case updates.ToolPatch(tool_id, patch):
            growth.patch_tool_call(decision, growing, tool_id, patch)
        case updates.PlanSaid(plan):
            at = next(
                (i for i, part in enumerate(growing.parts) if isinstance(part, PlanPart)),
                len(growing.parts),
            )
            growth.put_part(decision, growing, at, plan)
        case updates.Unknown(raw):
            decision.note(f"{agent}: an update of an unknown kind: {raw.get('sessionUpdate')!r}")
            growth.put_part(decision, growing, len(growing.parts), OtherPart(raw=raw))
        case _:
            raise AssertionError(change)
    if growing.message.done:
        decision.amended[message] = None


def current(decision: Decision, channel: ChannelId, agent: AgentName) -> MessageId:
    """The message that content belongs to now; it is begun where there is none."""
    turn = decision.talk(channel).turn
    key = place(channel, agent)
    if turn is not None and turn.agent == agent and turn.phase == "prompt":
        if turn.messageId is not None:
            return turn.messageId
        made = growth.begin(decision, channel, agent, turn.answers)
        decision.put_talk(
            channel, replace(decision.talk(channel), turn=replace(turn, messageId=made))
        )
        return made
    tail = decision.state.tails.get(key)
    if tail is not None and (tail.unasked or decision.mono < tail.until):
        return tail.messageId
    if tail is not None:
        forget_tail(decision, key)
    made = growth.begin(decision, channel, agent, None)
    keep_tail(decision, channel, agent, made, unasked=True)
    return made


def _same_chunk(decision: Decision, channel: ChannelId, agent: AgentName, acp: str) -> bool:
    talk = decision.talk(channel)
    turn = talk.turn
    if turn is not None and turn.agent == agent and turn.phase == "prompt":
        if turn.chunk == acp:
            return True
        decision.put_talk(channel, replace(talk, turn=replace(turn, chunk=acp)))
        return False
    key = place(channel, agent)
    tail = decision.state.tails[key]
    if tail.chunk == acp:
        return True
    decision.put("tails", key, replace(tail, chunk=acp))
    return False


def patch_tool(
    decision: Decision, message: MessageId, tool_id: str, patch: dict[str, object]
) -> ToolCall:
    """Merge what a permission request says of its tool call; the call as it stands then."""
    growing = decision.state.messages[message]
    tool = growth.patch_tool_call(decision, growing, tool_id, patch)
    if growing.message.done:
        decision.amended[message] = None
    return tool


def saw(decision: Decision, channel: ChannelId, agent: AgentName, turn: Turn) -> None:
    """The agent has seen what it was told for its turn; a command shows it nothing."""
    if not turn.command:
        _seen(decision, channel, agent, turn.told or turn.answers, ())


def was_prompted(decision: Decision, channel: ChannelId, agent: AgentName, turn: Turn) -> None:
    """Its turn is over: where it saw nothing, it knows the message all the same."""
    session = decision.state.sessions.get(place(channel, agent)) or Session()
    past = [one.id for one in decision.state.past.get(channel, Past()).messages]
    if session.seen == (turn.told or turn.answers) or turn.answers not in past:
        return
    if decision.state.channels[channel].direct:
        return  # it has seen everything there
    kept = [one for one in session.prompted if one in past and one != turn.answers]
    _seen(decision, channel, agent, session.seen, (*kept, turn.answers))


def _seen(
    decision: Decision,
    channel: ChannelId,
    agent: AgentName,
    seen: MessageId | None,
    prompted: tuple[MessageId, ...],
) -> None:
    session = decision.state.sessions.get(place(channel, agent)) or Session()
    if (session.seen, session.prompted) != (seen, prompted):
        decision.say(
            SessionChanged(
                channel=channel,
                agent=agent,
                inc=session.inc,
                sessionId=session.sessionId,
                seen=seen,
                since=session.since,
                prompted=prompted,
            )
        )


# --- after the end --------------------------------------------------------------------------


def keep_tail(
    decision: Decision,
    channel: ChannelId,
    agent: AgentName,
    message: MessageId,
    *,
    unasked: bool,
    chunk: str = "",
) -> None:
    """Let what comes within 2 s belong to ``message``."""
    key = place(channel, agent)
    tail = Tail(
        channel=channel,
        agent=agent,
        messageId=message,
        quiet=decision.mono + QUIET,
        until=decision.mono + LATE,
        unasked=unasked,
        chunk=chunk,
    )
    decision.put("tails", key, tail)
    decision.timer(f"tail/{key}", tail.until)


def heard(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """A frame came outside a turn: what waits for quiet waits on, within its bound."""
    key = place(channel, agent)
    tail = decision.state.tails.get(key)
    if tail is None:
        return
    if tail.unasked:
        until = decision.mono + LATE
        decision.put("tails", key, replace(tail, until=until))
        decision.timer(f"tail/{key}", until)
    else:
        quiet = min(decision.mono + QUIET, tail.until)
        decision.put("tails", key, replace(tail, quiet=quiet))


def forget_tail(decision: Decision, key: str) -> None:
    """Nothing more belongs to the message: it is over for good."""
    tail = decision.state.tails.get(key)
    if tail is None:
        return
    if tail.unasked:
        growth.finish(decision, tail.messageId)
    if tail.messageId in decision.amended:
        growth.tell_amended(decision)
    decision.put("tails", key, None)
    decision.untimer(f"tail/{key}")
    decision.forget_message(tail.messageId)
