"""A message of an agent as it grows: begun once, told in deltas, ended once, told whole.

What an event can't hold is told by reference. Which message it is that grows, and what a frame
means, is decided elsewhere.
"""

from dataclasses import replace
from typing import Any

import orjson

from sk_bus.codec import plain
from sk_bus.events import MessageDelta, MessageUpdated
from sk_bus.model import (
    AgentName,
    BlobRef,
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
from sk_router.acp import messages, tools
from sk_router.decision import Decision
from sk_router.state import Growing, Run
from sk_router.texts import LONGEST, head, reference, size

# Beyond so much in one event, its strings of more than 1 KB are told by reference as well.
_ROOM = 150_000
_SHORT = 1_024
# What we don't know is told by reference beyond so much, with less of its beginning where room is
# scarce: then all of it has less than 1 KB.
_LARGEST_OTHER = 4_096
_HEAD = 1_000
_SHORT_HEAD = 100
_SHA256 = 64
_LONGEST_KIND = 40


def begin(
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


def grow_text(decision: Decision, growing: Growing, kind: str, text: str, *, goes_on: bool) -> None:
    """A new ACP message id, or a part of another kind in between, begins a new part.

    What was said before must have been flushed.
    """
    last = growing.parts[-1] if growing.parts else None
    index = len(growing.parts)
    if goes_on and isinstance(last, Run) and last.kind == kind:
        index -= 1
    if text:
        decision.add_text(growing.message.channel, growing.message.id, index, kind, text)


def put_part(decision: Decision, growing: Growing, index: int, part: Part) -> None:
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


def patch_tool_call(
    decision: Decision, growing: Growing, tool_id: str, patch: dict[str, object]
) -> ToolCall:
    decision.flush()
    at = growing.tool(tool_id)
    before = growing.parts[at] if at is not None else None
    tool = tools.patched(before.tool if isinstance(before, ToolPart) else None, tool_id, patch)
    if before == ToolPart(tool=tool):
        return tool
    index = len(growing.parts) if at is None else at
    put_part(decision, growing, index, ToolPart(tool=tool))
    told = growing.parts[index]
    assert isinstance(told, ToolPart)
    return told.tool


def end_tools(decision: Decision, message: MessageId, *, cancelled: bool) -> None:
    """Say of each tool call without a result why it will have none."""
    growing = decision.state.messages[message]
    decision.flush()
    for index, part in enumerate(growing.parts):
        if isinstance(part, ToolPart) and tools.unfinished(part.tool):
            ended = replace(part.tool, ended="cancelled" if cancelled else "unreported")
            put_part(decision, growing, index, ToolPart(tool=ended))


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
            names = [tool.title, *(diff.path for diff in tool.diffs)]
            names += [location.path for location in tool.locations]
            return sum(size(name) + 50 for name in names) + _texts(*texts_)
        case PlanPart(steps=steps):
            return 200 + sum(size(step.content) + 50 for step in steps)
        case ImagePart(data=data, uri=uri):
            return size(uri or "") + _texts(data)
        case ResourcePart(uri=uri, text=text):
            return size(uri) + _texts(text or "")
        case OtherPart(raw=raw):
            return min(len(orjson.dumps(raw)), _LARGEST_OTHER)


def _texts(*texts: Text) -> int:
    return 200 + sum(min(size(head(text)), LONGEST) for text in texts)


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
        case OtherPart(raw=raw):
            return OtherPart(raw=_raw(decision, raw, min(longest, _LARGEST_OTHER)))
        case _:
            return part


def _raw(decision: Decision, raw: dict[str, Any], most: int) -> dict[str, Any]:
    """What came as we don't know it, or what stands for it."""
    data = orjson.dumps(raw)
    if len(data) <= most:
        return raw
    whole = messages.text(raw) if raw.keys() == {"type", "$blob"} else None  # told so before
    if not isinstance(whole, BlobRef) or len(whole.sha256) != _SHA256:
        whole = reference(data.decode())
        decision.blobs[whole.sha256] = data.decode()
    whole = replace(whole, head=whole.head[: _SHORT_HEAD if most <= _SHORT else _HEAD])
    kind = messages.string(raw.get("sessionUpdate")) or messages.string(raw.get("type"))
    return {"type": kind[:_LONGEST_KIND], "$blob": plain(whole)}
