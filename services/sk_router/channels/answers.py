"""Growing an agent's message: during its turn, for a moment after it, and when nobody asked.

A message begins with its first content, grows by deltas, and ends once, told whole. What comes
within 2 s after that belongs to it, and it is told again; later content makes a message of its own.
"""

from dataclasses import replace

import orjson

from sk_bus.codec import plain
from sk_bus.events import CommandsChanged, MessageDelta, MessageUpdated, UsageChanged
from sk_bus.internal import SessionChanged
from sk_bus.model import (
    AgentName,
    ChannelId,
    ImagePart,
    Message,
    MessageId,
    OtherPart,
    Part,
    PlanPart,
    Problem,
    ResourcePart,
    Role,
    Text,
    TextPart,
    ThoughtPart,
    ToolCall,
    ToolPart,
)
from sk_router.acp import updates
from sk_router.decision import Decision
from sk_router.state import Growing, Run, Session, Tail, place
from sk_router.texts import LONGEST, head, size

QUIET = 300
LATE = 2_000
# Beyond so much in one event, its strings of more than 1 KB are told by reference as well.
_ROOM = 150_000
_SHORT = 1_024


def take(decision: Decision, channel: ChannelId, agent: AgentName, change: updates.Change) -> None:
    """Let an update of the session do what it says."""
    match change:
        case updates.UsageSaid(usage):
            decision.say(UsageChanged(channel=channel, agent=agent, usage=usage))
        case updates.CommandsSaid(commands):
            decision.say(CommandsChanged(agent=agent, commands=commands))
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
    growing = decision.state.messages[message]
    match change:
        case updates.Chunk(kind, text, acp):
            if isinstance(text, str):
                goes_on = _same_chunk(decision, channel, agent, acp)
                _text(decision, growing, kind, text, goes_on=goes_on)
            else:
                part = TextPart(text=text) if kind == "text" else ThoughtPart(text=text)
                _part(decision, growing, len(growing.parts), part)
        case updates.Block(part):
            _part(decision, growing, len(growing.parts), part)
        case updates.ToolPatch(tool_id, patch):
            _patch(decision, growing, tool_id, patch)
        case updates.PlanSaid(plan):
            at = next(
                (i for i, part in enumerate(growing.parts) if isinstance(part, PlanPart)),
                len(growing.parts),
            )
            _part(decision, growing, at, plan)
        case updates.Unknown(raw):
            decision.note(f"{agent}: an update of an unknown kind: {raw.get('sessionUpdate')!r}")
            _part(decision, growing, len(growing.parts), OtherPart(raw=raw))
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
        made = _begin(decision, channel, agent, turn.answers)
        decision.put_talk(
            channel, replace(decision.talk(channel), turn=replace(turn, messageId=made))
        )
        saw(decision, channel, agent, turn.answers)
        return made
    tail = decision.state.tails.get(key)
    if tail is not None and (tail.unasked or decision.mono < tail.until):
        return tail.messageId
    if tail is not None:
        forget_tail(decision, key)
    made = _begin(decision, channel, agent, None)
    keep_tail(decision, channel, agent, made, unasked=True)
    return made


def _begin(
    decision: Decision, channel: ChannelId, agent: AgentName, answers: MessageId | None
) -> MessageId:
    made = decision.message_id()
    message = Message(
        id=made,
        channel=channel,
        createdAt=decision.ts,
        role=Role.AGENT,
        agent=agent,
        answers=answers,
        done=False,
    )
    decision.say(MessageUpdated(channel=channel, message=message))
    return made


def _text(decision: Decision, growing: Growing, kind: str, text: str, *, goes_on: bool) -> None:
    """A new ACP message id, or a part of another kind in between, begins a new part."""
    decision.flush()
    last = growing.parts[-1] if growing.parts else None
    index = len(growing.parts)
    if goes_on and isinstance(last, Run) and last.kind == kind:
        index -= 1
    if text:
        decision.add_text(growing.message.channel, growing.message.id, index, kind, text)


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


def _part(decision: Decision, growing: Growing, index: int, part: Part) -> None:
    message = growing.message
    bound = LONGEST if _weight(part) < _ROOM else _SHORT
    decision.say(
        MessageDelta(
            channel=message.channel,
            messageId=message.id,
            index=index,
            kind=part.type,
            rev=growing.rev + 1,
            part=bounded(decision, part, bound),
        )
    )


def _patch(
    decision: Decision, growing: Growing, tool_id: str, patch: dict[str, object]
) -> ToolCall:
    decision.flush()
    at = growing.tool(tool_id)
    before = growing.parts[at] if at is not None else None
    tool = updates.patched(before.tool if isinstance(before, ToolPart) else None, tool_id, patch)
    if before == ToolPart(tool=tool):
        return tool
    index = len(growing.parts) if at is None else at
    _part(decision, growing, index, ToolPart(tool=tool))
    told = growing.parts[index]
    assert isinstance(told, ToolPart)
    return told.tool


def patch_tool(
    decision: Decision, message: MessageId, tool_id: str, patch: dict[str, object]
) -> ToolCall:
    """Merge what a permission request says of its tool call; the call as it stands then."""
    growing = decision.state.messages[message]
    tool = _patch(decision, growing, tool_id, patch)
    if growing.message.done:
        decision.amended[message] = None
    return tool


def end_tools(decision: Decision, message: MessageId, *, cancelled: bool) -> None:
    """Say of each tool call without a result why it will have none."""
    growing = decision.state.messages[message]
    decision.flush()
    for index, part in enumerate(growing.parts):
        if isinstance(part, ToolPart) and updates.unfinished(part.tool):
            ended = replace(part.tool, ended="cancelled" if cancelled else "unreported")
            _part(decision, growing, index, ToolPart(tool=ended))


def finish(
    decision: Decision,
    message: MessageId,
    *,
    stop_reason: str | None = None,
    error: Problem | None = None,
) -> None:
    """End the message, told whole."""
    decision.flush()
    end_tools(decision, message, cancelled=stop_reason == "cancelled")
    growing = decision.state.messages[message]
    growing_message = replace(growing.message, done=True, stopReason=stop_reason, error=error)
    _tell(decision, growing, growing_message)


def empty(
    decision: Decision,
    channel: ChannelId,
    agent: AgentName,
    answers: MessageId,
    *,
    stop_reason: str | None = None,
    error: Problem | None = None,
) -> MessageId:
    """A message that ends as it begins: the turn brought nothing."""
    made = decision.message_id()
    message = Message(
        id=made,
        channel=channel,
        createdAt=decision.ts,
        role=Role.AGENT,
        agent=agent,
        answers=answers,
        stopReason=stop_reason,
        error=error,
    )
    decision.say(MessageUpdated(channel=channel, message=message))
    return made


def tell_amended(decision: Decision) -> None:
    """Tell again, whole, each message to which something came after its end."""
    decision.flush()
    for message in list(decision.amended):
        growing = decision.state.messages.get(message)
        if growing is not None:
            _tell(decision, growing, growing.message)
    decision.amended.clear()


def _tell(decision: Decision, growing: Growing, message: Message) -> None:
    parts: list[Part] = []
    for part in growing.parts:
        match part:
            case Run(kind="text"):
                parts.append(TextPart(text=part.text()))
            case Run():
                parts.append(ThoughtPart(text=part.text()))
            case _:
                parts.append(part)
    bound = LONGEST if sum(_weight(part) for part in parts) < _ROOM else _SHORT
    told = tuple(bounded(decision, part, bound) for part in parts)
    whole = replace(message, parts=told, rev=growing.rev)
    decision.say(MessageUpdated(channel=message.channel, message=whole))


def _weight(part: Part) -> int:
    """About how much an event grows by the part, long texts being told by reference."""
    match part:
        case TextPart(text=text) | ThoughtPart(text=text):
            return min(size(head(text)), LONGEST)
        case ToolPart(tool=tool):
            texts_ = [tool.input, tool.output]
            texts_ += [text for diff in tool.diffs for text in (diff.newText, diff.oldText or "")]
            return 200 + sum(min(size(head(text)), LONGEST) for text in texts_)
        case _:
            return 200


def bounded(decision: Decision, part: Part, longest: int) -> Part:
    """The part with each string longer than ``longest`` told by reference."""

    def kept(text: Text) -> Text:
        return decision.kept(text, longest) if isinstance(text, str) else text

    match part:
        case TextPart(text=str(text)):
            return TextPart(text=kept(text))
        case ThoughtPart(text=str(text)):
            return ThoughtPart(text=kept(text))
        case ToolPart(tool=tool):
            diffs = tuple(
                replace(
                    diff,
                    newText=kept(diff.newText),
                    oldText=None if diff.oldText is None else kept(diff.oldText),
                )
                for diff in tool.diffs
            )
            return ToolPart(
                tool=replace(tool, input=kept(tool.input), output=kept(tool.output), diffs=diffs)
            )
        case ImagePart(data=str(data)):
            return replace(part, data=kept(data))
        case ResourcePart(text=str(text)):
            return replace(part, text=kept(text))
        case OtherPart(raw=raw) if size(str(raw)) > _ROOM:
            whole = decision.kept(orjson.dumps(raw).decode())
            kind = raw.get("sessionUpdate") or raw.get("type")
            return OtherPart(raw={"type": kind, "$blob": plain(whole)})
        case _:
            return part


def saw(decision: Decision, channel: ChannelId, agent: AgentName, message: MessageId) -> None:
    """The agent has seen the channel up to ``message``."""
    session = decision.state.sessions.get(place(channel, agent)) or Session()
    if session.seen != message:
        decision.say(
            SessionChanged(
                channel=channel,
                agent=agent,
                inc=session.inc,
                sessionId=session.sessionId,
                seen=message,
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
        finish(decision, tail.messageId)
    if tail.messageId in decision.amended:
        tell_amended(decision)
    decision.put("tails", key, None)
    decision.untimer(f"tail/{key}")
    decision.forget_message(tail.messageId)
