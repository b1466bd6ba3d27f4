"""How the router's state follows from what it published, and from nothing else.

Live, every event passes here as it is said; after a restart the same events come from the journal.
What other code invented is skipped. Nothing here looks at an input.
"""

from dataclasses import replace

from sk_bus.codec import value_of
from sk_bus.events import ChannelsChanged, MessageDelta, MessageUpdated, TurnChanged
from sk_bus.internal import MemoryChanged, SessionChanged
from sk_bus.model import BlobRef, Role, TextPart, ThoughtPart
from sk_bus.vocabulary import Event
from sk_router.records import Session
from sk_router.state import SLICES, Growing, Run, State, place, route, run_of


def evolve(state: State, event: Event) -> None:
    """Move ``state`` on by one published event."""
    match event:
        case MessageDelta():
            _grow(state, event)
        case MemoryChanged():
            _remember(state, event)
        case MessageUpdated():
            _keep(state, event)
        case TurnChanged(channel=channel, busy=True):
            state.shown[channel] = event
        case TurnChanged(channel=channel):
            state.shown.pop(channel, None)
        case ChannelsChanged(channels=channels):
            state.channels = {channel.id: channel for channel in channels}
        case SessionChanged():
            key = place(event.channel, event.agent)
            session = Session(sessionId=event.sessionId, inc=event.inc, seen=event.seen)
            _forget_route(state, key)
            state.sessions[key] = session
            route(state, key, session)
        case _:
            pass  # it tells others something that our records hold already


def _grow(state: State, delta: MessageDelta) -> None:
    growing = state.messages.get(delta.messageId)
    if growing is None:
        return
    growing.rev = delta.rev
    if delta.part is not None:
        if delta.index < len(growing.parts):
            growing.parts[delta.index] = delta.part
        else:
            growing.parts.append(delta.part)
        return
    text = delta.text or ""
    if delta.index < len(growing.parts):
        part = growing.parts[delta.index]
        if isinstance(part, Run):
            part.pieces.append(text)
    else:
        kind = "thought" if delta.kind == "thought" else "text"
        growing.parts.append(Run(kind=kind, pieces=[text]))  # type: ignore[arg-type]


def _keep(state: State, event: MessageUpdated) -> None:
    message = event.message
    if message.role is not Role.AGENT:
        return
    growing = state.messages.get(message.id)
    if growing is None:
        state.messages[message.id] = Growing(
            message=replace(message, parts=()),
            parts=[run_of(part) for part in message.parts],
            rev=message.rev,
        )
        return
    growing.message = replace(message, parts=())
    growing.rev = message.rev
    for index, part in enumerate(message.parts):
        if isinstance(part, TextPart | ThoughtPart) and isinstance(part.text, BlobRef):
            continue  # we have the text itself
        growing.parts[index : index + 1] = [run_of(part)]


def _remember(state: State, event: MemoryChanged) -> None:
    if event.slice == "messages":
        state.messages.pop(event.key, None)
        return
    kind = SLICES.get(event.slice)
    if kind is None:
        return
    records = getattr(state, event.slice)
    if event.value is None:
        records.pop(event.key, None)
    else:
        records[event.key] = value_of(kind, event.value)


def _forget_route(state: State, key: str) -> None:
    before = state.sessions.get(key)
    if before is not None and before.sessionId is not None:
        _, _, agent = key.partition("/")
        state.routes.pop((agent, before.inc, before.sessionId), None)
