"""`sk-cli channels`: list and read channels and direct conversations."""

import click

from sk_bus.contract import Bus
from sk_bus.model import Channel, Message, MessageId
from sk_bus.queries import Conversation, ConversationView, Older
from sk_cli import asking, render
from sk_cli.invocation import Command, Group, Invocation, pass_invocation


@click.group(cls=Group, help="List and read channels.")
def command() -> None:
    pass


@command.command("list", cls=Command, help="Every channel and direct conversation, oldest first.")
@pass_invocation
def list_(told: Invocation) -> None:
    listed = asking.ask(told, asking.channels)
    if told.json:
        told.document(list(listed))
        return
    from sk_cli.tables import table

    rows = [
        [render.channel_name(one), ", ".join(one.members), one.description, one.id]
        for one in listed
    ]
    table(told, ["CHANNEL", "MEMBERS", "DESCRIPTION", "ID"], rows)


@command.command("show", cls=Command, help="A channel, and what is under way in it.")
@click.argument("channel")
@pass_invocation
def show(told: Invocation, *, channel: str) -> None:
    async def body(bus: Bus) -> ConversationView:
        one = await asking.channel(bus, channel)
        view: ConversationView = (await bus.query(Conversation(channel=one.id))).value
        return view

    view = asking.ask(told, body)
    if told.json:
        told.document(view)
        return
    print(f"{render.channel_name(view.channel)}  {view.channel.id}")
    print(f"members    {', '.join(view.channel.members) or '–'}")
    state = f"{view.answering or 'somebody'} is answering" if view.busy else "idle"
    print(f"state      {state}{f', {view.queued} queued' if view.queued else ''}")
    for agent, usage in view.usage.items():
        print(f"context    {agent}: {usage.used} of {usage.size or '?'} tokens")
    for one in view.permissions:
        print(f"waits      {one.agent}: {render.one_line(one.toolCall.title, 100)}  ({one.id})")


@command.command("messages", cls=Command, help="The last messages of a channel.")
@click.argument("channel")
@click.option("-n", "count", type=click.IntRange(1), default=20, help="How many.")
@click.option("--before", metavar="ID", help="Those before this message.")
@pass_invocation
def messages(told: Invocation, *, channel: str, count: int, before: str | None) -> None:
    async def body(bus: Bus) -> list[Message]:
        return await _last(bus, await asking.channel(bus, channel), count, before)

    found = asking.ask(told, body)
    if told.json:
        for message in found:
            told.line(message)
        return
    for message in found:
        head = f"{render.author(message)}  {render.clock(message.createdAt)[:8]}  {message.id}"
        print(told.styled(head, dim=True))
        print(render.message_text(message), end="\n\n")


async def _last(bus: Bus, channel: Channel, count: int, before: str | None) -> list[Message]:
    """The last ``count`` messages (before ``before``), oldest first, page by page."""
    found: list[Message] = []
    if before is None:
        view: ConversationView = (await bus.query(Conversation(channel=channel.id))).value
        found, more = list(view.messages), view.more
    else:
        more = True
    while more and len(found) < count:
        earliest = found[0].id if found else MessageId(before or "")
        page = (await bus.query(Older(channel=channel.id, before=earliest))).value
        found[:0] = page.messages
        more = page.more
    return found[-count:]
