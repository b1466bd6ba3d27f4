"""Which channels there are, what they are called, and who is in them.

A channel is made, renamed and deleted here, and agents join and leave. Whether a name will do is
judged in :mod:`sk_router.channels.naming`; what an answer under way goes through is a turn's
affair.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sk_bus import ids
from sk_bus.errors import problem
from sk_bus.events import ChannelsChanged
from sk_bus.model import AgentName, Channel, ChannelId, CommandId, MessageId
from sk_router.acp import openings
from sk_router.channels import answers, notices, permissions, preparations
from sk_router.decision import Decision
from sk_router.records import Deletion
from sk_router.state import place


def create(decision: Decision, name: str, description: str) -> ChannelId:
    made = Channel(id=ids.channel_id(decision.seq), name=name, description=description)
    tell(decision, [*decision.state.channels.values(), made])
    return made.id


def direct(decision: Decision, agent: AgentName) -> ChannelId:
    """The direct conversation with the agent, made the first time."""
    channels = decision.state.channels
    for channel in oldest_first(channels.values()):
        if channel.direct == agent:
            return channel.id
    made = Channel(id=ids.channel_id(decision.seq), direct=agent, members=(agent,))
    tell(decision, [*channels.values(), made])
    return made.id


def change(decision: Decision, channel: Channel) -> None:
    """Let a channel be as ``channel`` says."""
    channels = decision.state.channels
    if channels[channel.id] != channel:
        tell(decision, [channel if one.id == channel.id else one for one in channels.values()])


def join(
    decision: Decision,
    channel: ChannelId,
    agents: Iterable[AgentName],
    during: MessageId | None = None,
) -> None:
    """Let agents join that aren't members, each said in the channel."""
    now = decision.state.channels[channel]
    new = [one for one in dict.fromkeys(agents) if one not in now.members]
    if new:
        change(decision, replace(now, members=(*now.members, *new)))
        for agent in new:
            notices.say(decision, channel, agent, "agent-joined", during=during)


def leave(decision: Decision, channel: ChannelId, agent: AgentName) -> None:
    """Let a member leave; whatever it was to answer there, it answers no more."""
    now = decision.state.channels[channel]
    round_ = decision.state.rounds.get(channel)
    if round_ is not None and agent in round_.then:
        then = tuple(one for one in round_.then if one != agent)
        decision.put("rounds", channel, replace(round_, then=then) if then else None)
    left = problem("agent-left", "{agent} has left the channel", agent=agent)
    preparations.failed(decision, channel, agent, left)
    members = tuple(one for one in now.members if one != agent)
    change(decision, replace(now, members=members))
    notices.say(decision, channel, agent, "agent-left")


def oldest_first(channels: Iterable[Channel]) -> list[Channel]:
    return sorted(channels, key=lambda one: ids.sort_key(one.id))


def tell(decision: Decision, channels: Sequence[Channel]) -> None:
    """Say which channels there are; sessions that none of them needs any more are closed.

    One that is being answered in is closed at the end of its turn.
    """
    members = {place(one.id, agent) for one in channels for agent in one.members}
    for talk_channel, talk in decision.state.talks.items():
        if talk.turn is not None:
            members.add(place(ChannelId(talk_channel), talk.turn.agent))
    for key in sorted(decision.state.sessions.keys() - members):
        channel, _, agent = key.partition("/")
        openings.close(decision, ChannelId(channel), AgentName(agent))
    decision.say(ChannelsChanged(channels=tuple(oldest_first(channels))))


# --- the end of a channel -------------------------------------------------------------------


def delete(decision: Decision, channel: ChannelId, command: CommandId) -> None:
    """Remove the channel as soon as nothing is answered in it any more."""
    gone = problem("being-deleted", "the channel is being deleted")
    for agent in decision.state.channels[channel].members:
        preparations.failed(decision, channel, agent, gone)
    asked = decision.state.deletions.get(channel) or Deletion(commands=())
    decision.put("deletions", channel, Deletion(commands=(*asked.commands, command)))


def delete_ended(decision: Decision) -> None:
    """Remove the channels whose answers have ended."""
    for key in sorted(decision.state.deletions):
        channel = ChannelId(key)
        if decision.talk(channel).turn is None:
            deletion = decision.state.deletions[key]
            _forget(decision, channel)
            channels = decision.state.channels.values()
            tell(decision, [one for one in channels if one.id != channel])
            decision.succeed(deletion.commands)


def _forget(decision: Decision, channel: ChannelId) -> None:
    """Keep nothing of the channel: whatever comes for it later finds nobody."""
    state = decision.state
    for key, tail in sorted(state.tails.items()):
        if tail.channel == channel:
            answers.forget_tail(decision, key)
    for agent in sorted({ask.agent for ask in state.asks.values() if ask.channel == channel}):
        permissions.cancel_all(decision, agent, by="stop", channel=channel)
    for key in sorted(state.lives):
        agent = AgentName(key)
        openings.close(decision, channel, agent)
        life = decision.life(agent)
        if any(one.channel == channel for one in life.answered):
            answered = tuple(one for one in life.answered if one.channel != channel)
            decision.put("lives", agent, replace(life, answered=answered))
    for timer in ("cancel", "quiet"):
        decision.untimer(f"{timer}/{channel}")
    decision.put("deletions", channel, None)
