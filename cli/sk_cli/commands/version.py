"""`sk-cli version`."""

import platform
from importlib.metadata import PackageNotFoundError, version

import click

from sk_cli.invocation import Command, Invocation, pass_invocation


@click.command(cls=Command, help="Show the version.")
@pass_invocation
def command(told: Invocation) -> None:
    try:
        own = version("sidekicks")
    except PackageNotFoundError:  # a checkout on the path, never installed
        own = "not installed"
    if told.json:
        told.document({"sidekicks": own, "python": platform.python_version()})
    else:
        print(f"sidekicks {own} (Python {platform.python_version()})")
