"""`sk-cli up`: start everything, and say where the page is."""

import shutil
import sys
from pathlib import Path

import click

from sk_bus.contract import Bus
from sk_bus.queries import Current, CurrentConfig
from sk_cli import asking, instances, starting
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, option
from sk_cli.words import t

# A machine that is busy with something else takes its time.
_TIMEOUT = 60.0


@click.command(cls=Command, help="help.up")
@option("--detach", is_flag=True, hidden=True)
@pass_invocation
def command(told: Invocation, *, detach: bool) -> None:
    del detach
    choice = told.choice
    with instances.alone(choice.instance):
        running = instances.running_on_same_file(choice)
        if running is not None:
            instance, pid = running
            told.say(t("up.running", pid=pid))
        else:
            instance = choice.instance
            told.say(t("up.starting", path=choice.config))
            pid = starting.start(choice, say=told.say, timeout=told.timeout or _TIMEOUT)
    if told.json:
        told.document(
            {
                "address": instances.page(instance),
                "pid": pid,
                "already": running is not None,
                "config": str(choice.config),
            }
        )
        return
    print(f"page     {instances.page(instance)}")
    print(f"sk-cli   {_own_path()}")
    for warning in asking.ask(told, _warnings):
        told.say(t("up.warning", warning=warning))


async def _warnings(bus: Bus) -> list[str]:
    """What runs all the same, but not as somebody expects who says `up`."""
    current: CurrentConfig = (await bus.query(Current())).value
    said = []
    if not current.valid:
        said.append(t("up.invalid", count=len(current.problems)))
    trouble = (await bus.hello()).historyProblem
    if trouble:
        said.append(t("up.unkept", why=trouble))
    return said


def _own_path() -> str:
    """How this very program is called again."""
    if Path(sys.argv[0]).name == "__main__.py":
        return f"{sys.executable} -m sk_cli"
    return str(Path(shutil.which(sys.argv[0]) or sys.argv[0]).absolute())
