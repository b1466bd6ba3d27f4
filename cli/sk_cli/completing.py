"""Completion in shells: the commands and options by click, names of what there is now by the bus.

Who presses Tab waits for nothing: after 0.3 s there are no names, and nothing is said about it.
"""

import asyncio
from typing import TYPE_CHECKING

import click

from sk_bus.queries import SERVICES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sk_bus.contract import Bus

_WITHIN = 0.3


def completed(root: click.Command, instruction: str) -> int:
    """Do what a shell's completion script asks for (``bash_complete``, ``zsh_source``, …)."""
    from click.shell_completion import shell_complete

    return shell_complete(root, {}, "sk-cli", "_SK_CLI_COMPLETE", instruction)


def agent_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The configured agents."""
    del param
    mark = "@" if incomplete.startswith("@") else ""
    return _fitting(incomplete, [mark + name for name in _names(ctx, _agents)])


def channel_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The channels, and with ``@`` the agents: each has a direct conversation."""
    del param
    if incomplete.startswith("@"):
        return _fitting(incomplete, [f"@{name}" for name in _names(ctx, _agents)])
    mark = "#" if incomplete.startswith("#") else ""
    return _fitting(incomplete, [mark + name for name in _names(ctx, _channels)])


def component_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    del ctx, param
    return _fitting(incomplete, [str(name) for name in SERVICES])


def permission_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The requests that wait."""
    del param
    return _fitting(incomplete, _names(ctx, _permissions))


def _fitting(incomplete: str, names: list[str]) -> list[str]:
    wanted = incomplete.casefold()
    return [name for name in names if name.casefold().startswith(wanted)]


def _names(ctx: click.Context, ask: "Callable[[Bus], Awaitable[list[str]]]") -> list[str]:
    from sk_bus.client import connect
    from sk_bus.errors import SidekicksError
    from sk_bus.paths import PathsError
    from sk_cli.invocation import Invocation

    told = ctx.find_object(Invocation) or Invocation()

    async def names() -> list[str]:
        async with connect(told.choice.instance) as bus, asyncio.timeout(_WITHIN):
            return await ask(bus)

    try:
        return asyncio.run(names())
    except (SidekicksError, PathsError, OSError, TimeoutError):
        return []  # nothing runs, or it is too slow: the shell goes on without


async def _agents(bus: "Bus") -> list[str]:
    from sk_bus.queries import ListAgents

    return [one.name for one in (await bus.query(ListAgents(), timeout=_WITHIN)).value]


async def _channels(bus: "Bus") -> list[str]:
    from sk_bus.queries import ListChannels

    listed = (await bus.query(ListChannels(), timeout=_WITHIN)).value
    return [one.name for one in listed if one.name]


async def _permissions(bus: "Bus") -> list[str]:
    from sk_bus.queries import Permissions

    return [one.id for one in (await bus.query(Permissions(), timeout=_WITHIN)).value]
