"""How values look on a terminal: one line an event, parts of a message as text.

Pure: values in, text out. Whatever an agent wrote is neutralised here, so that no escape
sequence of its own reaches a terminal; colours are the caller's.
"""

import datetime as dt
import unicodedata
from typing import Any

from sk_bus.model import (
    BlobRef,
    Channel,
    Message,
    OtherPart,
    Part,
    PlanPart,
    Problem,
    Role,
    Text,
    TextPart,
    ThoughtPart,
    ToolPart,
)

# Marks that turn the reading direction around: text that looks other than it is.
_TURNING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def neutral(text: str) -> str:
    """``text`` without control characters; line ends and tabs stay, the others become visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_neutral(character) for character in text)


def _neutral(character: str) -> str:
    if character in "\n\t" or character.isprintable():
        return character if ord(character) not in _TURNING else f"<U+{ord(character):04X}>"
    number = ord(character)
    if number < 0x20:
        return chr(0x2400 + number)  # the picture of it: ␛ for ESC
    if number == 0x7F:
        return "␡"
    # Zero-width joiners hold emoji and words of several scripts together; spaces are spaces.
    if number in (0x200C, 0x200D) or unicodedata.category(character) == "Zs":
        return character
    return f"<U+{number:04X}>"


def one_line(text: str, length: int = 0) -> str:
    """``text`` neutralised, its white space in one piece, cut at ``length`` characters."""
    line = neutral(" ".join(text.split()))
    return line[: length - 1] + "…" if length and len(line) > length else line


def plain_text(text: Text) -> str:
    """A text, or the beginning of one that is too big to travel, with a mark."""
    if isinstance(text, BlobRef):
        return f"{text.head}… ({text.length} bytes in all)"
    return text


def clock(ts: int) -> str:
    """The time of day, local, with milliseconds."""
    return dt.datetime.fromtimestamp(ts / 1000).astimezone().isoformat(" ", "milliseconds")[11:23]


def channel_name(channel: Channel) -> str:
    """``#name``, or ``@agent`` for a direct conversation."""
    return f"@{channel.direct}" if channel.direct else f"#{channel.name}"


# --- messages ---------------------------------------------------------------------------------


def author(message: Message) -> str:
    match message.role:
        case Role.USER:
            return "you"
        case Role.AGENT:
            return message.agent
        case Role.SYSTEM:
            return "Sidekicks"


def part_text(part: Part) -> str:
    """A part as text a person reads; text parts as they are, the others in one line."""
    match part:
        case TextPart(text=text):
            return neutral(plain_text(text))
        case ThoughtPart(text=text):
            return f"(thought: {one_line(plain_text(text), 100)})"
        case ToolPart(tool=tool):
            ended = f", {tool.ended}" if tool.ended else ""
            return f"({tool.kind}: {one_line(tool.title, 100)} – {tool.status}{ended})"
        case PlanPart(steps=steps):
            done = sum(step.status == "completed" for step in steps)
            return f"(plan: {done} of {len(steps)} done)"
        case OtherPart():
            return "(something of a kind that this version doesn't know)"
        case _:
            return f"({part.type}: {one_line(part.uri or part.type, 100)})"


def counted(number: int, noun: str) -> str:
    """``number`` of them: 1 problem, 2 problems."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def system_text(message: Message) -> str:
    """A system message in words."""
    agent = message.agent
    why = f": {one_line(message.error.message)}" if message.error else ""
    sentences = {
        "agent-joined": f"{agent} joined",
        "agent-left": f"{agent} left",
        "no-recipient": "nobody answers this; mention a member",
        "agent-unavailable": f"{agent} can't answer",
        "memory-lost": f"{agent} has lost its own memory of this conversation",
        "login-needed": f"{agent} wants a login",
        "mcp-left-out": f"{agent} works without some MCP servers",
        "permission-ruled": f"a rule answered {agent}'s request",
    }
    said = sentences.get(message.code or "", f"{message.code} {agent}".strip()) + why
    return "\n".join([said, *(f"  | {line}" for line in last_words(message.error))])


def last_words(problem: Problem | None) -> list[str]:
    """The last lines that an agent wrote on stderr before its start failed, as far as known."""
    written = problem.params.get("stderr") if problem else None
    return [one_line(str(line), 300) for line in written] if isinstance(written, list) else []


def end_text(message: Message) -> str:
    """What is to be said of a message's end; nothing when it ended as it should."""
    if message.error is not None:
        return one_line(message.error.message)
    if message.queued:
        return "queued"
    if not message.done:
        return "still answering"
    if message.stopReason in (None, "end_turn"):
        return ""
    words = {
        "cancelled": "stopped",
        "max_tokens": "cut: token limit",
        "max_turn_requests": "cut: too many steps",
        "refusal": "refused",
    }
    return words.get(message.stopReason, one_line(message.stopReason))


def message_text(message: Message) -> str:
    """A whole message: its parts one under the other, and how it ended."""
    if message.role is Role.SYSTEM:
        return system_text(message)
    pieces = [part_text(part) for part in message.parts]
    end = end_text(message)
    return "\n".join([*pieces, f"[{end}]"] if end else pieces)


# --- events -----------------------------------------------------------------------------------


def where(event: dict[str, Any], names: dict[str, str]) -> str:
    """Where an event belongs: channel and agent; ``names`` gives channels their names."""
    channel = str(event.get("channel") or "")
    message = event.get("message") or {}
    agent = event.get("agent") or message.get("agent") or event.get("component") or ""
    return one_line(" ".join(filter(None, [names.get(channel, channel), str(agent)])))


def summary(event: dict[str, Any]) -> str:
    """What an event says, in one line. ``event`` is a map as it travels, of any type."""
    match event:
        case {"type": "message:updated", "message": message}:
            return _message_summary(message)
        case {"type": "message:delta", "kind": kind, "text": str(text)}:
            return f"{kind} +{len(text)}: {one_line(text, 60)}"
        case {"type": "message:delta", "kind": kind, "part": dict(part)}:
            return f"{kind}: {_part_summary(part)}"
        case {"type": "turn:changed", "busy": busy}:
            return _turn_summary(event) if busy else f"idle{_waiting(event)}"
        case {"type": "agent:state", "state": state}:
            marks = [mark for mark in ("stopping", "outdated") if event.get(mark)]
            error = (event.get("error") or {}).get("message", "")
            return one_line(" ".join([str(state), *marks]) + (f": {error}" if error else ""), 120)
        case {"type": "agent:log", "line": line}:
            return one_line(str(line), 120)
        case {"type": "permission:requested", "toolCall": tool, "options": options, "id": id_}:
            offered = ", ".join(str(option.get("optionId")) for option in options)
            return one_line(f"{tool.get('kind')} {tool.get('title')!r}: {offered}  id {id_}", 160)
        case {"type": "permission:resolved", "by": by}:
            return one_line(f"{event.get('optionId', 'cancelled')} by {by}  id {event.get('id')}")
        case {"type": "usage:changed", "usage": usage}:
            return f"{usage.get('used')} of {usage.get('size') or '?'} tokens"
        case {"type": "commands:changed", "commands": commands}:
            return one_line(", ".join(f"/{one.get('name')}" for one in commands), 120)
        case {"type": "channels:changed", "channels": channels}:
            return counted(len(channels), "channel")
        case {"type": "component:state", "state": state, "pid": pid}:
            return f"{state}, pid {pid}, {event.get('restarts')} restarts"
        case {"type": "config:changed", "valid": valid, "path": path}:
            count = len(event.get("problems") or ())
            return one_line(f"{path} {'valid' if valid else 'invalid'}, {count} problems")
        case _:
            rest = {key: value for key, value in event.items() if key not in _SAID_ELSEWHERE}
            return one_line(" ".join(f"{key}={value}" for key, value in rest.items()), 160)


_SAID_ELSEWHERE = {"type", "channel", "agent"}


def _message_summary(message: dict[str, Any]) -> str:
    texts = [part.get("text", "") for part in message.get("parts", ()) if part["type"] == "text"]
    shown = " ".join(text if isinstance(text, str) else text.get("head", "") for text in texts)
    who = {"user": "you", "system": "system"}.get(message.get("role", ""), message.get("agent"))
    state = [
        *(["queued"] if message.get("queued") else []),
        *(["…"] if not message.get("done", True) else []),
        *([str(message["stopReason"])] if message.get("stopReason") else []),
        *([str(message["code"])] if message.get("code") else []),
        *([message["error"].get("message", "error")] if message.get("error") else []),
    ]
    mark = f" [{one_line(', '.join(state))}]" if state else ""
    return f"{one_line(str(who))}: {one_line(shown, 80)}{mark}"


def _part_summary(part: dict[str, Any]) -> str:
    if part.get("type") == "tool":
        tool = part["tool"]
        return one_line(f"{tool.get('kind')} {tool.get('title')} – {tool.get('status')}", 100)
    if part.get("type") == "plan":
        return f"{len(part.get('steps', ()))} steps"
    return str(part.get("type"))


def _turn_summary(event: dict[str, Any]) -> str:
    then = event.get("then") or ()
    after = f", then {', '.join(then)}" if then else ""
    answering = event.get("answering")
    return one_line(f"{answering or 'nobody yet'} answering{after}{_waiting(event)}")


def _waiting(event: dict[str, Any]) -> str:
    queued = event.get("queued") or 0
    other = event.get("waitingFor")
    busy = f", waits for {other.get('agent')}" if other else ""
    return (f", {queued} queued" if queued else "") + busy
