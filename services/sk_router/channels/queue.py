"""The queue of a channel: messages in the order of acceptance, and what keeps the next waiting.

It says what is queued and for whom it waits. What begins when nothing hinders is a turn's affair.
"""

from dataclasses import dataclass, replace

from sk_bus.errors import problem
from sk_bus.events import MessageUpdated, TurnChanged
from sk_bus.model import (
    AgentName,
    ChannelId,
    Message,
    MessageId,
    Problem,
    Role,
    Text,
    TextPart,
    WaitingFor,
)
from sk_router.agents import lifecycle
from sk_router.channels import routing
from sk_router.decision import Decision
from sk_router.records import Queued
from sk_router.texts import whole_characters


@dataclass(frozen=True, slots=True)
class Next:
    """Whoever is to answer next in a channel, and since when (a seq) that is asked.

    Without ``agent`` nobody can: what follows waits for nothing.
    """

    seq: int
    agent: AgentName | None


def send(decision: Decision, channel: ChannelId, text: Text) -> MessageId:
    """Accept a user's message; it is answered now, or waits."""
    made = decision.message_id()
    text = whole_characters(text) if isinstance(text, str) else text
    entry = Queued(messageId=made, seq=decision.seq, createdAt=decision.ts, text=text, shown=False)
    decision.accepted[made] = channel
    decision.put("waiting", made, entry)
    talk = decision.talk(channel)
    decision.put_talk(channel, replace(talk, queue=(*talk.queue, made)))
    return made


def tell_waiting(decision: Decision) -> None:
    """Show as queued what was accepted and couldn't begin at once."""
    for message, channel in decision.accepted.items():
        entry = decision.state.waiting[message]
        tell_user(decision, channel, entry, queued=True)
        decision.put("waiting", message, replace(entry, shown=True))
    decision.accepted.clear()


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


def taken(decision: Decision, channel: ChannelId) -> Queued:
    """Take the first message out of the queue, and show that it waits no longer."""
    talk = decision.talk(channel)
    entry = decision.state.waiting[talk.queue[0]]
    decision.put("waiting", entry.messageId, None)
    decision.put_talk(channel, replace(talk, queue=talk.queue[1:]))
    decision.untimer(f"quiet/{channel}")
    fresh = decision.accepted.pop(entry.messageId, None) is not None
    if fresh or entry.shown:
        tell_user(decision, channel, entry, queued=False)
    return entry


def emptied(decision: Decision, channel: ChannelId) -> list[Queued]:
    """Empty the queue of a channel; what was in it."""
    talk = decision.talk(channel)
    entries = [decision.state.waiting[one] for one in talk.queue]
    for entry in entries:
        decision.put("waiting", entry.messageId, None)
    decision.put_talk(channel, replace(talk, queue=()))
    decision.untimer(f"quiet/{channel}")
    return entries


def edit(decision: Decision, channel: ChannelId, message: MessageId, text: Text) -> None:
    """Let a message that waits say something else; its place and its id stay."""
    entry = decision.state.waiting[message]
    text = whole_characters(text) if isinstance(text, str) else text
    if entry.text != text:
        edited = replace(entry, text=text)
        decision.put("waiting", message, edited)
        tell_user(decision, channel, edited, queued=True)


def remove(decision: Decision, channel: ChannelId, message: MessageId) -> None:
    """Take back a message that waits."""
    entry = decision.state.waiting[message]
    talk = decision.talk(channel)
    decision.put("waiting", message, None)
    left = tuple(one for one in talk.queue if one != message)
    decision.put_talk(channel, replace(talk, queue=left))
    if not left:
        decision.untimer(f"quiet/{channel}")
    taken_back = problem("taken-back", "taken back before it was answered")
    tell_user(decision, channel, entry, queued=False, error=taken_back)


def following(decision: Decision, channel: ChannelId) -> Next | None:
    """What comes next in a channel, once its turn is over; ``None`` when nothing waits."""
    talk = decision.talk(channel)
    round_ = decision.state.rounds.get(channel)
    if round_ is not None:
        return Next(round_.seq, _awaited(decision, round_.then[0], round_.barred))
    if not talk.queue:
        return None
    entry = decision.state.waiting[talk.queue[0]]
    recipients = routing.routed(decision, channel, entry).recipients
    if not recipients:
        return Next(entry.seq, None)
    return Next(entry.seq, _awaited(decision, recipients[0], entry.barred))


def _awaited(decision: Decision, agent: AgentName, barred: dict[str, str]) -> AgentName | None:
    return None if agent in barred and not lifecycle.running(decision.life(agent)) else agent


def hindrance(decision: Decision, channel: ChannelId, agent: AgentName) -> WaitingFor | int | None:
    """What keeps the agent from answering in a channel now: another channel, or a time.

    The time is when those before have been quiet for long enough.
    """
    claimed = decision.life(agent).claimed
    if claimed is not None and claimed != channel:  # here it is only being prepared
        return WaitingFor(agent=agent, channel=claimed)
    quiet = [
        tail.quiet
        for tail in decision.state.tails.values()
        if tail.channel == channel and not tail.unasked and decision.mono < tail.quiet
    ]
    return max(quiet, default=None)


def bar(decision: Decision, channel: ChannelId, agent: AgentName, reason: str) -> None:
    """Let nothing that waits in a channel start the agent again."""
    state = decision.state
    for message in decision.talk(channel).queue:
        entry = state.waiting[message]
        decision.put("waiting", message, replace(entry, barred={**entry.barred, agent: reason}))
    round_ = state.rounds.get(channel)
    if round_ is not None and agent in round_.then:
        barred = {**round_.barred, agent: reason}
        decision.put("rounds", channel, replace(round_, barred=barred))


def tell_turns(decision: Decision) -> None:
    """Say of each channel whose turn it is, where that has changed."""
    state = decision.state
    for key in sorted(state.talks.keys() | state.rounds.keys() | state.shown.keys()):
        channel = ChannelId(key)
        told = _told(decision, channel)
        if told != (state.shown.get(channel) or TurnChanged(channel=channel, busy=False)):
            decision.say(told)


def _told(decision: Decision, channel: ChannelId) -> TurnChanged:
    talk = decision.talk(channel)
    if channel not in decision.state.channels:
        return TurnChanged(channel=channel, busy=False)
    turn, round_ = talk.turn, decision.state.rounds.get(channel)
    then = round_.then if round_ is not None else ()
    answering = turn.agent if turn is not None else None
    answers = turn.answers if turn is not None else round_.messageId if round_ else None
    waiting = None
    if turn is None:
        next_ = following(decision, channel)
        if next_ is not None and next_.agent is not None:
            hindered = hindrance(decision, channel, next_.agent)
            waiting = hindered if isinstance(hindered, WaitingFor) else None
        if then and waiting is None:
            # It is the next one's turn, though those before must be quiet first.
            answering, then = then[0], then[1:]
    return TurnChanged(
        channel=channel,
        busy=talk.turn is not None or round_ is not None or bool(talk.queue),
        queued=len(talk.queue),
        answering=answering,
        then=then,
        answers=answers,
        waitingFor=waiting,
    )
