"""`sk-cli channels preview|edit|take-back|prepare`: what can be done before an answer begins."""

import click

from sk_bus.commands import EditQueued, Prepare, RemoveQueued
from sk_bus.contract import Bus
from sk_bus.model import MessageId
from sk_bus.queries import Preview, PreviewView
from sk_cli import asking, outlook, render
from sk_cli.completing import channel_names
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command
from sk_cli.words import t

# A first `npx` or `uvx` download takes minutes.
_START_WITHIN = 600.0


@click.command("preview", cls=Command, help="help.channels.preview")
@click.argument("channel", shell_complete=channel_names)
@click.argument("text", nargs=-1, required=True)
@pass_invocation
def preview(told: Invocation, *, channel: str, text: tuple[str, ...]) -> None:
    async def body(bus: Bus) -> tuple[PreviewView, outlook.Names]:
        listed = await asking.channels(bus)
        one = await asking.channel(bus, channel)
        view: PreviewView = (await bus.query(Preview(channel=one.id, text=" ".join(text)))).value
        return view, {one.id: render.channel_name(one) for one in listed}

    view, names = asking.ask(told, body)
    if told.json:
        told.document(view)
    else:
        print(outlook.said(view, names))


@click.command("edit", cls=Command, help="help.channels.edit")
@click.argument("channel", shell_complete=channel_names)
@click.argument("message", metavar="ID")
@click.argument("text", nargs=-1, required=True)
@pass_invocation
def edit(told: Invocation, *, channel: str, message: str, text: tuple[str, ...]) -> None:
    async def body(bus: Bus) -> str:
        one = await asking.channel(bus, channel)
        await asking.done(
            bus,
            EditQueued(
                id=asking.command_id(),
                channel=one.id,
                messageId=MessageId(message),
                text=" ".join(text),
            ),
        )
        return one.id

    _done(told, asking.ask(told, body), message, "channels.edited")


@click.command("take-back", cls=Command, help="help.channels.take-back")
@click.argument("channel", shell_complete=channel_names)
@click.argument("message", metavar="ID")
@pass_invocation
def take_back(told: Invocation, *, channel: str, message: str) -> None:
    async def body(bus: Bus) -> str:
        one = await asking.channel(bus, channel)
        await asking.done(
            bus,
            RemoveQueued(id=asking.command_id(), channel=one.id, messageId=MessageId(message)),
        )
        return one.id

    _done(told, asking.ask(told, body), message, "channels.taken-back")


@click.command("prepare", cls=Command, help="help.channels.prepare")
@click.argument("channel", shell_complete=channel_names)
@pass_invocation
def prepare(told: Invocation, *, channel: str) -> None:
    async def body(bus: Bus) -> str:
        one = await asking.channel(bus, channel)
        command = Prepare(id=asking.command_id(), channel=one.id)
        await asking.done(bus, command, timeout=_START_WITHIN)
        return one.id

    id_ = asking.ask(told, body)
    if told.json:
        told.document({"channel": id_})
    else:
        told.say(t("channels.prepared"))


def _done(told: Invocation, channel: str, message: str, key: str) -> None:
    if told.json:
        told.document({"channel": channel, "message": message})
    else:
        told.say(t(key))
