"""The queue of a channel: messages in the order of acceptance, and what keeps the next waiting.

It says what is queued and for whom it waits. What begins when nothing hinders is a turn's affair.
"""

from dataclasses import replace

from sk_bus.events import MessageUpdated, TurnChanged
from sk_bus.model import (
    ChannelId,
    Message,
    MessageId,
    Problem,
    Role,
    Text,
    TextPart,
    WaitingFor,
)
from sk_router.decision import Decision
from sk_router.recipients import recipients
from sk_router.records import Queued
from sk_router.state import place
from sk_router.texts import whole_characters


def send(decision: Decision, channel: ChannelId, text: Text) -> MessageId:
    """Accept a user's message; it is answered now, or waits."""
    made = decision.message_id()
    text = whole_characters(text) if isinstance(text, str) else text
    entry = Queued(messageId=made, seq=decision.seq, createdAt=decision.ts, text=text)
    talk = decision.talk(channel)
    waits = bool(talk.queue) or hindrance(decision, channel) is not None
    tell_user(decision, channel, entry, queued=waits)
    decision.put("waiting", made, replace(entry, shown=waits))
    decision.put_talk(channel, replace(talk, queue=(*talk.queue, made)))
    return made


def tell_user(
    decision: Decision,
    channel: ChannelId,
    entry: Queued,
    *,
    queued: bool,
    error: Problem | None = None,
) -> None:
    message = Message(
        id=entry.messageId,
        channel=channel,
        createdAt=entry.createdAt,
        role=Role.USER,
        parts=(TextPart(text=entry.text),),
        queued=queued,
        error=error,
    )
    decision.say(MessageUpdated(channel=channel, message=message))


def emptied(decision: Decision, channel: ChannelId) -> list[Queued]:
    """Empty the queue of a channel; what was in it."""
    talk = decision.talk(channel)
    entries = [decision.state.waiting[one] for one in talk.queue]
    for entry in entries:
        decision.put("waiting", entry.messageId, None)
    decision.put_talk(channel, replace(talk, queue=()))
    decision.untimer(f"quiet/{channel}")
    return entries


def hindrance(decision: Decision, channel: ChannelId) -> str | WaitingFor | int | None:
    """What keeps the next message of a channel waiting: a turn, another channel, or a time."""
    if decision.talk(channel).turn is not None:
        return "turn"
    (agent,) = recipients(decision.state.channels[channel])
    claimed = decision.life(agent).claimed
    if claimed is not None:
        return WaitingFor(agent=agent, channel=claimed)
    tail = decision.state.tails.get(place(channel, agent))
    if tail is not None and not tail.unasked and decision.mono < tail.quiet:
        return tail.quiet
    return None


def tell_turns(decision: Decision) -> None:
    """Say of each channel whose turn it is, where that has changed."""
    state = decision.state
    for key in sorted(state.talks.keys() | state.shown.keys()):
        channel = ChannelId(key)
        told = _told(decision, channel)
        if told != (state.shown.get(channel) or TurnChanged(channel=channel, busy=False)):
            decision.say(told)


def _told(decision: Decision, channel: ChannelId) -> TurnChanged:
    talk = decision.talk(channel)
    if channel not in decision.state.channels:
        return TurnChanged(channel=channel, busy=False)
    hindered = hindrance(decision, channel) if talk.queue else None
    return TurnChanged(
        channel=channel,
        busy=talk.turn is not None or bool(talk.queue),
        queued=len(talk.queue),
        answering=talk.turn.agent if talk.turn is not None else None,
        answers=talk.turn.answers if talk.turn is not None else None,
        waitingFor=hindered if isinstance(hindered, WaitingFor) else None,
    )
