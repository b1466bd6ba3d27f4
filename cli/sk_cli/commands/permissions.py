"""`sk-cli permissions`: what waits for leave over all channels, and the answer to it."""

from collections.abc import Sequence

import click

from sk_bus.commands import AnswerPermission
from sk_bus.contract import Bus
from sk_bus.model import Permission, PermissionOption
from sk_bus.queries import Permissions
from sk_cli import asking, messages, render
from sk_cli.completing import permission_ids
from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, Group
from sk_cli.selection import option_found
from sk_cli.words import t


@click.group(cls=Group, help="help.permissions")
def command() -> None:
    pass


@command.command("list", cls=Command, help="help.permissions.list")
@pass_invocation
def list_(told: Invocation) -> None:
    async def body(bus: Bus) -> tuple[tuple[Permission, ...], dict[str, str]]:
        waiting = await _waiting(bus)
        if told.json or not waiting:
            return waiting, {}
        listed = await asking.channels(bus)
        return waiting, {one.id: render.channel_name(one) for one in listed}

    waiting, channels = asking.ask(told, body)
    if told.json:
        told.document(list(waiting))
        return
    for one in waiting:
        refused = f"  ({t('permissions.refused', count=one.rejections)})" if one.rejections else ""
        said = messages.asks(one.agent, one.toolCall)
        where = channels.get(one.channel, one.channel)
        print(f"{told.styled(one.id, bold=True)}  {where}  {said}{refused}")
        for number, option in enumerate(one.options, 1):
            name = render.one_line(option.name)
            print(f"  {number}  {name}  [{render.one_line(option.optionId)}]")
    if not waiting:
        told.say(t("permissions.none"))
    else:
        told.say(t("failure.next", then="sk-cli permissions answer ID OPTION"))


@command.command("answer", cls=Command, help="help.permissions.answer")
@click.argument("id_", metavar="ID", shell_complete=permission_ids)
@click.argument("option")
@pass_invocation
def answer(told: Invocation, *, id_: str, option: str) -> None:
    async def body(bus: Bus) -> tuple[Permission, PermissionOption]:
        request = _meant(id_, await _waiting(bus))
        chosen = option_found(option, request.options)
        if chosen is None:
            offered = ", ".join(render.one_line(one.optionId) for one in request.options)
            raise Failure(
                t("permissions.no-option", given=option, offered=offered), code=Exit.NO_SUCH
            )
        await asking.done(
            bus,
            AnswerPermission(
                id=asking.command_id(), permission=request.id, optionId=chosen.optionId
            ),
        )
        return request, chosen

    request, chosen = asking.ask(told, body)
    if told.json:
        told.document({"id": request.id, "optionId": chosen.optionId})
    else:
        told.say(t("permissions.answered", option=render.one_line(chosen.name)))


async def _waiting(bus: Bus) -> tuple[Permission, ...]:
    waiting: tuple[Permission, ...] = (await bus.query(Permissions())).value
    return waiting


def _meant(id_: str, waiting: Sequence[Permission]) -> Permission:
    """The request whose id is, or begins or ends like, ``id_``.

    Raises:
        Failure: none or several are.
    """
    whole = [one for one in waiting if one.id == id_]
    found = whole or [one for one in waiting if one.id.startswith(id_) or one.id.endswith(id_)]
    if len(found) == 1:
        return found[0]
    if found:
        raise Failure(
            t("permissions.several", given=id_, ids=", ".join(one.id for one in found)),
            code=Exit.NO_SUCH,
        )
    raise Failure(
        t("permissions.no-such", given=id_), code=Exit.NO_SUCH, then="sk-cli permissions list"
    )
