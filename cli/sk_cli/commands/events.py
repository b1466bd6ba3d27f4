"""`sk-cli events`: watch the bus, filter it, replay it from a point in the past.

Events go to stdout, what is to be said of them (a hole, a new epoch) to stderr.
"""

import re
import time
from dataclasses import dataclass
from typing import Any

import click
import orjson

from sk_bus.contract import Bus, Hello, Resync
from sk_bus.model import Cursor
from sk_bus.queries import ListChannels
from sk_bus.wire import Batch
from sk_cli import asking, render, selection
from sk_cli.failure import Exit, Failure
from sk_cli.folding import Entry, Folding
from sk_cli.invocation import Command, Invocation, pass_invocation
from sk_cli.moments import Moment, moment

# A run of deltas that goes on is shown at least this often.
_SHOWN_AFTER_MS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    since: Moment | None
    until: Moment | None
    last: int | None
    count: int | None
    follow: bool
    deltas: str
    wanted: selection.Wanted


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
    "-n", "last", type=click.IntRange(1), help="Begin N events back, internal ones counted."
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
        wanted = selection.Wanted(
            everything=everything,
            topics=topics,
            without=without,
            agents=selection.agents(agents),
            channels=frozenset(ids),
            text=text,
        )
        asked = _Asked(
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
        asking.ask(told, body)
    except KeyboardInterrupt:
        return int(Exit.DONE)
    return int(Exit.DONE)


async def _shown(told: Invocation, bus: Bus, asked: _Asked) -> None:
    hello = await bus.hello()
    names: dict[str, str] = {}
    if not told.json:
        listed = (await bus.query(ListChannels())).value
        names = {one.id: render.channel_name(one) for one in listed}
    sink = _Sink(told, names, asked)
    after = _after(asked, hello)
    end = _end(asked, hello)
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


def _after(asked: _Asked, hello: Hello) -> int:
    """The seq before the first one wanted; 0 is the beginning of what is kept."""
    match asked.since:
        case Moment(seq=int(seq)):
            return seq - 1 if seq > hello.floor else 0
        case Moment():
            return 0
    if asked.last is not None:
        return max(hello.head - asked.last, 0) if hello.head - asked.last >= hello.floor else 0
    return hello.head if asked.follow else 0


def _end(asked: _Asked, hello: Hello) -> int | None:
    """The last seq wanted, where the call ends by itself."""
    until = asked.until.seq if asked.until else None
    if asked.follow and until is not None:
        return until
    if not asked.follow:
        return hello.head if until is None else min(until, hello.head)
    return None


class _Sink:
    """Writes what is wanted of a batch."""

    def __init__(self, told: Invocation, names: dict[str, str], asked: _Asked) -> None:
        self._told = told
        self._names = names
        self._asked = asked
        self._folding = Folding()
        self._last_ts = 0
        self.shown = 0

    def take(self, batch: Batch, end: int | None) -> bool:
        """Whether that was all that the call is to show."""
        asked = self._asked
        since = asked.since.ts if asked.since else None
        until = asked.until.ts if asked.until else None
        self._last_ts = batch.ts
        if since is not None and batch.ts < since:
            return False
        if until is not None and batch.ts > until:
            self.flush()
            return True
        lines: list[str] = []
        for seq, event in enumerate(batch.raw(), batch.first):
            if end is not None and seq > end:
                break
            if event.get("type") == "channels:changed":
                self._names |= {one["id"]: _name(one) for one in event["channels"]}
            if event.get("type") == "message:delta" and asked.deltas == "none":
                continue
            entry = Entry(epoch=batch.epoch, seq=seq, ts=batch.ts, event=event)
            if not asked.wanted.holds(event, _json(event) if asked.wanted.text else ""):
                continue
            ready = self._folding.add(entry) if asked.deltas == "fold" else [entry]
            lines += [self._line(one) for one in ready]
            if asked.count is not None and self.shown + len(lines) >= asked.count:
                self._write(lines[: asked.count - self.shown])
                return True
        self._write(lines)
        return False

    def flush(self, *, older_than: int = 0) -> None:
        """Write the run of deltas that is held back, if it is that old (ms)."""
        if older_than and time.time_ns() // 1_000_000 - self._last_ts < older_than:
            return
        self._write([self._line(one) for one in self._folding.flush()])

    def _write(self, lines: list[str]) -> None:
        self.shown += len(lines)
        if lines and not self._told.quiet:
            print("\n".join(lines), flush=True)

    def _line(self, entry: Entry) -> str:
        if self._told.json:
            return _json_line(entry)
        type_ = str(entry.event.get("type"))
        said = render.summary(entry.event)
        if entry.count > 1:
            type_ = f"{type_} ×{entry.count}"
            said = f"{entry.event.get('kind')} +{entry.characters} characters"
            said += f" ({entry.lasted / 1000:.1f} s)"
        place = render.where(entry.event, self._names)
        head = f"{entry.seq}  {render.clock(entry.ts)}"
        topic = self._told.styled(f"{type_:<22}", fg="cyan")
        return f"{self._told.styled(head, dim=True)}  {topic}  {place:<16}  {said}"


def _name(channel: dict[str, Any]) -> str:
    return f"@{channel['direct']}" if channel.get("direct") else f"#{channel.get('name')}"


def _json_line(entry: Entry) -> str:
    data = {key: value for key, value in entry.event.items() if key != "type"}
    made: dict[str, Any] = {
        "seq": entry.seq,
        "epoch": entry.epoch,
        "ts": entry.ts,
        "type": entry.event.get("type"),
        "data": data,
    }
    if entry.count > 1:
        made["count"] = entry.count
        made["characters"] = entry.characters
    return _json(made)


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError as error:
        raise Failure(f"an event that JSON can't hold: {error}") from error
