"""What one call was told beside its own arguments: options that every command takes.

They may stand before or after the command's name. Also what follows from them: the instance, the
colours, and how to speak to a person (stderr) and to a program (stdout).
"""

import os
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from sk_bus.codec import plain
from sk_cli.choice import Choice, chosen
from sk_cli.jsontext import json_text
from sk_cli.options import Command, Group, OneOf, Option, Span
from sk_cli.render import neutral
from sk_cli.words import LANGUAGES, address, t


@dataclass
class Invocation:
    config: Path | None = None
    json: bool = False
    color: str = "auto"
    quiet: bool = False
    verbose: bool = False
    timeout: float | None = None

    @cached_property
    def choice(self) -> Choice:
        """The instance that the call is about: the one that uses the named file, if one does."""
        from sk_cli.instances import running_on_same_file  # help needs no supervisord

        made = chosen(self.config)
        running = running_on_same_file(made) if made.named else None
        return made if running is None else replace(made, instance=running[0])

    def colors(self, stream: Any = None) -> bool:
        """Whether ``stream`` (default stdout) gets colours."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR"):
            return True
        if os.environ.get("TERM") == "dumb":
            return False
        return bool((stream or sys.stdout).isatty())

    def styled(self, text: str, stream: Any = None, **style: Any) -> str:
        return click.style(text, **style) if self.colors(stream) else text

    def say(self, text: str = "") -> None:
        """Talk to the person, on stderr; nothing with ``--quiet``."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def detail(self, text: str) -> None:
        """Say what only ``--verbose`` wants to know."""
        if self.verbose:
            self.say(text)

    def agreed(self, question: str, *, yes: bool) -> None:
        """Ask on a terminal whether to go on; elsewhere only ``--yes`` does.

        Raises:
            click.UsageError: nobody can be asked, and nobody said yes.
            click.Abort: the answer was no.
        """
        if yes:
            return
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise click.UsageError(t("usage.yes", question=question))
        print(f"{question} [{t('ask.yes-no')}] ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline().strip().casefold()
        if answer not in t("ask.yes").split():
            raise click.Abort

    def document(self, value: Any) -> None:
        """Print one JSON document."""
        print(json_text(plain(value), indented=self.colors()), flush=True)

    def line(self, value: Any) -> None:
        """Print one JSON object on a line of its own."""
        print(json_text(plain(value)), flush=True)

    def written(self, text: str) -> str:
        """What somebody else wrote, as it may go to stdout: a terminal must not obey it."""
        return neutral(text) if sys.stdout.isatty() else text


def _set(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    told = ctx.ensure_object(Invocation)
    if value is not None and value is not False:
        setattr(told, str(param.name), value)
    if told.config is not None:
        address(str(told.config))


def _common(*names: str, **attributes: Any) -> Option:
    return Option(names, expose_value=False, callback=_set, **attributes)


Command.common = Group.common = (
    _common("--config", type=click.Path(path_type=Path), metavar="PATH", help="help.common.config"),
    _common("--json", is_flag=True, help="help.common.json"),
    _common("--color", type=OneOf(["auto", "always", "never"]), help="help.common.color"),
    _common("--lang", type=OneOf(LANGUAGES), help="help.common.lang"),
    _common("-q", "--quiet", is_flag=True, help="help.common.quiet"),
    _common("-v", "--verbose", is_flag=True, help="help.common.verbose"),
    _common("--timeout", type=Span(), metavar="TIME", help="help.common.timeout"),
)

pass_invocation = click.make_pass_decorator(Invocation, ensure=True)
