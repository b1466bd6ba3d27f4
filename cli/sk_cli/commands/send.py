"""`sk-cli send`: a message to a channel; with ``--wait`` the answers come on stdout as they grow.

Only what agents write goes to stdout; tools, requests for leave and ends go to stderr.
"""

import os
import sys

import click

from sk_bus.commands import Send
from sk_bus.contract import Bus
from sk_bus.model import Cursor, MessageId
from sk_cli import asking
from sk_cli.completing import channel_names
from sk_cli.failure import Exit
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, option
from sk_cli.waiting import Waiting
from sk_cli.words import t


@click.command(cls=Command, help="help.send")
@click.argument("channel", shell_complete=channel_names)
@click.argument("text", nargs=-1)
@option("--wait", is_flag=True, help="help.send.wait")
@option("--allow", multiple=True, metavar="KIND", help="help.send.allow")
@pass_invocation
def command(
    told: Invocation, *, channel: str, text: tuple[str, ...], wait: bool, allow: tuple[str, ...]
) -> int:
    message = _text(text)
    kinds = frozenset(kind.strip() for one in allow for kind in one.split(","))
    if kinds and not wait:
        raise click.UsageError(t("send.allow-waits"))
    interactive = wait and sys.stdin.isatty() and sys.stderr.isatty()

    async def body(bus: Bus) -> int:
        hello = await bus.hello()
        where, _ = await asking.conversation(bus, channel)
        outcome = await asking.done(bus, Send(id=asking.command_id(), channel=where, text=message))
        question = MessageId(outcome.result.value)
        if not wait:
            if told.json:
                told.document({"channel": where, "message": question, "seq": outcome.seq})
            else:
                told.say(t("send.sent", id=question))
            return int(Exit.DONE)
        waiting = Waiting(
            told,
            bus,
            channel=where,
            question=question,
            allow=kinds,
            direct=channel.startswith("@"),
            titles=await asking.titles(bus) if sys.stdout.isatty() else None,
        )
        return await waiting.run(Cursor(epoch=hello.epoch, seq=hello.head), interactive=interactive)

    try:
        return asking.ask(
            told,
            body,
            late=t("send.goes-on") if wait else t("send.may-yet"),
            then=f"sk-cli channels messages {channel}   |   sk-cli stop {channel}",
        )
    except KeyboardInterrupt:
        if wait:
            told.say("\n" + t("send.interrupted", channel=channel))
        raise


def _text(words: tuple[str, ...]) -> str:
    if words == ("-",) or (not words and not sys.stdin.isatty()):
        given = sys.stdin.buffer.read()
    elif words:
        given = os.fsencode(" ".join(words))
    else:
        raise click.UsageError(t("send.what"))
    try:
        return given.decode()
    except UnicodeDecodeError as error:
        raise click.UsageError(
            t("send.not-utf8", byte=error.start + 1, value=f"0x{given[error.start]:02x}")
        ) from error
