"""`sk-cli chat`: sit in a channel and talk, while answers and requests for leave come."""

import os
import sys

import click

from sk_bus.contract import Bus
from sk_bus.queries import Conversation
from sk_cli import asking
from sk_cli.chatting import Chat
from sk_cli.completing import channel_names
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, Whole, option
from sk_cli.words import t


@click.command(cls=Command, help="help.chat")
@click.argument("channel", shell_complete=channel_names)
@option("-n", "last", type=Whole(0), default=10, metavar="N", help="help.chat.n")
@pass_invocation
def command(told: Invocation, *, channel: str, last: int) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        raise click.UsageError(t("chat.terminal"))

    async def body(bus: Bus) -> int:
        where, seq = await asking.conversation(bus, channel)
        answer = await bus.query(Conversation(channel=where), after=seq)
        chat = Chat(told, bus, answer.value)
        chat.titles = await asking.titles(bus)
        await chat.learn_commands()
        return await chat.run(answer.asOf, last)

    return asking.ask(told, body)
