"""`sk-cli status`: components, agents, configuration and history on one screen."""

import asyncio
import shutil
import sys
import time
from dataclasses import dataclass
from typing import Any

import click

from sk_bus.codec import plain
from sk_bus.contract import Bus, Heartbeat, Hello
from sk_bus.errors import SidekicksError
from sk_bus.model import AgentView, Channel, ChannelId
from sk_bus.queries import (
    AnyQuery,
    Components,
    Conversation,
    ConversationView,
    Current,
    CurrentConfig,
    ListAgents,
    ListChannels,
)
from sk_cli import asking, instances, observing, spans, standing
from sk_cli.commands.agents import said
from sk_cli.failure import Exit
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.observing import Seen
from sk_cli.options import Command, option
from sk_cli.render import channel_name, megabytes
from sk_cli.standing import Place
from sk_cli.summaries import state_text
from sk_cli.words import grouped, t

_ANSWER_WITHIN = 2.0
# Where agents are busy and how full they are: of so many channels, the newest.
_LOOKED_AT = 100
# What the first line takes: where a terminal is narrower, each of its parts has its own.
_ONE_LINE = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What one look at everything brought; what couldn't be asked is ``None``."""

    hello: Hello | None
    beat: Heartbeat | None
    agents: tuple[AgentView, ...] | None
    current: CurrentConfig | None
    components: list[Seen]
    places: dict[str, Place]
    rate: float | None

    @property
    def trouble(self) -> str | None:
        return self.hello.historyProblem if self.hello else None

    @property
    def state(self) -> str:
        well = all(one.state == "running" for one in self.components) and not self.trouble
        return "running" if well else "degraded"


@click.command(cls=Command, help="help.status")
@option("--watch", is_flag=True, help="help.status.watch")
@pass_invocation
def command(told: Invocation, *, watch: bool) -> int:
    if not watch:
        return _shown(told, _look(told, None))
    before: tuple[int, float] | None = None
    try:
        while True:
            seen = _look(told, before)
            before = (seen.hello.head, time.monotonic()) if seen.hello else None
            if sys.stdout.isatty() and not told.json:
                click.clear()
            _shown(told, seen, stream=True)
            if not told.json:
                print(flush=True)
            asking.ask(told, lambda bus: observing.heartbeat(bus, _ANSWER_WITHIN))
    except KeyboardInterrupt:
        return int(Exit.DONE)


def _look(told: Invocation, before: tuple[int, float] | None) -> _Seen:
    instances.require_running(told.choice)
    processes = instances.supervisor(told.choice.instance).processes()

    async def body(bus: Bus) -> _Seen:
        hello, beat, agents, current, counted, places = await asyncio.gather(
            _hello(bus),
            observing.heartbeat(bus, _ANSWER_WITHIN),
            _asked(bus, ListAgents()),
            _asked(bus, Current()),
            _asked(bus, Components()),
            _places(bus),
        )
        restarts = {str(one.component): one.restarts for one in counted or ()}
        rate = None
        if before and hello:
            rate = max(0, hello.head - before[0]) / max(0.001, time.monotonic() - before[1])
        return _Seen(
            hello=hello,
            beat=beat,
            agents=agents,
            current=current,
            components=observing.components(processes, beat, restarts),
            places=places,
            rate=rate,
        )

    return asking.ask(told, body)


async def _places(bus: Bus) -> dict[str, Place]:
    channels: tuple[Channel, ...] | None = await _asked(bus, ListChannels())
    listed = (channels or ())[-_LOOKED_AT:]
    views = await asyncio.gather(*(_asked(bus, _conversation(one.id)) for one in listed))
    found: list[ConversationView] = [view for view in views if view is not None]
    return standing.places(found)


def _conversation(channel: ChannelId) -> Conversation:
    return Conversation(channel=channel)


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


def _shown(told: Invocation, seen: _Seen, *, stream: bool = False) -> int:
    if told.json:
        _document(told, seen, stream=stream)
    else:
        _print(told, seen)
    return int(Exit.DONE if seen.state == "running" else Exit.DEGRADED)


def _document(told: Invocation, seen: _Seen, *, stream: bool) -> None:
    instance = told.choice.instance
    made = {
        "state": seen.state,
        "pid": instances.require_running(told.choice),
        "address": instances.address(instance),
        "instance": instance.name,
        "bus": seen.hello,
        "components": [plain(one) for one in seen.components],
        "agents": seen.agents,
        "places": {name: plain(place) for name, place in seen.places.items()},
        "config": seen.current,
        "historyProblem": seen.trouble,
    }
    if stream:
        told.line(made)
    else:
        told.document(made)


def _print(told: Invocation, seen: _Seen) -> None:
    from sk_cli.tables import STYLES, State, table

    instance = told.choice.instance
    shown = told.styled(state_text(seen.state), fg=STYLES[seen.state])
    since = min((one.since for one in seen.components if one.since), default=0)
    up = t("status.up", time=spans.spoken(observing.age(since))) if since else ""
    if seen.hello is None:
        bus = t("status.silent")
    else:
        # Seqs begin at the epoch's number, which has sixteen digits and tells a person nothing.
        events = seen.hello.head - seen.hello.epoch
        bus = t("status.events", count=events, number=grouped(events))
        bus += "" if seen.rate is None else t("status.rate", number=grouped(round(seen.rate)))
    pieces = [f"sidekicks  {shown}", *filter(None, [up, instances.address(instance), bus])]
    narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < _ONE_LINE
    print(("\n" if narrow else "   ").join(pieces), end="\n\n")
    heads = ("component", "state", "pid", "up", "beat", "restarts", "memory")
    table(
        told,
        [*(t(f"head.{head}") for head in heads), ""],
        [
            [
                one.component,
                State(one.state),
                str(one.pid or "–"),
                spans.spoken(observing.age(one.since)) if one.since else "–",
                "–" if one.beat is None else spans.spoken(one.beat),
                "–" if one.restarts is None else str(one.restarts),
                megabytes(one.memory),
                one.problem or standing.details(one.details),
            ]
            for one in seen.components
        ],
    )
    print()
    if seen.agents is None:
        print(t("status.no-agents"))
    elif seen.agents:
        table(
            told,
            [*(t(f"head.{head}") for head in ("agent", "state", "in", "context", "memory")), ""],
            [_agent_row(State(one.state), one, seen.places) for one in seen.agents],
        )
    else:
        print(t("agents.none"))
    print()
    for line in standing.config_lines(seen.current, str(told.choice.config)):
        print(line)
    if seen.trouble:
        print(f"{t('status.history'):<9} {seen.trouble}")
    down = [one.component for one in seen.components if one.state != "running"]
    if down:
        print(t("failure.next", then=f"sk-cli logs {down[0]} -n 50   |   sk-cli restart {down[0]}"))


def _agent_row(state: str, one: AgentView, places: dict[str, Place]) -> list[str]:
    place = places.get(one.name, Place())
    where = channel_name(place.channel) if place.channel else "–"
    return [one.name, state, where, standing.context(place), megabytes(one.memory), said(one)]
