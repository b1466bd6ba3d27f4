"""Speaking with a running Sidekicks from a command: connect, ask, and say what went wrong.

Errors of the bus become a :class:`Failure` here, and nowhere else.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sk_bus.client import connect
from sk_bus.commands import AnyCommand, Direct
from sk_bus.contract import Bus, Outcome
from sk_bus.errors import RefusedError, UnreachableError
from sk_bus.model import AgentName, AgentView, Channel, ChannelId, CommandId, Problem
from sk_bus.queries import ListAgents, ListChannels
from sk_cli import instances, messages, render
from sk_cli.failure import Exit, Failure, no_such
from sk_cli.invocation import Invocation
from sk_cli.names import Titles
from sk_cli.selection import agent_found, found
from sk_cli.words import number, problem_text, t

T = TypeVar("T")

# What to do about a refusal, where its sentence doesn't say.
_NEXT = {
    "no-such-agent": "sk-cli agents list",
    "no-such-file": "sk-cli config recent",
    "no-such-message": "sk-cli channels messages CHANNEL",
    "no-such-permission": "sk-cli permissions list",
    "no-longer-asked": "sk-cli permissions list",
    "start-failed": "sk-cli agents logs {agent}",
    "start-late": "sk-cli agents logs {agent}   |   startTimeout: 5m",
    "too-many-agents": "sk-cli agents stop AGENT   |   limits.maxRunningAgents",
    "name-taken": "sk-cli channels list",
    "agent-unavailable": "sk-cli doctor --agent {agent}",
    "command-not-found": "sk-cli doctor --agent {agent}",
    "login-needed": "sk-cli doctor --agent {agent}",
}


def ask(
    told: Invocation,
    body: Callable[[Bus], Awaitable[T]],
    *,
    late: str = "",
    then: str = "sk-cli status",
) -> T:
    """Run ``body`` with a connected bus; ``late`` and ``then`` are said when the time is up.

    Raises:
        Failure: nothing runs, nobody answers in time, or the answer is no.
    """
    instances.require_running(told.choice)

    async def connected() -> T:
        async with connect(told.choice.instance) as bus, asyncio.timeout(told.timeout):
            return await body(bus)

    try:
        return asyncio.run(connected())
    except RefusedError as error:
        unknown = error.problem.id.startswith(("no-such", "unknown"))
        raise Failure(
            problem_text(error.problem),
            code=Exit.NO_SUCH if unknown else Exit.FAILED,
            then=next_step(error.problem),
        ) from error
    except UnreachableError as error:
        raise Failure(
            problem_text(error.problem), code=Exit.TIMED_OUT, then="sk-cli status"
        ) from error
    except TimeoutError as error:
        raise Failure(
            t("failure.late", seconds=number(told.timeout or 0), late=late or t("failure.may-yet")),
            code=Exit.TIMED_OUT,
            then=then,
        ) from error


def command_id() -> CommandId:
    return CommandId(uuid.uuid4().hex)


async def done(bus: Bus, command: AnyCommand, *, timeout: float = 60.0) -> Outcome:
    """The outcome of ``command``.

    Raises:
        Failure: it was carried out, and ended badly.
    """
    outcome = await bus.command(command, timeout=timeout)
    if not outcome.result.ok:
        problem = outcome.result.problem
        if problem is None:
            raise Failure(t("failure.unexplained"), then="sk-cli status")
        raise Failure(
            problem_text(problem),
            code=Exit.NO_SUCH if problem.id.startswith(("no-such", "unknown")) else Exit.FAILED,
            then=next_step(problem),
            details=messages.last_words(problem),
        )
    return outcome


async def up_to_now(bus: Bus) -> int:
    """Where the log ends: who is asked ``after`` it knows of all that was said so far.

    History reads what it keeps from the bus, so it may be behind the answer that one has just seen.
    """
    return (await bus.hello()).head


async def channels(bus: Bus) -> tuple[Channel, ...]:
    listed: tuple[Channel, ...] = (await bus.query(ListChannels())).value
    return listed


async def channel(bus: Bus, named: str) -> Channel:
    """The channel that a person means by its name, its id, or ``@agent``.

    Raises:
        Failure: there is none.
    """
    listed = await channels(bus)
    one = found(named, listed)
    if one is None:
        raise no_such_channel(named, listed)
    return one


async def conversation(bus: Bus, named: str) -> tuple[ChannelId, int]:
    """The channel to speak in, and the seq it stands at; a direct one is made the first time."""
    if named.startswith("@"):
        name = (await agent(bus, named)).name
        outcome = await done(bus, Direct(id=command_id(), agent=AgentName(name)))
        return ChannelId(outcome.result.value), outcome.seq
    return (await channel(bus, named)).id, 0


def no_such_channel(named: str, listed: tuple[Channel, ...]) -> Failure:
    return no_such(
        "channel",
        named,
        [render.channel_name(one) for one in listed],
        then="sk-cli channels list   |   sk-cli send @AGENT TEXT",
    )


async def agents(bus: Bus) -> tuple[AgentView, ...]:
    """Every configured agent, in the configuration's order."""
    listed: tuple[AgentView, ...] = (await bus.query(ListAgents())).value
    return listed


async def titles(bus: Bus) -> Titles:
    """The agents' titles, by name; none while nobody can say them."""
    try:
        return {one.name: one.title for one in (await bus.query(ListAgents(), timeout=2.0)).value}
    except (RefusedError, UnreachableError):
        return {}


async def agent(bus: Bus, named: str) -> AgentView:
    """The agent that a person means; ``@`` may precede its name.

    Raises:
        Failure: there is none.
    """
    listed = await agents(bus)
    one = agent_found(named, listed)
    if one is None:
        raise no_such("agent", named, [one.name for one in listed], then="sk-cli agents list")
    return one


def next_step(problem: Problem) -> str:
    """What to do about ``problem``, where its sentence doesn't say."""
    try:
        return _NEXT.get(problem.id, "").format_map(problem.params)
    except KeyError:  # of another version, which doesn't name the agent
        return ""
