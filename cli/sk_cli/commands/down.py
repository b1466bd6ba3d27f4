"""`sk-cli down`: stop everything, agents included; nothing is left running."""

import click

from sk_cli import ending, instances
from sk_cli.invocation import Command, Invocation, pass_invocation

# Cancels (10 s) and stop ladders (8 s), with room.
_TIMEOUT = 40.0


@click.command(cls=Command, help="Stop everything, agents included.")
@pass_invocation
def command(told: Invocation) -> None:
    instance = told.choice.instance
    with instances.alone(instance):
        ended = ending.end(instance, say=told.say, timeout=told.timeout or _TIMEOUT)
    if told.json:
        told.document({"ended": ended})
    else:
        told.say("Sidekicks has stopped" if ended else "Sidekicks is not running; nothing was left")
