"""The commands: each is carried out, or refused with the reason, before anything is done.

The result of a command is the last thing said; those of Start, Stop, Restart and the close come
when they are complete. What belongs to named channels is not offered yet.
"""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from unicodedata import normalize

from sk_bus import ids
from sk_bus.commands import (
    AnswerPermission,
    Cancel,
    Command,
    Direct,
    Restart,
    Send,
    Shutdown,
    Start,
    Stop,
)
from sk_bus.errors import problem
from sk_bus.events import ChannelsChanged
from sk_bus.model import AgentName, Channel, ChannelId, Problem
from sk_router.acp import openings
from sk_router.agents import lifecycle, lives, pool
from sk_router.channels import permissions, queue, stops
from sk_router.decision import Decision
from sk_router.records import Basis
from sk_router.state import place


def perform(decision: Decision, command: Command) -> None:
    if isinstance(command, Start | Stop | Restart | Direct):
        command = replace(command, agent=_meant(decision, command.agent))
    refusal = _refusal(decision, command)
    if refusal is not None:
        decision.refuse([command.id], refusal)
        return
    match command:
        case Start(agent=agent):
            refusal = lives.start(decision, agent, command.id)
            if refusal is not None:
                decision.refuse([command.id], refusal)
        case Stop(agent=agent):
            stops.stop_agent(decision, agent, "asked")
            lives.step(decision, agent, lifecycle.StopAsked("asked", command.id))
        case Restart(agent=agent):
            _restart(decision, agent, command)
        case Direct(agent=agent):
            decision.succeed([command.id], _direct(decision, agent))
        case Send(channel=channel, text=text):
            decision.succeed([command.id], queue.send(decision, channel, text))
        case Cancel(channel=channel):
            stops.cancel(decision, channel)
            decision.succeed([command.id])
        case AnswerPermission():
            permissions.answered(decision, command)
        case Shutdown():
            _close(decision, command)
        case _:
            raise AssertionError(command)


def _refusal(decision: Decision, command: Command) -> Problem | None:
    """Why a command can't be carried out, as far as that shows before it is."""
    state = decision.state
    if state.closing and isinstance(command, Start | Restart | Direct | Send):
        return problem("closing", "Sidekicks is closing")
    match command:
        case Start(agent=agent) | Stop(agent=agent) | Restart(agent=agent):
            return _no_such_agent(decision, agent)
        case Direct(agent=agent):
            exists = any(one.direct == agent for one in state.channels.values())
            return None if exists else _no_such_agent(decision, agent)
        case Send(channel=channel) | Cancel(channel=channel) if channel not in state.channels:
            return problem("no-such-channel", "no such channel: {channel}", channel=channel)
        case Send(text=str(text)) if not text.strip():
            return problem("empty-text", "the text is empty")
        case Send(channel=channel) if not state.channels[channel].direct:
            return problem("not-offered", "only direct conversations are answered so far")
        case Send() | Cancel() | AnswerPermission() | Shutdown():
            return None
        case _:
            name = type(command).__name__
            return problem("not-offered", "{command} is not offered yet", command=name)


def _meant(decision: Decision, agent: AgentName) -> AgentName:
    """The agent's name as it is configured: names are the same without regard to case."""
    state = decision.state
    names = [one.name for one in state.config.agents]
    names += sorted({one.direct for one in state.channels.values() if one.direct} - {*names})
    same = [name for name in names if _folded(name) == _folded(agent)]
    return agent if agent in names or not same else same[0]


def _folded(name: str) -> str:
    return normalize("NFKC", name).casefold()


def _no_such_agent(decision: Decision, agent: AgentName) -> Problem | None:
    names = [one.name for one in decision.state.config.agents]
    if agent in names:
        return None
    folded = {_folded(name): name for name in names}
    near = get_close_matches(_folded(agent), sorted(folded), n=1)
    if near:
        nearest = folded[near[0]]
        text = "no such agent: {agent}; did you mean {nearest}?"
        return problem("no-such-agent", text, agent=agent, nearest=nearest)
    if names:
        text = "no such agent: {agent}; configured: {known}"
        return problem("no-such-agent", text, agent=agent, known=", ".join(names[:10]))
    text = "no such agent: {agent}; none is configured"
    return problem("no-such-agent", text, agent=agent)


def _restart(decision: Decision, agent: AgentName, command: Restart) -> None:
    life = decision.life(agent)
    if life.alive and pool.counts(life):
        stops.restart_agent(decision, agent)
        lives.step(decision, agent, lifecycle.RestartAsked(decision.seq, command.id))
        return
    refusal = lives.start(decision, agent, command.id)
    if refusal is not None:
        decision.refuse([command.id], refusal)


def _direct(decision: Decision, agent: AgentName) -> ChannelId:
    channels = decision.state.channels
    for channel in sorted(channels.values(), key=lambda one: ids.sort_key(one.id)):
        if channel.direct == agent:
            return channel.id
    made = Channel(id=ids.channel_id(decision.seq), direct=agent, members=(agent,))
    tell_channels(decision, [*channels.values(), made])
    return made.id


def tell_channels(decision: Decision, channels: Sequence[Channel]) -> None:
    """Say which channels there are; sessions that none of them needs any more are closed."""
    members = {place(one.id, agent) for one in channels for agent in one.members}
    for key in sorted(decision.state.sessions.keys() - members):
        channel, _, agent = key.partition("/")
        openings.close(decision, ChannelId(channel), AgentName(agent))
    oldest_first = sorted(channels, key=lambda one: ids.sort_key(one.id))
    decision.say(ChannelsChanged(channels=tuple(oldest_first)))


def _close(decision: Decision, command: Shutdown) -> None:
    """The orderly close: answers end, the queue is dropped, agents stop."""
    basis = decision.state.basis.get("", Basis())
    decision.put("basis", "", replace(basis, closing=(*basis.closing, command.id)))
    for channel in sorted(decision.state.talks):
        stops.cancel(decision, ChannelId(channel))
    for agent in sorted(decision.state.lives):
        permissions.cancel_all(decision, AgentName(agent), by="stop")
        lives.step(decision, AgentName(agent), lifecycle.StopAsked("closing"))
