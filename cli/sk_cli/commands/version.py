"""`sk-cli version`."""

import platform
from importlib.metadata import PackageNotFoundError, version

import click

from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command
from sk_cli.words import t


@click.command(cls=Command, help="help.version")
@pass_invocation
def command(told: Invocation) -> None:
    own: str | None
    try:
        own = version("sidekicks")
    except PackageNotFoundError:  # a checkout on the path, never installed
        own = None
    if told.json:
        told.document({"sidekicks": own, "python": platform.python_version()})
    else:
        shown = t("version.uninstalled") if own is None else own
        print(f"sidekicks {shown} (Python {platform.python_version()})")
