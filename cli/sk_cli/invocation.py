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
from sk_cli import spans
from sk_cli.choice import Choice, chosen
from sk_cli.instances import running_on_same_file
from sk_cli.jsontext import json_text


class Span(click.ParamType[float]):
    """A length of time as an option's value, in seconds."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        length = spans.seconds(str(value))
        if length is None:
            self.fail(f"{value!r} is no length of time; write 90s, 5m or 1h30m", param, ctx)
        return length


@dataclass
class Invocation:
    config: Path | None = None
    json: bool = False
    color: str = "auto"
    quiet: bool = False
    timeout: float | None = None

    @cached_property
    def choice(self) -> Choice:
        """The instance that the call is about: the one that uses the named file, if one does."""
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

    def document(self, value: Any) -> None:
        """Print one JSON document."""
        print(json_text(plain(value), indented=self.colors()), flush=True)

    def line(self, value: Any) -> None:
        """Print one JSON object on a line of its own."""
        print(json_text(plain(value)), flush=True)


def _set(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    told = ctx.ensure_object(Invocation)
    if value is not None and value is not False:
        setattr(told, str(param.name), value)


def common_options() -> list[click.Option]:
    """The options that every command takes."""
    return [
        click.Option(
            ["--config"],
            type=click.Path(path_type=Path),
            metavar="PATH",
            help="The configuration file (also SK_CONFIG).",
            expose_value=False,
            callback=_set,
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            help="One JSON document, or one object a line.",
            expose_value=False,
            callback=_set,
        ),
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            help="Colours (default: on a terminal only).",
            expose_value=False,
            callback=_set,
        ),
        click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            help="No talk on stderr but errors.",
            expose_value=False,
            callback=_set,
        ),
        click.Option(
            ["--timeout"],
            type=Span(),
            metavar="TIME",
            help="Give up after this long (10s, 5m).",
            expose_value=False,
            callback=_set,
        ),
    ]


class Command(click.Command):
    """A command with the common options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(common_options())


class Group(click.Group):
    """A command with commands below it; all take the common options."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(common_options())


pass_invocation = click.make_pass_decorator(Invocation, ensure=True)
