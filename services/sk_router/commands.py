"""The commands: each is carried out, or refused with the reason, before anything is done.

The result of a command is the last thing said; those of Start, Stop, Restart, Prepare, Delete and
the close come when they are complete.
"""

from dataclasses import replace

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
from sk_bus.model import AgentName
from sk_router import closing, refusals
from sk_router.agents import lifecycle, lives, pool
from sk_router.channels import naming, permissions, preparations, queue, rooms, stops
from sk_router.decision import Decision


def perform(decision: Decision, command: Command) -> None:
    if isinstance(command, Start | Stop | Restart | Direct | AddMember | RemoveMember):
        command = replace(command, agent=refusals.meant(decision, command.agent))
    if isinstance(command, Create | Rename):
        name, description = naming.tidy(command.name), naming.tidy(command.description)
        command = replace(command, name=name, description=description)
    refusal = refusals.refusal(decision, command)
    if refusal is not None:
        decision.refuse([command.id], refusal)
        return
    match command:
        case Start() | Stop() | Restart():
            _agent(decision, command)
        case AnswerPermission():
            permissions.answered(decision, command)
        case Open():
            closing.open_asked(decision, command)
        case Shutdown():
            closing.shut_down(decision, command)
        case Delete(channel=channel):
            stops.cancel(decision, channel)
            rooms.delete(decision, channel, command.id)
        case Prepare(channel=channel):
            preparations.prepare(decision, channel, command.id)
        case _:
            decision.succeed([command.id], _channel(decision, command))


def _agent(decision: Decision, command: Start | Stop | Restart) -> None:
    """What is answered when it is complete, or refused when it can't even begin."""
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


def _channel(decision: Decision, command: Command) -> str | None:
    """What is done at once; the value of its result."""
    match command:
        case Direct(agent=agent):
            return rooms.direct(decision, agent)
        case Create(name=name, description=description):
            return rooms.create(decision, name, description)
        case Rename(channel=channel, name=name, description=description):
            now = decision.state.channels[channel]
            rooms.change(decision, replace(now, name=name, description=description))
        case AddMember(channel=channel, agent=agent):
            rooms.join(decision, channel, [agent])
        case RemoveMember(channel=channel, agent=agent):
            stops.leave(decision, channel, agent)
        case Send(channel=channel, text=text):
            return queue.send(decision, channel, text)
        case EditQueued(channel=channel, messageId=message, text=text):
            queue.edit(decision, channel, message, text)
        case RemoveQueued(channel=channel, messageId=message):
            queue.remove(decision, channel, message)
        case Cancel(channel=channel):
            stops.cancel(decision, channel)
        case _:
            raise AssertionError(command)
    return None


def _restart(decision: Decision, agent: AgentName, command: Restart) -> None:
    life = decision.life(agent)
    if life.alive and pool.counts(life):
        stops.restart_agent(decision, agent)
        lives.step(decision, agent, lifecycle.RestartAsked(decision.seq, command.id))
        return
    refusal = lives.start(decision, agent, command.id)
    if refusal is not None:
        decision.refuse([command.id], refusal)
