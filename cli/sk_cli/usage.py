"""What is wrong with a command line: click's errors in, text in the language in force out. Pure."""

import click

from sk_cli.options import near
from sk_cli.render import one_line
from sk_cli.words import t


def said(error: click.ClickException) -> str:
    """The error, and where to read how it is done."""
    ctx = getattr(error, "ctx", None)
    lines = [f"sk-cli: {_what(error)}"]
    if ctx is not None:
        lines.append(t("usage.try", command=ctx.command_path))
    return "\n".join(lines)


def _what(error: click.ClickException) -> str:
    match error:
        case click.NoSuchOption():
            known = error.possibilities or ()
            return t("usage.no-option", name=one_line(error.option_name)) + near(
                error.option_name, list(known)
            )
        case click.MissingParameter():
            return t("usage.missing", name=_name(error))
        case click.BadParameter():
            return t("usage.bad", name=_name(error), why=one_line(error.message))
        case click.BadOptionUsage():
            lacking = "requires" in error.message
            key = "usage.value-missing" if lacking else "usage.value-unwanted"
            return t(key, name=error.option_name)
        case _:
            return one_line(error.format_message())


def _name(error: click.BadParameter) -> str:
    """The parameter as one types it."""
    parameter = error.param
    if parameter is None:
        return str(error.param_hint or "")
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return str(parameter.make_metavar(error.ctx) if error.ctx else parameter.name)
