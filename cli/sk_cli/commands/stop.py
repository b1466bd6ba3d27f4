"""`sk-cli stop`: end the answer under way in a channel, and drop what waits there."""

import click

from sk_bus.commands import Cancel
from sk_bus.contract import Bus
from sk_cli import asking
from sk_cli.completing import channel_names
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command
from sk_cli.words import t


@click.command(cls=Command, help="help.stop")
@click.argument("channel", shell_complete=channel_names)
@pass_invocation
def command(told: Invocation, *, channel: str) -> None:
    async def body(bus: Bus) -> str:
        one = await asking.channel(bus, channel)
        await asking.done(bus, Cancel(id=asking.command_id(), channel=one.id))
        return one.id

    id_ = asking.ask(told, body)
    if told.json:
        told.document({"channel": id_})
    else:
        told.say(t("stop.done"))
