"""Tables for people: no borders, not cut when piped. The only module that imports rich."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sk_cli.invocation import Invocation
from sk_cli.render import neutral

STYLES = {
    "running": "green",
    "ready": "green",
    "busy": "yellow",
    "starting": "yellow",
    "degraded": "yellow",
    "hung": "red",
    "down": "red",
    "error": "red",
}


def table(told: Invocation, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their heads; a cell that is a state has its colour."""
    terminal = sys.stdout.isatty()
    console = Console(
        color_system="standard" if told.colors() else None,
        force_terminal=told.colors(),
        width=None if terminal else 10_000,
        highlight=False,
        markup=False,
        emoji=False,
    )
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        made.add_column(head, overflow="fold", no_wrap=not terminal)
    for row in rows:
        made.add_row(*(Text(neutral(cell), style=STYLES.get(cell, "")) for cell in row))
    with console.capture() as captured:
        console.print(made)
    for line in captured.get().splitlines():
        print(line.rstrip())
