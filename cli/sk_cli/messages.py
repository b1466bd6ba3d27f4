"""Messages and their parts as text that a person reads, and the order to read them in. Pure."""

from collections.abc import Iterable

from sk_bus import ids
from sk_bus.model import (
    Message,
    OtherPart,
    Part,
    PlanPart,
    Problem,
    Role,
    TextPart,
    ThoughtPart,
    ToolCall,
    ToolPart,
)
from sk_cli.render import neutral, one_line, plain_text
from sk_cli.words import known, problem_text, t

# What these say is whole in their problem, with the particulars; the code alone would say it twice.
_SAID_BY_PROBLEM = frozenset({"no-recipient", "permission-ruled"})


def in_reading_order(messages: Iterable[Message]) -> list[Message]:
    """Each question, then what answers it or came up meanwhile; else as they were made.

    A message that waited was made before the answers to the one before it, but is read after them.
    """
    return sorted(messages, key=_place)


def _place(message: Message) -> tuple[str, bool, tuple[str, int]]:
    question = message.answers or message.during
    # What came of one input belongs together, so of the question's id only the number counts.
    number, _ = ids.sort_key(question or message.id)
    return number, question is not None, ids.sort_key(message.id)


def author(message: Message) -> str:
    match message.role:
        case Role.USER:
            return t("author.you")
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
            return t("part.thought", text=one_line(plain_text(text), 100))
        case ToolPart(tool=tool):
            state = tool.ended or tool.status
            title = one_line(tool.title, 100)
            return t("part.tool", kind=kind_text(tool.kind), title=title, state=status_text(state))
        case PlanPart(steps=steps):
            done = sum(step.status == "completed" for step in steps)
            return t("part.plan", done=done, all=len(steps))
        case OtherPart():
            return t("part.other")
        case _:
            return f"({part.type}: {one_line(part.uri or part.type, 100)})"


def asks(agent: str, tool: ToolCall) -> str:
    """That an agent waits for leave to use a tool, in one line."""
    key = f"asks.{tool.kind}"
    said = t(key if known(key) else "asks.other", agent=one_line(agent), kind=kind_text(tool.kind))
    title = one_line(tool.title, 200)
    return t("words.is", what=said, how=title) if title else said


def kind_text(kind: str) -> str:
    """What a tool does; an unknown kind as it came."""
    return t(f"kind.{kind}") if known(f"kind.{kind}") else one_line(kind)


def status_text(status: str) -> str:
    """How far a tool call is; an unknown status as it came."""
    return t(f"tool.{status}") if known(f"tool.{status}") else one_line(status)


def system_text(message: Message) -> str:
    """A system message in words."""
    key = f"system.{message.code}"
    said = t(key, agent=message.agent) if known(key) else f"{message.code} {message.agent}".strip()
    if message.error:
        why = one_line(problem_text(message.error))
        said = why if message.code in _SAID_BY_PROBLEM else t("words.is", what=said, how=why)
    return "\n".join([said, *(f"  | {line}" for line in last_words(message.error))])


def last_words(problem: Problem | None) -> list[str]:
    """The last lines that an agent wrote on stderr before its start failed, as far as known."""
    written = problem.params.get("stderr") if problem else None
    return [one_line(str(line), 300) for line in written] if isinstance(written, list) else []


def end_text(message: Message) -> str:
    """What is to be said of a message's end; nothing when it ended as it should."""
    if message.error is not None:
        return one_line(problem_text(message.error))
    if message.queued:
        return t("end.queued")
    if not message.done:
        return t("end.growing")
    reason = message.stopReason
    if reason is None or reason == "end_turn":
        return ""
    return t(f"end.{reason}") if known(f"end.{reason}") else one_line(reason)


def message_text(message: Message, *, hidden: int = 0) -> str:
    """A whole message: its parts one under the other, and how it ended.

    The first ``hidden`` characters of its text aren't shown (the agent's own name).
    """
    if message.role is Role.SYSTEM:
        return system_text(message)
    pieces = [part_text(part) for part in message.parts]
    if hidden:
        first = next(at for at, part in enumerate(message.parts) if isinstance(part, TextPart))
        pieces[first] = pieces[first][hidden:]
    end = end_text(message)
    return "\n".join([*pieces, f"[{end}]"] if end else pieces)
