"""`sk-cli open`: the page in the browser, or its address where there is none."""

import html
import os
import sys
import webbrowser
from pathlib import Path

import click

from sk_bus.paths import Instance
from sk_cli import instances
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, option


@click.command(cls=Command, help="help.open")
@option("--print", "only_print", is_flag=True, help="help.open.print")
@pass_invocation
def command(told: Invocation, *, only_print: bool) -> None:
    instances.require_running(told.choice)
    address = instances.page(told.choice.instance)
    if told.json:
        told.document({"address": address})
        return
    print(address, flush=True)
    if not only_print and _has_display():
        webbrowser.open(_leading_to(told.choice.instance, address).as_uri())


def _has_display() -> bool:
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def _leading_to(instance: Instance, address: str) -> Path:
    """A private file that leads to ``address``.

    The address itself on a browser's command line could be read by every user of the machine.
    """
    path = instance.state / "open.html"
    path.touch(mode=0o600)
    there = html.escape(address, quote=True)
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={there}"><a href="{there}">Sidekicks</a>\n',
        encoding="utf-8",
    )
    return path
