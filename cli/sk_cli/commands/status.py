"""`sk-cli status`: components, agents, configuration and history on one screen."""

import asyncio
import sys
from typing import Any

import click

from sk_bus.codec import plain
from sk_bus.contract import Bus, Heartbeat, Hello
from sk_bus.errors import SidekicksError
from sk_bus.queries import AnyQuery, Components, Current, CurrentConfig, ListAgents
from sk_cli import asking, instances, observing, render, spans
from sk_cli.failure import Exit
from sk_cli.invocation import Command, Invocation, pass_invocation
from sk_cli.observing import Seen

_ANSWER_WITHIN = 2.0


@click.command(cls=Command, help="Show components, agents and configuration.")
@click.option("--watch", is_flag=True, help="Go on, anew with every heartbeat.")
@pass_invocation
def command(told: Invocation, *, watch: bool) -> int:
    if not watch:
        return _once(told)
    try:
        while True:
            if sys.stdout.isatty():
                click.clear()
            _once(told)
            print(flush=True)
            asking.ask(told, lambda bus: observing.heartbeat(bus, _ANSWER_WITHIN))
    except KeyboardInterrupt:
        return int(Exit.DONE)


def _once(told: Invocation) -> int:
    instance = told.choice.instance
    pid = instances.require_running(told.choice)
    processes = instances.supervisor(instance).processes()

    async def body(bus: Bus) -> tuple[Hello | None, Heartbeat | None, Any, Any, Any]:
        hello, beat, agents, current, counted = await asyncio.gather(
            _hello(bus),
            observing.heartbeat(bus, _ANSWER_WITHIN),
            _asked(bus, ListAgents()),
            _asked(bus, Current()),
            _asked(bus, Components()),
        )
        return hello, beat, agents, current, counted

    hello, beat, agents, current, counted = asking.ask(told, body)
    restarts = {str(one.component): one.restarts for one in counted or ()}
    components = observing.components(processes, beat, restarts)
    trouble = hello.historyProblem if hello else None
    well = all(one.state == "running" for one in components) and not trouble
    state = "running" if well else "degraded"
    if told.json:
        told.document(
            {
                "state": state,
                "pid": pid,
                "address": instances.address(instance),
                "instance": instance.name,
                "bus": hello,
                "components": [plain(one) for one in components],
                "agents": agents,
                "config": current,
                "historyProblem": trouble,
            }
        )
    else:
        _print(
            told, state=state, hello=hello, components=components, agents=agents, current=current
        )
    return int(Exit.DONE if well else Exit.DEGRADED)


async def _hello(bus: Bus) -> Hello | None:
    try:
        return await bus.hello(timeout=_ANSWER_WITHIN)
    except SidekicksError:
        return None


async def _asked(bus: Bus, query: AnyQuery) -> Any:
    """The answer to ``query``; ``None`` while its owner is down, which the table shows anyway."""
    try:
        return (await bus.query(query, timeout=_ANSWER_WITHIN)).value
    except SidekicksError:
        return None


def _print(
    told: Invocation,
    *,
    state: str,
    hello: Hello | None,
    components: list[Seen],
    agents: Any,
    current: CurrentConfig | None,
) -> None:
    from sk_cli.tables import STYLES, table

    instance = told.choice.instance
    head = f"   bus seq {hello.head}" if hello else "   the bus does not answer"
    shown = told.styled(state, fg=STYLES[state])
    print(f"sidekicks  {shown}   {instances.address(instance)}{head}\n")
    table(
        told,
        ["COMPONENT", "STATE", "PID", "UP", "RESTARTS", "MEMORY", ""],
        [
            [
                one.component,
                one.state,
                str(one.pid or "–"),
                spans.spoken(observing.age(one.since)) if one.since else "–",
                "–" if one.restarts is None else str(one.restarts),
                _bytes(one.memory),
                one.problem or _details(one.details),
            ]
            for one in components
        ],
    )
    print()
    if agents is None:
        print("the agents can't be listed: sk-agents does not answer")
    elif agents:
        table(
            told,
            ["AGENT", "STATE", "MEMORY", ""],
            [
                [
                    one.name,
                    str(one.state),
                    _bytes(one.memory),
                    ", ".join(
                        filter(
                            None,
                            [
                                "stopping" if one.stopping else "",
                                "restart to apply changes" if one.outdated else "",
                                one.error.message if one.error else "",
                            ],
                        )
                    ),
                ]
                for one in agents
            ],
        )
    else:
        print("no agent is configured")
    print()
    _print_config(told, current)
    if hello and hello.historyProblem:
        print(f"history   {hello.historyProblem}")
    down = [one.component for one in components if one.state != "running"]
    if down:
        print(f"next      sk-cli logs {down[0]} -n 50    sk-cli restart {down[0]}")


def _print_config(told: Invocation, current: CurrentConfig | None) -> None:
    if current is None:
        print(f"config    {told.choice.config}   (sk-config does not answer)")
        return
    problems = render.counted(len(current.problems), "problem")
    word = "valid" if current.valid else f"{problems}: sk-cli config validate"
    warnings = f", {render.counted(len(current.warnings), 'warning')}" if current.warnings else ""
    print(f"config    {current.path}   {word}{warnings}")


def _details(details: dict[str, Any]) -> str:
    return ", ".join(filter(None, (_detail(key, value) for key, value in details.items())))


def _detail(key: str, value: Any) -> str:
    """One thing that a component reports of itself; nothing, where it is as it should be."""
    match key, value:
        case "full", _:
            return "the journal is full" if value else ""
        case "journal", int():
            return f"journal {_bytes(value)}"
        case "browsers", int():
            return render.counted(value, "browser") if value else ""
        case _:
            return f"{key} {value}"


def _bytes(number: int | None) -> str:
    return "–" if number is None else f"{number / 2**20:.0f} MB"
