"""`sk-cli agents`: list, show, start, stop and restart them, and read what they say on stderr."""

from collections.abc import Callable

import click

from sk_bus.commands import AnyCommand, Restart, Start, Stop
from sk_bus.contract import Bus
from sk_bus.events import AgentLog
from sk_bus.model import AgentName, AgentView, CommandId, Cursor
from sk_bus.queries import Commands, ListAgents, Logs
from sk_bus.wire import Batch
from sk_cli import asking, render
from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Command, Group, Invocation, pass_invocation

# A first `npx` or `uvx` download takes minutes.
_TIMEOUT = 600.0


@click.group(cls=Group, help="List, start, stop and restart agents.")
def command() -> None:
    pass


@command.command("list", cls=Command, help="Every configured agent.")
@pass_invocation
def list_(told: Invocation) -> None:
    agents = asking.ask(told, _listed)
    if told.json:
        told.document(list(agents))
        return
    from sk_cli.tables import table

    rows = [[one.name, str(one.state), one.title, _said(one)] for one in agents]
    table(told, ["AGENT", "STATE", "TITLE", ""], rows)


@command.command("show", cls=Command, help="One agent.")
@click.argument("agent")
@pass_invocation
def show(told: Invocation, *, agent: str) -> None:
    async def body(bus: Bus) -> AgentView:
        return _named(await _listed(bus), agent)

    one = asking.ask(told, body)
    if told.json:
        told.document(one)
        return
    for key in ("name", "title", "description", "state", "memory"):
        value = getattr(one, key)
        if value not in ("", None):
            print(f"{key:<12} {render.one_line(str(value))}")
    if _said(one):
        print(f"{'':<12} {_said(one)}")
    for line in render.last_words(one.error):
        print(f"{'':<12} | {line}")


@command.command("start", cls=Command, help="Start agents; waits until they are ready.")
@click.argument("agents", nargs=-1, required=True)
@pass_invocation
def start(told: Invocation, *, agents: tuple[str, ...]) -> None:
    _each(told, agents, lambda id_, agent: Start(id=id_, agent=agent), "started")


@command.command("stop", cls=Command, help="Stop agents; waits until nothing of them is left.")
@click.argument("agents", nargs=-1, required=True)
@pass_invocation
def stop(told: Invocation, *, agents: tuple[str, ...]) -> None:
    _each(told, agents, lambda id_, agent: Stop(id=id_, agent=agent), "stopped")


@command.command("restart", cls=Command, help="Stop agents and start them again.")
@click.argument("agents", nargs=-1)
@click.option("--outdated", is_flag=True, help="Those whose definition has changed.")
@pass_invocation
def restart(told: Invocation, *, agents: tuple[str, ...], outdated: bool) -> None:
    if not agents and not outdated:
        raise click.UsageError("which one? Name agents, or give --outdated")
    names = list(agents)
    if outdated:
        names += [one.name for one in asking.ask(told, _listed) if one.outdated]
    _each(told, names, lambda id_, agent: Restart(id=id_, agent=agent), "restarted")


@command.command("logs", cls=Command, help="What an agent said on stderr.")
@click.argument("agent")
@click.option("-f", "--follow", is_flag=True, help="Go on as it says more.")
@click.option("-n", "lines", type=click.IntRange(0), default=200, help="The last N lines.")
@pass_invocation
def logs(told: Invocation, *, agent: str, follow: bool, lines: int) -> int:
    async def body(bus: Bus) -> None:
        name = _named(await _listed(bus), agent).name
        answer = await bus.query(Logs(agent=name))
        for line in answer.value[-lines:] if lines else ():
            _log_line(told, line)
        if not follow:
            return
        async for item in bus.follow(Cursor(epoch=answer.asOf.epoch, seq=answer.asOf.seq)):
            if isinstance(item, Batch):
                for _, event in item.events():
                    if isinstance(event, AgentLog) and event.agent == name:
                        _log_line(told, event.line)

    try:
        asking.ask(told, body)
    except KeyboardInterrupt:
        return int(Exit.DONE)
    return int(Exit.DONE)


@command.command("commands", cls=Command, help="The slash commands an agent announced last.")
@click.argument("agent")
@pass_invocation
def commands(told: Invocation, *, agent: str) -> None:
    async def body(bus: Bus) -> None:
        name = _named(await _listed(bus), agent).name
        announced = (await bus.query(Commands(agent=name))).value
        if told.json:
            told.document(list(announced))
            return
        for one in announced:
            hint = f" {one.hint}" if one.hint else ""
            print(render.one_line(f"/{one.name}{hint}  {one.description}"))
        if not announced:
            told.say(f"{name} has announced none yet")

    asking.ask(told, body)


async def _listed(bus: Bus) -> tuple[AgentView, ...]:
    agents: tuple[AgentView, ...] = (await bus.query(ListAgents())).value
    return agents


def _named(agents: tuple[AgentView, ...], named: str) -> AgentView:
    wanted = named.removeprefix("@").casefold()
    for one in agents:
        if one.name.casefold() == wanted:
            return one
    there = ", ".join(one.name for one in agents) or "none"
    raise Failure(f"there is no agent {named!r}; configured: {there}", code=Exit.NO_SUCH)


def _said(one: AgentView) -> str:
    marks = ["stopping" if one.stopping else "", "restart to apply changes" if one.outdated else ""]
    error = render.one_line(one.error.message) if one.error else ""
    return ", ".join(filter(None, [*marks, error]))


def _log_line(told: Invocation, line: str) -> None:
    if told.json:
        told.line({"line": line})
    else:
        print(render.neutral(line), flush=True)


def _each(
    told: Invocation,
    agents: tuple[str, ...] | list[str],
    make: Callable[[CommandId, AgentName], AnyCommand],
    word: str,
) -> None:
    async def body(bus: Bus) -> None:
        for agent in agents:
            named = AgentName(agent.removeprefix("@"))
            await asking.done(bus, make(asking.command_id(), named), timeout=_TIMEOUT)
            if not told.json:
                told.say(f"{named} {word}")

    asking.ask(told, body)
    if told.json:
        told.document([{"agent": agent.removeprefix("@"), "done": word} for agent in agents])
