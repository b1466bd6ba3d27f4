"""How a message ends when what it was waiting for will never come."""

from dataclasses import replace

from sk_bus.errors import problem
from sk_bus.model import Message, Part, Role, ToolPart


def ended(message: Message) -> Message:
    """An answer as ``interrupted``, a message of the queue as ``not-sent``."""
    if message.role is Role.USER:
        error = problem("not-sent", "Not sent: Sidekicks ended while this message was waiting.")
        return replace(message, queued=False, done=True, error=error)
    error = problem("interrupted", "Interrupted: Sidekicks ended during this answer.")
    parts = tuple(_ended_part(part) for part in message.parts)
    return replace(message, done=True, parts=parts, stopReason=None, error=error)


def _ended_part(part: Part) -> Part:
    match part:
        case ToolPart(tool=tool) if tool.status in ("pending", "in_progress") and not tool.ended:
            return ToolPart(tool=replace(tool, ended="unreported"))
        case _:
            return part
