"""Commands, options and kinds of values of the command line, worded in the language in force.

``help`` of a command or an option is a key of the catalogue. What is wrong with a value is said by
its kind.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import click

from sk_cli import spans
from sk_cli.words import t


class _Worded:
    """``help`` is set as a key and read as a text."""

    _key: str | None = None

    @property
    def help(self) -> str | None:
        return t(self._key) if self._key else None

    @help.setter
    def help(self, key: str | None) -> None:
        self._key = key


class Option(_Worded, click.Option):
    """An option whose ``help`` is a key."""


def option(*names: str, **attributes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As `click.option`, with a key as ``help``."""
    return click.option(*names, cls=Option, **attributes)


class _Spoken(_Worded):
    """How a command's help looks: our words, and what every command takes in a part of its own."""

    common: tuple[click.Option, ...] = ()

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(cast("click.Command", self).collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=t("usage.usage") + " ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        command = cast("click.Command", self)
        own: list[tuple[str, str]] = []
        common: list[tuple[str, str]] = []
        for parameter in command.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                kept = common if parameter in self.common or "--help" in parameter.opts else own
                kept.append(record)
        if own:
            with formatter.section(t("usage.options")):
                formatter.write_dl(own)
        if isinstance(command, click.Group):
            command.format_commands(ctx, formatter)
        with formatter.section(t("usage.common")):
            formatter.write_dl(common)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        made = click.Command.get_help_option(cast("click.Command", self), ctx)
        if made is not None:
            made.help = t("help.help")
        return made


class Command(_Spoken, click.Command):
    """A command whose ``help`` is a key. What it has no use for is refused in our words."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.allow_extra_args = True
        self.params.extend(self.common)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if ctx.args and not ctx.resilient_parsing:
            raise click.UsageError(t("usage.extra", what=" ".join(ctx.args)), ctx)
        return rest


class Group(_Spoken, click.Group):
    """A command with commands below it."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(self.common)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self.said(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section(t("usage.commands")):
            formatter.write_dl(rows)

    def said(self, ctx: click.Context, name: str) -> str:
        """The line on the command ``name``."""
        command = self.get_command(ctx, name)
        return (command.help or "") if command else ""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not ctx.resilient_parsing:
            raise click.UsageError(t("usage.no-command", name=name) + near(name, known), ctx)
        return super().resolve_command(ctx, args)


def near(name: str, known: Sequence[str]) -> str:
    """`` Did you mean …?``, where one of ``known`` is like ``name``."""
    import difflib

    found = difflib.get_close_matches(name, known, n=1)
    return " " + t("usage.near", name=found[0]) if found else ""


# --- kinds of values --------------------------------------------------------------------------


class Span(click.ParamType[float]):
    """A length of time, in seconds."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        length = spans.seconds(str(value))
        if length is None:
            self.fail(t("usage.span", value=value), param, ctx)
        return length


class Whole(click.ParamType[int]):
    """A whole number, at least ``least``."""

    name = "number"

    def __init__(self, least: int) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        if not (text.isascii() and text.isdigit()) or int(text) < self._least:
            self.fail(t("usage.whole", value=value, least=self._least), param, ctx)
        return int(text)


class OneOf(click.Choice[str]):
    """One of several words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            known = ", ".join(self.choices)
            self.fail(t("usage.one-of", value=value, known=known), param, ctx)
        return str(value)
