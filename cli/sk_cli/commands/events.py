"""`sk-cli events`: watch the bus, filter it, replay it from a point in the past.

Events go to stdout, what is to be said of them (a hole, a new epoch) to stderr.
"""

import fnmatch
import re
import time
from typing import Any

import click

from sk_bus.contract import Bus, Hello, Resync
from sk_bus.errors import SidekicksError
from sk_bus.model import Cursor
from sk_bus.queries import ListAgents, ListChannels
from sk_bus.vocabulary import EVENTS
from sk_bus.wire import Batch
from sk_cli import asking, render, selection
from sk_cli.failure import Exit
from sk_cli.invocation import Command, Invocation, pass_invocation
from sk_cli.moments import Moment, moment
from sk_cli.sink import Asked, Sink

# A run of deltas that goes on is shown at least this often.
_SHOWN_AFTER_MS = 1000
# What only makes lines nicer must not keep a watcher waiting for a component that is down.
_ORNAMENT_WITHIN = 1.5


class _When(click.ParamType[Moment]):
    name = "when"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Moment:
        if isinstance(value, Moment):
            return value
        made = moment(str(value), now=time.time_ns() // 1_000_000)
        if made is None:
            self.fail(f"{value!r} is no seq, 5m, boot, 14:02 or 2026-11-30T14:02", param, ctx)
        return made


@click.command(cls=Command, help="Watch the bus; --since replays it from a point in the past.")
@click.option("--since", type=_When(), metavar="SEQ|5m|boot|TIME", help="Begin there.")
@click.option("--until", type=_When(), metavar="SEQ|TIME", help="End there.")
@click.option(
    "-n", "last", type=click.IntRange(1), help="Begin with the last N of what is asked for."
)
@click.option("--count", type=click.IntRange(1), help="End after so many events.")
@click.option("-t", "topics", multiple=True, metavar="GLOB", help="Only these types.")
@click.option("-x", "without", multiple=True, metavar="GLOB", help="Not these types.")
@click.option("-a", "agents", multiple=True, metavar="AGENT", help="Only about these agents.")
@click.option("-c", "channels", multiple=True, metavar="CHANNEL", help="Only in these channels.")
@click.option("--grep", metavar="RE", help="Only events whose JSON fits.")
@click.option(
    "--deltas",
    type=click.Choice(["fold", "all", "none"]),
    help="Runs of deltas as one line, each, or not at all (default: fold; with --json: all).",
)
@click.option("--all", "everything", is_flag=True, help="Internal events too.")
@click.option("--follow/--no-follow", "-f", default=True, help="End at the log's present end.")
@pass_invocation
def command(
    told: Invocation,
    *,
    since: Moment | None,
    until: Moment | None,
    last: int | None,
    count: int | None,
    topics: tuple[str, ...],
    without: tuple[str, ...],
    agents: tuple[str, ...],
    channels: tuple[str, ...],
    grep: str | None,
    deltas: str | None,
    everything: bool,
    follow: bool,
) -> int:
    try:
        text = re.compile(grep) if grep else None
    except re.error as error:
        raise click.UsageError(f"--grep {grep!r} is no regular expression: {error}") from error

    async def body(bus: Bus) -> None:
        ids = [(await asking.channel(bus, named)).id for named in channels]
        await _check_names(told, bus, agents, topics)
        wanted = selection.Wanted(
            everything=everything,
            topics=topics,
            without=without,
            agents=selection.agents(agents),
            channels=frozenset(ids),
            text=text,
        )
        asked = Asked(
            since=since,
            until=until,
            last=last,
            count=count,
            follow=follow,
            deltas=deltas or ("all" if told.json else "fold"),
            wanted=wanted,
        )
        await _shown(told, bus, asked)

    try:
        asking.ask(told, body, late="no more came", then="sk-cli events --since 5m")
    except KeyboardInterrupt:
        return int(Exit.DONE)
    return int(Exit.DONE)


async def _check_names(
    told: Invocation, bus: Bus, agents: tuple[str, ...], topics: tuple[str, ...]
) -> None:
    """Say which names fit nothing known: who waits for them would wait for ever."""
    for glob in topics:
        if not fnmatch.filter(EVENTS, glob):
            told.say(f"# no event of this version has a type like {glob!r}")
    if not agents:
        return
    try:
        listed = (await bus.query(ListAgents(), timeout=_ORNAMENT_WITHIN)).value
    except SidekicksError:
        return  # who is configured can't be known now; the events will show
    configured = [one.name for one in listed]
    for name in sorted(selection.agents(agents) - selection.agents(configured)):
        told.say(f"# no agent {name!r} is configured; there are {', '.join(configured)}")


async def _shown(told: Invocation, bus: Bus, asked: Asked) -> None:
    hello = await bus.hello()
    sink = Sink(told, {} if told.json else await _names(told, bus), asked)
    after = _after(asked, hello)
    end = _end(asked, hello)
    if asked.last is not None:
        if await _last(bus, hello, sink, asked, end):
            return
        after = hello.head
    if end is not None and after >= end:
        return
    epoch = hello.epoch
    async for item in bus.follow(Cursor(epoch=epoch, seq=after), heartbeats=True):
        match item:
            case Batch():
                epoch = item.epoch
                if sink.take(item, end):
                    return
                if end is not None and item.last >= end:
                    sink.flush()
                    return
            case Resync():
                sink.flush()
                if item.epoch != epoch:
                    told.say("# the bus began a new epoch; what came between is not shown")
                elif after >= item.floor or sink.shown:
                    told.say(f"# events before {item.head + 1} are no longer kept")
                epoch = item.epoch
            case _:
                sink.flush(older_than=_SHOWN_AFTER_MS)


async def _names(told: Invocation, bus: Bus) -> dict[str, str]:
    """The channels' names by their ids: an ornament, for which nobody waits long."""
    try:
        listed = (await bus.query(ListChannels(), timeout=_ORNAMENT_WITHIN)).value
    except SidekicksError:
        told.say("# sk-history does not answer: channels are shown by their ids")
        return {}
    return {one.id: render.channel_name(one) for one in listed}


async def _last(bus: Bus, hello: Hello, sink: Sink, asked: Asked, end: int | None) -> bool:
    """Show the last so many lines of what there is; whether that is all.

    Nobody knows how far back they begin, so the look goes back farther until there are enough.
    """
    first, head = max(_after(asked, hello), hello.floor - 1), hello.head
    stop = head if end is None else min(end, head)
    back = 256
    while True:
        after = max(stop - back, first)
        over = False
        sink.hold(asked.last)
        if after < stop:
            async for item in bus.follow(Cursor(epoch=hello.epoch, seq=after)):
                if isinstance(item, Resync):
                    break
                if isinstance(item, Batch):
                    over = sink.take(item, stop)
                    if over or item.last >= stop:
                        break
            sink.flush()
        if after == first or sink.holds_enough():
            return sink.release() or over or (end is not None and end <= head)
        back *= 8


def _after(asked: Asked, hello: Hello) -> int:
    """The seq before the first one wanted; 0 is the beginning of what is kept."""
    match asked.since:
        case Moment(seq=int(seq)):
            return seq - 1 if seq > hello.floor else 0
        case Moment():
            return 0
    return hello.head if asked.follow and asked.last is None else 0


def _end(asked: Asked, hello: Hello) -> int | None:
    """The last seq wanted, where the call ends by itself."""
    until = asked.until.seq if asked.until else None
    if asked.follow and until is not None:
        return until
    if not asked.follow:
        return hello.head if until is None else min(until, hello.head)
    return None
