"""`sk-cli agents`: list, show, start, stop and restart them, and hear what they say."""

from collections.abc import Callable, Sequence

import click

from sk_bus.commands import AnyCommand, Restart, Start, Stop
from sk_bus.contract import Bus
from sk_bus.events import AgentLog, Kind
from sk_bus.model import AgentName, AgentView, CommandId, Cursor
from sk_bus.queries import Commands, Logs
from sk_bus.wire import Batch
from sk_cli import asking, definitions, messages, render, replaying, traffic
from sk_cli.completing import agent_names
from sk_cli.failure import Exit
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, Group, Whole, option
from sk_cli.summaries import state_text
from sk_cli.words import problem_text, t

# A first `npx` or `uvx` download takes minutes.
_TIMEOUT = 600.0


@click.group(cls=Group, help="help.agents")
def command() -> None:
    pass


@command.command("list", cls=Command, help="help.agents.list")
@pass_invocation
def list_(told: Invocation) -> None:
    agents = asking.ask(told, asking.agents)
    if told.json:
        told.document(list(agents))
        return
    if not agents:
        told.say(t("agents.none"))
        return
    from sk_cli.tables import State, table

    rows = [[one.name, State(one.state), one.title, said(one)] for one in agents]
    table(told, [t("head.agent"), t("head.state"), t("head.title"), ""], rows)


@command.command("show", cls=Command, help="help.agents.show")
@click.argument("agent", shell_complete=agent_names)
@pass_invocation
def show(told: Invocation, *, agent: str) -> None:
    one = asking.ask(told, lambda bus: asking.agent(bus, agent))
    if told.json:
        told.document(one)
        return
    rows = [
        (t("agents.name"), one.name),
        (t("agents.title"), one.title),
        (t("agents.description"), one.description),
        (t("agents.state"), state_text(one.state)),
        (t("agents.memory"), "" if one.memory is None else render.megabytes(one.memory)),
        ("", said(one)),
    ]
    for head, value in rows:
        if value:
            print(f"{head:<12} {render.one_line(value)}")
    for line in messages.last_words(one.error):
        print(f"{'':<12} | {line}")
    if one.error and asking.next_step(one.error):
        told.say(t("failure.next", then=asking.next_step(one.error)))


@command.command("start", cls=Command, help="help.agents.start")
@click.argument("agents", nargs=-1, required=True, shell_complete=agent_names)
@pass_invocation
def start(told: Invocation, *, agents: tuple[str, ...]) -> None:
    _each(told, agents, lambda id_, agent: Start(id=id_, agent=agent), "started")


@command.command("stop", cls=Command, help="help.agents.stop")
@click.argument("agents", nargs=-1, required=True, shell_complete=agent_names)
@pass_invocation
def stop(told: Invocation, *, agents: tuple[str, ...]) -> None:
    _each(told, agents, lambda id_, agent: Stop(id=id_, agent=agent), "stopped")


@command.command("restart", cls=Command, help="help.agents.restart")
@click.argument("agents", nargs=-1, shell_complete=agent_names)
@option("--outdated", is_flag=True, help="help.agents.restart.outdated")
@pass_invocation
def restart(told: Invocation, *, agents: tuple[str, ...], outdated: bool) -> None:
    if not agents and not outdated:
        raise click.UsageError(t("agents.which"))
    names = list(agents)
    if outdated:
        names += [one.name for one in asking.ask(told, asking.agents) if one.outdated]
    if not names:
        told.say(t("agents.none-outdated"))
    _each(told, names, lambda id_, agent: Restart(id=id_, agent=agent), "restarted")


@command.command("logs", cls=Command, help="help.agents.logs")
@click.argument("agent", shell_complete=agent_names)
@option("-f", "--follow", is_flag=True, help="help.follow")
@option("-n", "lines", type=Whole(0), default=200, metavar="N", help="help.agents.logs.n")
@pass_invocation
def logs(told: Invocation, *, agent: str, follow: bool, lines: int) -> int:
    async def body(bus: Bus) -> None:
        name = (await asking.agent(bus, agent)).name
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

    return _quietly(lambda: asking.ask(told, body))


@command.command("commands", cls=Command, help="help.agents.commands")
@click.argument("agent", shell_complete=agent_names)
@pass_invocation
def commands(told: Invocation, *, agent: str) -> None:
    async def body(bus: Bus) -> None:
        name = (await asking.agent(bus, agent)).name
        announced = (await bus.query(Commands(agent=name))).value
        if told.json:
            told.document(list(announced))
            return
        for one in announced:
            called = f"/{one.name} {one.hint}".rstrip()
            print(render.one_line(f"{called} – {one.description}" if one.description else called))
        if not announced:
            told.say(t("agents.no-commands", agent=name))

    asking.ask(told, body)


@command.command("traffic", cls=Command, help="help.agents.traffic")
@click.argument("agent", shell_complete=agent_names)
@option("-f", "--follow", is_flag=True, help="help.follow")
@option("-n", "count", type=Whole(0), default=50, metavar="N", help="help.agents.traffic.n")
@pass_invocation
def traffic_(told: Invocation, *, agent: str, follow: bool, count: int) -> int:
    hide = traffic.hiding(definitions.all_of(told.choice.instance))

    async def body(bus: Bus) -> None:
        name = (await asking.agent(bus, agent)).name
        hello = await bus.hello()

        def found(batch: Batch) -> list[traffic.Frame]:
            if not batch.kinds & (Kind.DO | Kind.FACT):
                return []
            return list(traffic.frames(batch, name, hide))

        shown = await replaying.last(bus, hello, found, count)
        for frame in shown:
            _frame(told, frame)
        if not shown and not follow:
            told.say(t("agents.no-traffic", agent=name))
        if not follow:
            return
        async for item in bus.follow(Cursor(epoch=hello.epoch, seq=hello.head)):
            if isinstance(item, Batch):
                for frame in found(item):
                    _frame(told, frame)

    return _quietly(lambda: asking.ask(told, body))


def _frame(told: Invocation, frame: traffic.Frame) -> None:
    if told.json:
        told.line(frame.plain())
        return
    arrow = "→" if frame.to else "←"
    head = f"{frame.seq}  {render.clock(frame.ts)}  {arrow} {traffic.method(frame.line)}"
    print(told.styled(render.one_line(head), fg="cyan" if frame.to else "green"))
    print(told.written(frame.line), flush=True)


def said(one: AgentView) -> str:
    """What is to be said of an agent beside its state."""
    marks = [state_text(mark) for mark in ("stopping", "outdated") if getattr(one, mark)]
    error = render.one_line(problem_text(one.error)) if one.error else ""
    return ", ".join(filter(None, [*marks, error]))


def _log_line(told: Invocation, line: str) -> None:
    if told.json:
        told.line({"line": line})
    else:
        print(render.neutral(line), flush=True)


def _quietly(run: Callable[[], None]) -> int:
    """Ctrl-C is how one ends what goes on for ever."""
    try:
        run()
    except KeyboardInterrupt:
        return int(Exit.DONE)
    return int(Exit.DONE)


def _each(
    told: Invocation,
    agents: Sequence[str],
    make: Callable[[CommandId, AgentName], AnyCommand],
    done: str,
) -> None:
    made = []

    async def body(bus: Bus) -> None:
        for agent in agents:
            name = (await asking.agent(bus, agent)).name
            await asking.done(bus, make(asking.command_id(), name), timeout=_TIMEOUT)
            made.append({"agent": name, "done": done})
            if not told.json:
                told.say(t(f"agents.{done}", agent=name))

    asking.ask(told, body)
    if told.json:
        told.document(made)
