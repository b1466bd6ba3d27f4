"""`sk-cli logs`: what the components wrote, from their files; works also when nothing runs."""

import re
import time
from pathlib import Path
from typing import Any

import click

from sk_bus.queries import SERVICES
from sk_cli import render
from sk_cli.completing import component_names
from sk_cli.failure import Exit, no_such
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.loglines import LEVELS, Chosen, last
from sk_cli.options import Command, OneOf, Span, Whole, option
from sk_cli.words import t

NAMES = (*(str(name) for name in SERVICES), "supervisord")


@click.command(cls=Command, help="help.logs")
@click.argument("components", nargs=-1, metavar="COMPONENT…", shell_complete=component_names)
@option("-f", "--follow", is_flag=True, help="help.follow")
@option("-n", "lines", type=Whole(0), default=100, metavar="N", help="help.logs.n")
@option("--since", type=Span(), metavar="TIME", help="help.logs.since")
@option("--level", type=OneOf(LEVELS), help="help.logs.level")
@option("--grep", metavar="RE", help="help.logs.grep")
@pass_invocation
def command(
    told: Invocation,
    *,
    components: tuple[str, ...],
    follow: bool,
    lines: int,
    since: float | None,
    level: str | None,
    grep: str | None,
) -> int:
    for name in components:
        if name not in NAMES:
            raise no_such("component", name, NAMES)
    try:
        text = re.compile(grep or "")
    except re.error as error:
        raise click.UsageError(t("usage.regex", given=grep, why=error)) from error
    names = components or NAMES
    logs = told.choice.instance.logs
    begin = time.time() - since if since is not None else None
    tails = [
        _Tail(
            told,
            name,
            logs / f"{name}.log",
            Chosen(level=level, since=begin, text=text),
            many=len(names) > 1,
        )
        for name in names
    ]
    for tail in tails:
        tail.show_last(lines)
    if not follow:
        return int(Exit.DONE)
    from watchfiles import watch

    # Every change in the folder is worth a look at each file; rotation is one of them. So is every
    # second: what was written before the folder was watched is no change.
    looks = watch(
        logs, recursive=False, debounce=50, step=20, rust_timeout=1000, yield_on_timeout=True
    )
    try:
        for _ in looks:
            for tail in tails:
                tail.show_new()
    except KeyboardInterrupt:
        pass
    return int(Exit.DONE)


class _Tail:
    """One log, from its last lines on, over rotations."""

    def __init__(
        self, told: Invocation, name: str, path: Path, chosen: Chosen, *, many: bool
    ) -> None:
        self._told = told
        self._name = name
        self._path = path
        self._chosen = chosen
        self._many = many
        self._at = 0
        self._inode = 0

    def show_last(self, count: int) -> None:
        try:
            with self._path.open("rb") as file:
                whole = file.read()
                self._at, self._inode = len(whole), self._path.stat().st_ino
        except FileNotFoundError:
            return
        for line in last(whole.decode(errors="replace").splitlines(), self._chosen, count):
            self._write(line)

    def show_new(self) -> None:
        try:
            with self._path.open("rb") as file:
                info = self._path.stat()
                if info.st_ino != self._inode or info.st_size < self._at:
                    self._at, self._inode = 0, info.st_ino
                file.seek(self._at)
                fresh = file.read()
        except FileNotFoundError:
            return  # between the two halves of a rotation
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self._at += len(whole)
        for line in whole.decode(errors="replace").splitlines():
            self._show(line)

    def _show(self, line: str) -> None:
        if self._chosen.holds(line):
            self._write(line)

    def _write(self, line: str) -> None:
        if self._told.json:
            made: dict[str, Any] = {"component": self._name, "line": line}
            self._told.line(made)
            return
        head = f"{self._name:<11} " if self._many else ""
        print(self._told.styled(head, fg="cyan") + render.neutral(line), flush=True)
