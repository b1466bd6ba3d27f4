"""`sk-cli history`: search what was said, take it out and bring it in, and see where it lies."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import click

from sk_bus.contract import Bus
from sk_bus.model import AgentName, ChannelId
from sk_bus.queries import (
    Blob,
    Export,
    ExportPage,
    HistoryInfo,
    HistoryView,
    Hit,
    Hits,
    Import,
    Imported,
    Search,
)
from sk_cli import asking, render
from sk_cli.completing import agent_names, channel_names
from sk_cli.failure import Failure
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.moments import Moment
from sk_cli.options import Command, Group, OneOf, Whole, option
from sk_cli.when import When
from sk_cli.words import problem_text, t

_FORMATS: dict[str, Literal["markdown", "jsonl"]] = {
    "md": "markdown",
    "markdown": "markdown",
    "jsonl": "jsonl",
}
_PAGE = 50
_PIECE = 1_000_000
# A big history takes its time to be read or written.
_SLOW = 300.0


@click.group(cls=Group, help="help.history")
def command() -> None:
    pass


@command.command("search", cls=Command, help="help.history.search")
@click.argument("text", nargs=-1)
@option("-a", "--agent", metavar="AGENT", shell_complete=agent_names, help="help.history.agent")
@option(
    *("-c", "--channel"),
    metavar="CHANNEL",
    shell_complete=channel_names,
    help="help.history.channel",
)
@option("--tool", metavar="TEXT", help="help.history.tool")
@option("--path", metavar="TEXT", help="help.history.touched")
@option("--since", type=When(seqs=False), metavar="5d|TIME", help="help.history.since")
@option("--until", type=When(seqs=False), metavar="TIME", help="help.history.until")
@option("-n", "count", type=Whole(1), default=_PAGE, metavar="N", help="help.history.n")
@pass_invocation
def search(
    told: Invocation,
    *,
    text: tuple[str, ...],
    agent: str | None,
    channel: str | None,
    tool: str | None,
    path: str | None,
    since: Moment | None,
    until: Moment | None,
    count: int,
) -> None:
    if not text and not any((agent, channel, tool, path, since, until)):
        raise click.UsageError(t("history.what"))

    async def body(bus: Bus) -> tuple[list[Hit], bool, dict[str, str]]:
        listed = await asking.channels(bus)
        where = (await asking.channel(bus, channel)).id if channel else None
        now = await asking.up_to_now(bus)
        found: list[Hit] = []
        after: str | None = None
        while True:
            page: Hits = (
                await bus.query(
                    Search(
                        text=" ".join(text),
                        agent=AgentName(agent.removeprefix("@")) if agent else None,
                        channel=where,
                        tool=tool,
                        path=path,
                        since=since.ts if since else None,
                        until=until.ts if until else None,
                        after=after,
                        limit=min(_PAGE, count - len(found)),
                    ),
                    after=now,
                )
            ).value
            found += page.hits
            after = page.next
            if after is None or len(found) >= count:
                return found, after is not None, {o.id: render.channel_name(o) for o in listed}

    found, more, channels = asking.ask(told, body)
    if agent and not found:
        # One who has left the configuration is still found by what was said; this is a slip.
        asking.ask(told, lambda bus: asking.agent(bus, agent))
    for hit in found:
        if told.json:
            told.line(hit)
        else:
            _print(told, hit, channels)
    if not told.json:
        key = "history.more" if more else "history.found"
        told.say(t(key, count=len(found)) if found else t("history.nothing"))


def _print(told: Invocation, hit: Hit, channels: dict[str, str]) -> None:
    who = hit.agent or t("author.you")
    place = channels.get(hit.channel, hit.channel)
    head = f"{render.day_and_time(hit.createdAt)}  {place}  {render.one_line(who)}  {hit.messageId}"
    print(told.styled(head, dim=True))
    print("  " + _marked(told, hit))


def _marked(told: Invocation, hit: Hit) -> str:
    """The words around the place, with what was found in bold."""
    pieces = []
    at = 0
    for span in hit.spans:
        pieces.append(_flat(hit.excerpt[at : span.start]))
        end = span.start + span.length
        pieces.append(told.styled(_flat(hit.excerpt[span.start : end]), bold=True))
        at = end
    return "".join([*pieces, _flat(hit.excerpt[at:])])


def _flat(text: str) -> str:
    return render.neutral("".join(" " if one.isspace() else one for one in text))


@command.command("export", cls=Command, help="help.history.export")
@click.argument("channels", nargs=-1, metavar="[CHANNEL]…", shell_complete=channel_names)
@option("--format", "format_", type=OneOf(list(_FORMATS)), default="md", help="help.history.format")
@option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="help.history.output"
)
@option("--force", is_flag=True, help="help.history.force")
@pass_invocation
def export(
    told: Invocation,
    *,
    channels: tuple[str, ...],
    format_: str,
    output: Path | None,
    force: bool,
) -> None:
    if output is not None and output.exists() and not force:
        raise click.UsageError(t("history.exists", path=output))

    async def body(bus: Bus) -> int:
        ids = tuple([(await asking.channel(bus, named)).id for named in channels])
        if output is None:
            return await _export(bus, ids, format_, sys.stdout.write)
        # Beside it and then in its place: what is there is whole, also after Ctrl-C.
        fresh = output.with_name(output.name + ".part")
        try:
            with fresh.open("w", encoding="utf-8", newline="\n") as file:
                written = await _export(bus, ids, format_, file.write)
            fresh.replace(output)
        except OSError as error:
            why = error.strerror
            raise Failure(
                t("history.unwritable", path=output, why=why), then=t("history.unwritable.then")
            ) from error
        finally:
            fresh.unlink(missing_ok=True)
        return written

    written = asking.ask(told, body)
    if output is not None:
        if told.json:
            told.document({"path": str(output.absolute()), "characters": written})
        else:
            told.say(t("history.exported", path=output))


async def _export(
    bus: Bus, channels: tuple[ChannelId, ...], format_: str, write: Callable[[str], int]
) -> int:
    now = await asking.up_to_now(bus)
    after: str | None = None
    written = 0
    while True:
        query = Export(format=_FORMATS[format_], channels=channels, after=after)
        page: ExportPage = (await bus.query(query, after=now, timeout=_SLOW)).value
        written += write(page.text)
        after = page.next
        if after is None:
            return written


@command.command("import", cls=Command, help="help.history.import")
@click.argument("file", type=click.Path(path_type=Path))
@pass_invocation
def import_(told: Invocation, *, file: Path) -> None:
    path = str(file.expanduser().absolute())

    async def body(bus: Bus) -> Imported:
        query = Import(path=path)
        imported: Imported = (await bus.query(query, timeout=_SLOW)).value
        return imported

    brought = asking.ask(told, body)
    if told.json:
        told.document(brought)
    else:
        told.say(
            t(
                "history.imported",
                channels=t("n.channels", count=brought.channels),
                messages=t("n.messages", count=brought.messages),
                kept=brought.kept,
            )
        )


@command.command("blob", cls=Command, help="help.history.blob")
@click.argument("sha256")
@pass_invocation
def blob(told: Invocation, *, sha256: str) -> None:
    async def body(bus: Bus) -> str:
        pieces: list[bytes] = []
        while True:
            offset = sum(len(piece) for piece in pieces)
            piece: bytes = (await bus.query(Blob(sha256=sha256, offset=offset, limit=_PIECE))).value
            pieces.append(piece)
            if len(piece) < _PIECE:
                # A piece may end within a character: they are put together first.
                return b"".join(pieces).decode()

    text = asking.ask(told, body)
    if told.json:
        told.document({"sha256": sha256, "text": text})
    else:
        sys.stdout.write(told.written(text))


@command.command("path", cls=Command, help="help.history.path")
@pass_invocation
def path_(told: Invocation) -> None:
    view = asking.ask(told, _info)
    if told.json:
        told.document({"path": view.path})
    else:
        print(told.written(view.path))


@command.command("info", cls=Command, help="help.history.info")
@pass_invocation
def info(told: Invocation) -> None:
    view = asking.ask(told, _info)
    if told.json:
        told.document(view)
        return
    channels, messages = t("n.channels", count=view.channels), t("n.messages", count=view.messages)
    print(told.written(view.path))
    print(f"{channels}, {messages}, {render.size(view.size)}")
    if view.problem is not None:
        print(t("status.unkept", why=render.one_line(problem_text(view.problem))))


async def _info(bus: Bus) -> HistoryView:
    view: HistoryView = (await bus.query(HistoryInfo())).value
    return view
