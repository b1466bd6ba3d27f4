"""Speaking with a running Sidekicks from a command: connect, ask, and say what went wrong.

Errors of the bus become a :class:`Failure` here, and nowhere else.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from sk_bus.client import connect
from sk_bus.commands import AnyCommand, Direct
from sk_bus.contract import Bus, Outcome
from sk_bus.errors import RefusedError, UnreachableError
from sk_bus.model import AgentName, Channel, ChannelId, CommandId
from sk_bus.queries import ListChannels
from sk_cli import instances, render
from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Invocation
from sk_cli.selection import found

T = TypeVar("T")

# What to do about a refusal, where its sentence doesn't say.
_NEXT = {
    "no-such-agent": "sk-cli agents list",
    "no-such-permission": "sk-cli permissions list",
    "no-longer-asked": "sk-cli permissions list",
    "start-failed": "sk-cli agents logs {agent}",
    "start-late": "sk-cli agents logs {agent}   or a longer startTimeout in the configuration",
    "too-many-agents": "sk-cli agents stop AGENT   or a higher limits.maxRunningAgents",
}


def ask(
    told: Invocation,
    body: Callable[[Bus], Awaitable[T]],
    *,
    late: str = "what was asked may yet be done",
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
        raise Failure(str(error), code=Exit.NO_SUCH if unknown else Exit.FAILED) from error
    except UnreachableError as error:
        raise Failure(str(error), code=Exit.TIMED_OUT, then="sk-cli status") from error
    except TimeoutError as error:
        raise Failure(
            f"the {told.timeout:g} s of --timeout are over; {late}",
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
            raise Failure("it was refused without a reason", then="sk-cli status")
        raise Failure(
            problem.message,
            code=Exit.NO_SUCH if problem.id.startswith(("no-such", "unknown")) else Exit.FAILED,
            then=_NEXT.get(problem.id, "").format_map(problem.params),
            details=render.last_words(problem),
        )
    return outcome


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
        outcome = await done(bus, Direct(id=command_id(), agent=AgentName(named.removeprefix("@"))))
        return ChannelId(outcome.result.value), outcome.seq
    return (await channel(bus, named)).id, 0


def no_such_channel(named: str, listed: tuple[Channel, ...]) -> Failure:
    known: list[Any] = [f"#{one.name}" if one.name else f"@{one.direct}" for one in listed]
    there = f"there are {', '.join(known)}" if known else "there is none yet"
    return Failure(
        f"there is no channel {named!r}; {there}",
        code=Exit.NO_SUCH,
        then="sk-cli channels list   or   sk-cli send @AGENT TEXT",
    )
