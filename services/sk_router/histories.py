"""What the history says: in a new epoch everything, after an import what is new.

Its word is taken as it is. It says nothing of agents, turns and queues: those begin anew.
"""

from collections.abc import Sequence
from dataclasses import replace

from sk_bus.internal import HistoryImported, HistoryPast, HistoryRestored, SessionChanged
from sk_bus.model import Channel
from sk_router.channels import naming, rooms
from sk_router.decision import Decision
from sk_router.evolve import MOST_PAST
from sk_router.records import Answerers, Past


def imported(decision: Decision, event: HistoryImported) -> None:
    """An import brought channels: what was said in them is past here as well."""
    known = decision.state.channels
    new = [one for one in event.channels if one.id not in known]
    if not new:
        return
    whole = list(known.values())
    for channel in new:
        whole.append(_named_anew(channel, whole))
    rooms.tell(decision, whole)
    for past in event.past:
        if any(one.id == past.channel for one in new):
            recalled(decision, past)


def _named_anew(channel: Channel, others: Sequence[Channel]) -> Channel:
    """The channel under a name that is still free: another may have been made meanwhile."""
    if channel.direct and all(one.direct != channel.direct for one in others):
        return channel
    name = naming.free(channel.name or channel.direct, others)
    return replace(channel, name=name, direct="")


def recalled(decision: Decision, past: HistoryPast) -> None:
    """Take over what was said in a channel, and who answered in it."""
    decision.put("past", past.channel, Past(messages=past.messages[-MOST_PAST:]))
    authors = [one.author for one in reversed(past.messages) if one.author]
    decision.put("answerers", past.channel, Answerers(agents=tuple(dict.fromkeys(authors))))


def restored(decision: Decision, event: HistoryRestored) -> None:
    """A new epoch: what the history kept is what there is."""
    for announced in event.commands:
        decision.put("announced", announced.agent, value=True)
    if event.channels:
        rooms.tell(decision, event.channels)
    for session in event.sessions:
        decision.say(
            SessionChanged(
                channel=session.channel,
                agent=session.agent,
                inc=0,
                sessionId=session.sessionId,
                seen=session.seen,
                since=session.since,
                prompted=session.prompted,
            )
        )
