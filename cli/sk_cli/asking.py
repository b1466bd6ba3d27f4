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
from sk_cli import instances
from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Invocation
from sk_cli.selection import found

T = TypeVar("T")


def ask(told: Invocation, body: Callable[[Bus], Awaitable[T]]) -> T:
    """Run ``body`` with a connected bus.

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
            f"nothing after {told.timeout:g} s; what was asked may yet be done",
            code=Exit.TIMED_OUT,
            then="sk-cli status",
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
        unknown = problem is not None and problem.id.startswith(("no-such", "unknown"))
        raise Failure(
            problem.message if problem else "it was refused without a reason",
            code=Exit.NO_SUCH if unknown else Exit.FAILED,
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
