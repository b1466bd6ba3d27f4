"""Every event by its tag, and the class that it belongs to."""

from typing import Any

from sk_bus.codec import members, plain, value_of
from sk_bus.commands import AnyCommand
from sk_bus.events import Kind, PublicEvent
from sk_bus.internal import (
    DoSend,
    DoStart,
    DoStop,
    DoTurn,
    FactExited,
    FactFrame,
    FactUp,
    FileClosed,
    FileOpenable,
    HistoryImported,
    HistoryPast,
    HistoryRestored,
    MemoryChanged,
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
    | HistoryPast
    | HistoryRestored
    | HistoryImported
    | FileOpenable
    | FileClosed
    | SessionChanged
    | MemoryChanged
)
Event = PublicEvent | AnyCommand | InternalEvent

EVENTS: dict[str, type] = members(Event)


def kind_of_tag(tag: str) -> Kind:
    """The class of the events with this tag, also of one that newer code invented."""
    match tag:
        case "message:delta":
            return Kind.DELTA
        case "cmd:result":
            return Kind.RESULT
        case "agent:log":
            return Kind.LOG
    match tag.partition(":")[0]:
        case "cmd":
            return Kind.COMMAND
        case "do":
            return Kind.DO
        case "fact":
            return Kind.FACT
        case "timer" | "history" | "file" | "state":
            return Kind.INTERNAL
        case _:
            return Kind.PUBLIC


KINDS: dict[str, Kind] = {tag: kind_of_tag(tag) for tag in EVENTS}


def kind_of(event: Event) -> Kind:
    """The class of one event."""
    return KINDS[event.type]


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
