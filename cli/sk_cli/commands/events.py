"""`sk-cli events`: watch the bus, filter it, replay it from a point in the past.

Events go to stdout, what is to be said of them (a hole, a new epoch) to stderr.
"""

import asyncio
import fnmatch
import re
import sys

import click

from sk_bus.contract import Bus, Hello, Resync
from sk_bus.errors import SidekicksError
from sk_bus.model import Channel, Cursor
from sk_bus.queries import ListAgents, ListChannels
from sk_bus.vocabulary import EVENTS
from sk_bus.wire import Batch
from sk_cli import asking, instances, render, selection
from sk_cli.bygone import Bygone, bygone
from sk_cli.completing import agent_names, channel_names
from sk_cli.failure import Exit
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.moments import Moment
from sk_cli.options import Command, OneOf, Whole, option
from sk_cli.sink import Asked, Sink
from sk_cli.when import When
from sk_cli.words import t

# A run of deltas that goes on is shown at least this often.
_SHOWN_AFTER_MS = 1000
# What only makes lines nicer must not keep a watcher waiting for a component that is down.
_ORNAMENT_WITHIN = 1.5


@click.command(cls=Command, help="help.events")
@option("--since", type=When(), metavar="SEQ|5m|boot|TIME", help="help.events.since")
@option("--until", type=When(), metavar="SEQ|TIME", help="help.events.until")
@option("-n", "last", type=Whole(1), metavar="N", help="help.events.n")
@option("--count", type=Whole(1), metavar="N", help="help.events.count")
@option("-t", "topics", multiple=True, metavar="GLOB", help="help.events.t")
@option("-x", "without", multiple=True, metavar="GLOB", help="help.events.x")
@option(
    "-a", "agents", multiple=True, metavar="AGENT", help="help.events.a", shell_complete=agent_names
)
@option(
    *("-c", "channels"),
    multiple=True,
    metavar="CHANNEL",
    help="help.events.c",
    shell_complete=channel_names,
)
@option("--grep", metavar="RE", help="help.events.grep")
@option("--deltas", type=OneOf(["fold", "all", "none"]), help="help.events.deltas")
@option("--all", "everything", is_flag=True, help="help.events.all")
@option("--follow/--no-follow", "-f", default=True, help="help.events.follow")
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
        raise click.UsageError(t("usage.regex", given=grep, why=error)) from error

    runs = instances.supervisor_pid(told.choice.instance) is not None

    async def body(bus: Bus | Bygone) -> None:
        listed = await _channels(told, bus, needed=bool(channels))
        ids = [_channel(named, listed) for named in channels]
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
            follow=follow and runs,
            deltas=deltas or ("all" if told.json else "fold"),
            wanted=wanted,
        )
        await shown(told, bus, asked, {one.id: render.channel_name(one) for one in listed})

    try:
        if runs:
            asking.ask(told, body, late=t("events.no-more"), then="sk-cli events --since 5m")
        else:
            with bygone(told.choice) as log:
                told.say(t("events.offline"))
                asyncio.run(body(log))
    except KeyboardInterrupt:
        return int(Exit.DONE)
    return int(Exit.DONE)


async def _check_names(
    told: Invocation, bus: Bus | Bygone, agents: tuple[str, ...], topics: tuple[str, ...]
) -> None:
    """Say which names fit nothing known: who waits for them would wait for ever."""
    for glob in topics:
        if not fnmatch.filter(EVENTS, glob):
            told.say(t("events.no-type", glob=glob))
    if not agents or isinstance(bus, Bygone):
        return
    try:
        listed = (await bus.query(ListAgents(), timeout=_ORNAMENT_WITHIN)).value
    except SidekicksError:
        return  # who is configured can't be known now; the events will show
    configured = [one.name for one in listed]
    for name in sorted(selection.agents(agents) - selection.agents(configured)):
        told.say(t("events.no-agent", agent=name, known=", ".join(configured)))


async def shown(told: Invocation, bus: Bus | Bygone, asked: Asked, names: dict[str, str]) -> None:
    hello = await bus.hello()
    sink = Sink(told, names, asked)
    if sys.stdout.isatty() and not (told.json or told.quiet):
        sink.head()
    after = _after(asked, hello)
    end = _end(asked, hello)
    if asked.last is not None:
        if await _last(bus, hello, sink, asked, end):
            return
        after = hello.head
    if end is not None and after >= end:
        return
    if end is not None and end < hello.floor:
        # Deleting a channel sweeps the log: nothing of what is asked for would ever come.
        told.say(t("events.pruned", seq=hello.floor))
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
                    told.say(t("events.epoch"))
                elif after >= item.floor or sink.shown:
                    told.say(t("events.pruned", seq=item.head + 1))
                epoch = item.epoch
            case _:
                sink.flush(older_than=_SHOWN_AFTER_MS)


async def _channels(told: Invocation, bus: Bus | Bygone, *, needed: bool) -> tuple[Channel, ...]:
    """The channels there are; where they are an ornament only, nobody waits long for them."""
    if isinstance(bus, Bygone):
        return bus.channels()
    if needed:
        return await asking.channels(bus)
    if told.json:
        return ()
    try:
        listed: tuple[Channel, ...] = (
            await bus.query(ListChannels(), timeout=_ORNAMENT_WITHIN)
        ).value
    except SidekicksError:
        told.say(t("events.ids"))
        return ()
    return listed


def _channel(named: str, listed: tuple[Channel, ...]) -> str:
    one = selection.found(named, listed)
    if one is None:
        raise asking.no_such_channel(named, listed)
    return one.id


async def _last(bus: Bus | Bygone, hello: Hello, sink: Sink, asked: Asked, end: int | None) -> bool:
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
