"""Why a command can't be carried out, as far as that shows before it is.

A refusal says what would do instead: the nearest name, who could be meant, what to ask first.
Nothing is changed here.
"""

from difflib import get_close_matches

from sk_bus.commands import (
    AddMember,
    AnswerPermission,
    Cancel,
    Command,
    Create,
    Delete,
    Direct,
    EditQueued,
    Open,
    Prepare,
    RemoveMember,
    RemoveQueued,
    Rename,
    Restart,
    Send,
    Shutdown,
    Start,
    Stop,
)
from sk_bus.errors import problem
from sk_bus.model import AgentName, Channel, Problem
from sk_router import closing
from sk_router.channels import naming
from sk_router.channels.naming import folded
from sk_router.decision import Decision


def refusal(decision: Decision, command: Command) -> Problem | None:
    """Why a command can't be carried out, as far as that shows before it is."""
    state = decision.state
    late = closing.refusal(state, command)
    if late is not None:
        return late
    match command:
        case Start(agent=agent) | Stop(agent=agent) | Restart(agent=agent):
            return _no_such_agent(decision, agent)
        case Direct(agent=agent):
            exists = any(one.direct == agent for one in state.channels.values())
            return None if exists else _no_such_agent(decision, agent)
        case Create(name=name, description=description):
            return naming.objection(name, description, state.channels.values())
        case (
            Rename(channel=id_)
            | Delete(channel=id_)
            | AddMember(channel=id_)
            | RemoveMember(channel=id_)
            | EditQueued(channel=id_)
            | RemoveQueued(channel=id_)
            | Prepare(channel=id_)
            | Send(channel=id_)
            | Cancel(channel=id_)
        ):
            channel = state.channels.get(id_)
            if channel is None:
                return _no_such_channel(decision, id_)
            return _objection(decision, channel, command)
        case AnswerPermission() | Open() | Shutdown():
            return None
        case _:
            raise AssertionError(command)


def _objection(decision: Decision, channel: Channel, command: Command) -> Problem | None:
    """Why a command can't be carried out in a channel that there is."""
    if channel.id in decision.state.deletions and not isinstance(command, Delete | Cancel):
        return problem("being-deleted", "the channel is being deleted")
    if channel.direct and isinstance(command, Rename | AddMember | RemoveMember):
        return problem(
            "direct-conversation",
            "this is the direct conversation with {agent}: make a channel to name it, or to talk"
            " with several agents",
            agent=channel.direct,
        )
    match command:
        case Rename(name=name, description=description):
            every = decision.state.channels.values()
            return naming.objection(name, description, every, channel.id)
        case AddMember(agent=agent) if agent not in channel.members:
            return _no_such_agent(decision, agent)
        case RemoveMember(agent=agent) if agent not in channel.members:
            return _no_such_agent(decision, agent) or problem(
                "not-a-member",
                "{agent} is not a member of {channel}; its members: {members}",
                agent=agent,
                channel=channel.name,
                members=", ".join(channel.members) or "none",
            )
        case EditQueued(messageId=message) | RemoveQueued(messageId=message) if (
            message not in decision.talk(channel.id).queue
        ):
            return problem(
                "not-waiting",
                "this message doesn't wait any more: it was answered, taken back or dropped",
            )
        case Send(text=text) | EditQueued(text=text):
            return _empty(decision.whole(text))
        case _:
            return None


def _empty(text: str) -> Problem | None:
    return None if text.strip() else problem("empty-text", "the text is empty")


def _no_such_channel(decision: Decision, id_: str) -> Problem:
    """Commands name channels by their ids; whoever gave a name hears the id."""
    names = {folded(one.name or one.direct): one for one in decision.state.channels.values()}
    near = get_close_matches(folded(id_.lstrip("#@")), sorted(names), n=1)
    if not near:
        return problem("no-such-channel", "no such channel: {channel}", channel=id_)
    nearest = names[near[0]]
    return problem(
        "no-such-channel",
        "no such channel: {channel}; did you mean {nearest} ({name})?",
        channel=id_,
        nearest=nearest.id,
        name=nearest.name or nearest.direct,
    )


def meant(decision: Decision, agent: AgentName) -> AgentName:
    """The agent's name as it is configured: names are the same without regard to case."""
    state = decision.state
    names = [one.name for one in state.config.agents]
    known = {name for one in state.channels.values() for name in one.members}
    names += sorted(known - {*names})
    same = [name for name in names if folded(name) == folded(agent)]
    return agent if agent in names or not same else same[0]


def _no_such_agent(decision: Decision, agent: AgentName) -> Problem | None:
    names = [one.name for one in decision.state.config.agents]
    if agent in names:
        return None
    known = {folded(name): name for name in names}
    near = get_close_matches(folded(agent), sorted(known), n=1)
    if near:
        nearest = known[near[0]]
        text = "no such agent: {agent}; did you mean {nearest}?"
        return problem("no-such-agent", text, agent=agent, nearest=nearest)
    if names:
        text = "no such agent: {agent}; configured: {known}"
        return problem("no-such-agent", text, agent=agent, known=", ".join(names[:10]))
    text = "no such agent: {agent}; none is configured"
    return problem("no-such-agent", text, agent=agent)
