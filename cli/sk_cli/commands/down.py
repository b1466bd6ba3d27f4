"""`sk-cli down`: stop everything, agents included; nothing is left running."""

import click

from sk_cli import ending, instances
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command
from sk_cli.words import t

# Cancels (10 s) and stop ladders (8 s), with room.
_TIMEOUT = 40.0


@click.command(cls=Command, help="help.down")
@pass_invocation
def command(told: Invocation) -> None:
    instance = told.choice.instance
    with instances.alone(instance):
        ended = ending.end(instance, say=told.say, timeout=told.timeout or _TIMEOUT)
    if told.json:
        told.document({"ended": ended})
    else:
        told.say(t("down.done") if ended else t("down.nothing"))
