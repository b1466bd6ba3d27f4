"""`sk-cli channels`: list, read and change channels and direct conversations."""

import click

from sk_bus.commands import AddMember, Create, Delete, RemoveMember, Rename
from sk_bus.contract import Bus
from sk_bus.model import Channel, ChannelId, Message, MessageId
from sk_bus.queries import Conversation, ConversationView, Older
from sk_cli import asking, messages, names, render
from sk_cli.commands import queue
from sk_cli.completing import agent_names, channel_names
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, Group, Whole, option
from sk_cli.words import t


@click.group(cls=Group, help="help.channels")
def command() -> None:
    pass


@command.command("list", cls=Command, help="help.channels.list")
@pass_invocation
def list_(told: Invocation) -> None:
    listed = asking.ask(told, asking.channels)
    if told.json:
        told.document(list(listed))
        return
    if not listed:
        told.say(t("channels.none"))
        return
    from sk_cli.tables import table

    rows = [
        [render.channel_name(one), ", ".join(one.members), one.id, one.description]
        for one in listed
    ]
    table(told, [t("head.channel"), t("head.members"), "ID", t("head.description")], rows)


@command.command("show", cls=Command, help="help.channels.show")
@click.argument("channel", shell_complete=channel_names)
@pass_invocation
def show(told: Invocation, *, channel: str) -> None:
    async def body(bus: Bus) -> ConversationView:
        one = await asking.channel(bus, channel)
        now = await asking.up_to_now(bus)
        view: ConversationView = (await bus.query(Conversation(channel=one.id), after=now)).value
        return view

    view = asking.ask(told, body)
    if told.json:
        told.document(view)
        return
    print(f"{render.channel_name(view.channel)}  {view.channel.id}")
    if view.channel.description:
        print(render.one_line(view.channel.description))
    print(f"{t('channels.members'):<11} {', '.join(view.channel.members) or '–'}")
    print(f"{t('channels.state'):<11} {_state(view)}")
    for agent, usage in view.usage.items():
        used = t("event.usage", used=usage.used, size=usage.size or "?")
        print(f"{t('channels.context'):<11} {agent}: {used}")
    for one in view.permissions:
        title = render.one_line(one.toolCall.title, 100)
        print(f"{t('channels.asks'):<11} {one.agent}: {title}  ({one.id})")


def _state(view: ConversationView) -> str:
    if not view.busy:
        said = t("event.idle")
    elif view.waitingFor is not None:
        said = t("event.beginning") + t("event.waits-for", agent=view.waitingFor.agent)
    elif view.answering:
        said = t("event.answering", agent=view.answering)
    else:
        said = t("event.beginning")
    return said + (t("event.queued", count=view.queued) if view.queued else "")


@command.command("create", cls=Command, help="help.channels.create")
@click.argument("name")
@option("-d", "--description", default="", metavar="TEXT", help="help.channels.description")
@option("-m", "--member", "members", multiple=True, metavar="AGENT", help="help.channels.member")
@pass_invocation
def create(told: Invocation, *, name: str, description: str, members: tuple[str, ...]) -> None:
    async def body(bus: Bus) -> str:
        agents = [(await asking.agent(bus, one)).name for one in members]
        plain = name.removeprefix("#")
        made = await asking.done(
            bus, Create(id=asking.command_id(), name=plain, description=description)
        )
        id_ = ChannelId(made.result.value)
        for agent in agents:
            await asking.done(bus, AddMember(id=asking.command_id(), channel=id_, agent=agent))
        return id_

    _done(told, asking.ask(told, body), "channels.created")


@command.command("rename", cls=Command, help="help.channels.rename")
@click.argument("channel", shell_complete=channel_names)
@click.argument("name")
@option("-d", "--description", metavar="TEXT", help="help.channels.rename.description")
@pass_invocation
def rename(told: Invocation, *, channel: str, name: str, description: str | None) -> None:
    async def body(bus: Bus) -> str:
        one = await asking.channel(bus, channel)
        await asking.done(
            bus,
            Rename(
                id=asking.command_id(),
                channel=one.id,
                name=name.removeprefix("#"),
                description=one.description if description is None else description,
            ),
        )
        return one.id

    _done(told, asking.ask(told, body), "channels.renamed")


@command.command("delete", cls=Command, help="help.channels.delete")
@click.argument("channel", shell_complete=channel_names)
@option("--yes", is_flag=True, help="help.yes")
@pass_invocation
def delete(told: Invocation, *, channel: str, yes: bool) -> None:
    one = asking.ask(told, lambda bus: asking.channel(bus, channel))
    told.agreed(t("channels.delete?", channel=render.channel_name(one)), yes=yes)

    async def body(bus: Bus) -> None:
        await asking.done(bus, Delete(id=asking.command_id(), channel=one.id))

    asking.ask(told, body)
    _done(told, one.id, "channels.deleted")


@command.command("invite", cls=Command, help="help.channels.invite")
@click.argument("channel", shell_complete=channel_names)
@click.argument("agents", nargs=-1, required=True, shell_complete=agent_names)
@pass_invocation
def invite(told: Invocation, *, channel: str, agents: tuple[str, ...]) -> None:
    async def body(bus: Bus) -> str:
        one = await asking.channel(bus, channel)
        found = [(await asking.agent(bus, named)).name for named in agents]
        for agent in found:
            await asking.done(bus, AddMember(id=asking.command_id(), channel=one.id, agent=agent))
        return one.id

    _done(told, asking.ask(told, body), "channels.invited")


@command.command("remove", cls=Command, help="help.channels.remove")
@click.argument("channel", shell_complete=channel_names)
@click.argument("agents", nargs=-1, required=True, shell_complete=agent_names)
@pass_invocation
def remove(told: Invocation, *, channel: str, agents: tuple[str, ...]) -> None:
    async def body(bus: Bus) -> str:
        one = await asking.channel(bus, channel)
        for named in agents:
            # One who has left the configuration may still be a member.
            plain = named.removeprefix("@").casefold()
            member = next((m for m in one.members if m.casefold() == plain), None)
            agent = member or (await asking.agent(bus, named)).name
            await asking.done(
                bus, RemoveMember(id=asking.command_id(), channel=one.id, agent=agent)
            )
        return one.id

    _done(told, asking.ask(told, body), "channels.removed")


for _more in (queue.preview, queue.edit, queue.take_back, queue.prepare):
    command.add_command(_more)


@command.command("messages", cls=Command, help="help.channels.messages")
@click.argument("channel", shell_complete=channel_names)
@option("-n", "count", type=Whole(1), default=20, metavar="N", help="help.channels.messages.n")
@option("--before", metavar="ID", help="help.channels.messages.before")
@pass_invocation
def messages_(told: Invocation, *, channel: str, count: int, before: str | None) -> None:
    async def body(bus: Bus) -> tuple[list[Message], names.Titles]:
        found = await _last(bus, await asking.channel(bus, channel), count, before)
        return found, {} if told.json else await asking.titles(bus)

    found, titles = asking.ask(told, body)
    if told.json:
        for message in found:
            told.line(message)
        return
    for message in messages.in_reading_order(found):
        head = f"{messages.author(message)}  {render.clock(message.createdAt)[:8]}  {message.id}"
        print(told.styled(head, dim=True))
        hidden = names.hidden(message, titles)
        print(messages.message_text(message, hidden=hidden), end="\n\n")


async def _last(bus: Bus, channel: Channel, count: int, before: str | None) -> list[Message]:
    """The last ``count`` messages (before ``before``), oldest first, page by page."""
    found: list[Message] = []
    if before is None:
        query = Conversation(channel=channel.id)
        view: ConversationView = (await bus.query(query, after=await asking.up_to_now(bus))).value
        found, more = list(view.messages), view.more
    else:
        more = True
    while more and len(found) < count:
        earliest = found[0].id if found else MessageId(before or "")
        page = (await bus.query(Older(channel=channel.id, before=earliest))).value
        found[:0] = page.messages
        more = page.more
    return found[-count:]


def _done(told: Invocation, channel: str, key: str) -> None:
    if told.json:
        told.document({"channel": channel})
    else:
        told.say(t(key, channel=channel))
