"""`sk-cli permissions`: what waits for leave over all channels, and the answer to it."""

import click

from sk_bus.commands import AnswerPermission
from sk_bus.contract import Bus
from sk_bus.model import Permission, PermissionId
from sk_bus.queries import Permissions
from sk_cli import asking, render
from sk_cli.invocation import Command, Group, Invocation, pass_invocation


@click.group(cls=Group, help="What agents ask leave for, and answers.")
def command() -> None:
    pass


@command.command("list", cls=Command, help="Every request that waits, over all channels.")
@pass_invocation
def list_(told: Invocation) -> None:
    async def body(bus: Bus) -> tuple[Permission, ...]:
        waiting: tuple[Permission, ...] = (await bus.query(Permissions())).value
        return waiting

    waiting = asking.ask(told, body)
    if told.json:
        told.document(list(waiting))
        return
    for one in waiting:
        refused = f"  (refused {one.rejections} times in this turn)" if one.rejections else ""
        title = render.one_line(one.toolCall.title, 200)
        print(f"{one.id}  {one.agent} asks to {one.toolCall.kind}: {title}{refused}")
        for option in one.options:
            print(f"    {render.one_line(option.optionId):<20} {render.one_line(option.name)}")
    if not waiting:
        told.say("nothing waits")


@command.command("answer", cls=Command, help="Answer a request with one of its options.")
@click.argument("id_", metavar="ID")
@click.argument("option")
@pass_invocation
def answer(told: Invocation, *, id_: str, option: str) -> None:
    async def body(bus: Bus) -> None:
        await asking.done(
            bus,
            AnswerPermission(id=asking.command_id(), permission=PermissionId(id_), optionId=option),
        )

    asking.ask(told, body)
    if told.json:
        told.document({"id": id_, "optionId": option})
    else:
        told.say(f"answered: {option}")
