"""Every event by its tag, and the class that it belongs to."""

from typing import Any

from sk_bus.codec import members, plain, value_of
from sk_bus.commands import AnyCommand, Command
from sk_bus.events import AgentLog, CommandResult, Kind, MessageDelta, PublicEvent
from sk_bus.internal import (
    DoSend,
    DoStart,
    DoStop,
    DoTurn,
    FactExited,
    FactFrame,
    FactUp,
    HistoryRestored,
    SessionChanged,
    TimerFired,
)

InternalEvent = (
    DoStart
    | DoSend
    | DoTurn
    | DoStop
    | FactUp
    | FactFrame
    | FactExited
    | TimerFired
    | HistoryRestored
    | SessionChanged
)
Event = PublicEvent | AnyCommand | InternalEvent

EVENTS: dict[str, type] = members(Event)


def kind_of(event: Event) -> Kind:
    """The class of one event."""
    match event:
        case MessageDelta():
            return Kind.DELTA
        case CommandResult():
            return Kind.RESULT
        case AgentLog():
            return Kind.LOG
        case Command():
            return Kind.COMMAND
        case DoStart() | DoSend() | DoTurn() | DoStop():
            return Kind.DO
        case FactUp() | FactFrame() | FactExited():
            return Kind.FACT
        case TimerFired() | HistoryRestored() | SessionChanged():
            return Kind.INTERNAL
        case _:
            return Kind.PUBLIC


def encoded(event: Event) -> dict[str, Any]:
    """The event as it travels."""
    made: dict[str, Any] = plain(event)
    return made


def decoded(data: dict[str, Any]) -> Event | None:
    """The event that ``data`` stands for; ``None`` for a tag that newer code invented."""
    kind = EVENTS.get(data.get("type", ""))
    if kind is None:
        return None
    event: Event = value_of(kind, data)
    return event
