"""How the router's state follows from what it published, and from nothing else.

Live, every event passes here as it is said; after a restart the same events come from the journal.
What other code invented is skipped. Nothing here looks at an input.
"""

from collections.abc import Iterable
from dataclasses import replace

from sk_bus.codec import value_of
from sk_bus.events import (
    ChannelsChanged,
    CommandsChanged,
    MessageDelta,
    MessageUpdated,
    TurnChanged,
)
from sk_bus.excerpt import excerpt
from sk_bus.internal import MemoryChanged, PastMessage, SessionChanged
from sk_bus.model import BlobRef, Message, Part, Role, Text, TextPart, ThoughtPart
from sk_bus.vocabulary import Event
from sk_router.records import Answerers, Past, Session
from sk_router.state import SLICES, Growing, Run, State, place, route, run_of

# What an agent is told at most, and the message that it is told before.
MOST_PAST = 20 + 1


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
            _forget_channels(state)
        case CommandsChanged(agent=agent):
            state.announced[agent] = True
        case SessionChanged():
            key = place(event.channel, event.agent)
            session = Session(
                sessionId=event.sessionId,
                inc=event.inc,
                seen=event.seen,
                since=event.since,
                prompted=event.prompted,
            )
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
    match message.role:
        case Role.USER:
            # One that still waits, or that was dropped, is not said.
            said = not message.queued and message.error is None
            _tell(state, message, message.parts if said else ())
        case Role.AGENT:
            amended = message.id in state.messages and state.messages[message.id].message.done
            _keep_growing(state, message)
            if message.done:
                told = _tell(state, message, state.messages[message.id].parts)
                if told and message.answers is not None and not amended:
                    _answered(state, message)
        case Role.SYSTEM:
            pass


def _tell(state: State, message: Message, parts: Iterable[Part | Run]) -> bool:
    """Keep what the message says among the last messages of its channel, if it has any text."""
    texts: list[Text] = []
    for part in parts:
        match part:
            case Run(kind="text"):
                texts.append(part.text())
            case TextPart(text=text):
                texts.append(text)
    told = PastMessage(id=message.id, author=message.agent, text=excerpt(texts))
    before = state.past.get(message.channel, Past()).messages
    if not told.text.strip():
        kept = [one for one in before if one.id != message.id]
    elif any(one.id == message.id for one in before):
        kept = [told if one.id == message.id else one for one in before]  # amended, in its place
    else:
        kept = [*before, told]
    state.past[message.channel] = Past(messages=_last(kept))
    return bool(told.text.strip())


def _last(messages: list[PastMessage]) -> tuple[PastMessage, ...]:
    """As many of the last messages as each agent may have to be told, its own left out."""
    kept = messages[-2 * MOST_PAST :]
    authors = {one.author for one in kept if one.author}
    while len(kept) > MOST_PAST and all(
        sum(one.author != author for one in kept) > MOST_PAST for author in authors
    ):
        kept = kept[1:]
    return tuple(kept)


def _answered(state: State, message: Message) -> None:
    assert message.agent
    before = state.answerers.get(message.channel, Answerers()).agents
    others = tuple(one for one in before if one != message.agent)
    state.answerers[message.channel] = Answerers(agents=(message.agent, *others))


def _keep_growing(state: State, message: Message) -> None:
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


def _forget_channels(state: State) -> None:
    """Nothing is kept of a channel that was deleted."""
    for key in [key for key in state.sessions if key.partition("/")[0] not in state.channels]:
        _forget_route(state, key)
        del state.sessions[key]
    for kept in (state.past, state.answerers):
        for channel in [channel for channel in kept if channel not in state.channels]:
            del kept[channel]


def _forget_route(state: State, key: str) -> None:
    before = state.sessions.get(key)
    if before is not None and before.sessionId is not None:
        _, _, agent = key.partition("/")
        state.routes.pop((agent, before.inc, before.sessionId), None)
