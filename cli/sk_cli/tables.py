"""Tables for people: no borders, not cut when piped. The only module that imports rich.

Where a terminal is too narrow for its columns, each row is a few lines instead.
"""

import sys
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sk_cli.invocation import Invocation
from sk_cli.render import neutral
from sk_cli.summaries import state_text

STYLES = {
    "running": "green",
    "ready": "green",
    "busy": "yellow",
    "starting": "yellow",
    "degraded": "yellow",
    "hung": "red",
    "down": "red",
    "error": "red",
    "ok": "green",
    "warn": "yellow",
    "fail": "red",
}
# What the last column must have to be worth reading.
_LAST = 16


class State(str):
    """A cell that holds a state: shown in the reader's language and in its colour."""

    __slots__ = ()


def table(told: Invocation, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their heads."""
    terminal = sys.stdout.isatty()
    console = Console(
        color_system="standard" if told.colors() else None,
        force_terminal=told.colors(),
        width=None if terminal else 10_000,
        highlight=False,
        markup=False,
        emoji=False,
    )
    cells = [[_cell(cell) for cell in row] for row in rows]
    widths = [
        max([cell_len(head), *(row[at].cell_len for row in cells)]) for at, head in enumerate(heads)
    ]
    if terminal and _needed(widths) > console.width:
        _print(console, _stacked(heads, cells))
        return
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for at, head in enumerate(heads):
        # Only the last column may be broken: the others are short, and are copied whole.
        made.add_column(head, overflow="fold", no_wrap=not terminal or at < len(heads) - 1)
    for row in cells:
        made.add_row(*row)
    _print(console, made)


def _needed(widths: Sequence[int]) -> int:
    return sum(widths[:-1]) + 2 * len(widths[:-1]) + min(widths[-1], _LAST)


def _cell(cell: str) -> Text:
    if isinstance(cell, State):
        return Text(state_text(cell), style=STYLES.get(cell, ""))
    return Text(neutral(cell))


def _stacked(heads: Sequence[str], rows: Sequence[Sequence[Text]]) -> Group:
    """Each row as its first cell and, below it, what the others say under which head."""
    made: list[Text | Padding] = []
    for row in rows:
        made.append(row[0])
        rest = [
            Text.assemble((f"{head.lower()} ", "dim"), cell) if head else cell
            for head, cell in zip(heads[1:], row[1:], strict=True)
            if cell.plain and cell.plain != "–"
        ]
        made.append(Padding(Text(", ").join(rest), (0, 0, 0, 2)))
    return Group(*made)


def _print(console: Console, what: Table | Group) -> None:
    with console.capture() as captured:
        console.print(what)
    for line in captured.get().splitlines():
        print(line.rstrip())
