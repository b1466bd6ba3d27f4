"""The door of `sk-cli`: finds the command, and turns what went wrong into a sentence and a code.

A command's module is imported when it is called, and for help; nothing else is, so that the
start is quick.
"""

import importlib
import io
import os
import sys
from typing import Any, NoReturn, TextIO

import click

from sk_cli import choice, language, words
from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Invocation
from sk_cli.options import Command, Group
from sk_cli.render import neutral
from sk_cli.usage import said
from sk_cli.words import t

# In the order of help, which must not import each of them: `help.NAME` says what it does.
COMMANDS = (
    "up",
    "down",
    "status",
    "restart",
    "open",
    "send",
    "chat",
    "stop",
    "channels",
    "permissions",
    "agents",
    "events",
    "logs",
    "config",
    "history",
    "doctor",
    "completion",
    "version",
)
_COMPLETE = "_SK_CLI_COMPLETE"


class Commands(Group):
    """The root: commands by name, each in its own module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        del ctx
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"sk_cli.commands.{name}")
        command: Command = module.command
        return command

    def said(self, ctx: click.Context, name: str) -> str:
        del ctx
        return t(f"help.{name}")


root = Commands("sk-cli", help="help.root")


def main() -> NoReturn:
    sys.stdout, sys.stderr = whole(sys.stdout), whole(sys.stderr)
    sys.exit(called(sys.argv[1:]))


def whole(stream: TextIO) -> TextIO:
    """A stream like this one that writes all that it is given; mostly the same.

    Under PYTHONUNBUFFERED nothing stands between the text and the descriptor, and Python drops what
    one write left over: into a full pipe, by a process that was stopped and continued.
    """
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=stream.encoding, errors=stream.errors, line_buffering=True
    )


def called(arguments: list[str]) -> int:
    """Run the command line ``arguments``; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Whatever the locale can't write, or half of a surrogate pair: a mark, no traceback.
            stream.reconfigure(errors="backslashreplace")
    if "--version" in arguments[:1]:  # as programs are asked everywhere
        arguments = ["version", *arguments[1:]]
    words.speak(_language(arguments))
    words.address("")
    if _COMPLETE in os.environ:
        from sk_cli.completing import completed

        return completed(root, os.environ[_COMPLETE])
    try:
        # Not root.main(): it would end the process by itself where a pipe was closed.
        with root.make_context("sk-cli", arguments, obj=Invocation()) as context:
            ended: Any = root.invoke(context)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (head, less): that is its right. Nothing more may be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.DONE)
    except Failure as failure:
        # It may hold what an agent said, or a name that somebody made up.
        print(f"sk-cli: {neutral(failure.message)}", file=sys.stderr)
        for line in failure.details:
            print(f"  | {neutral(line)}", file=sys.stderr)
        if failure.then:
            print(t("failure.next", then=neutral(failure.then)), file=sys.stderr)
        return int(failure.code)
    except OSError as error:
        # A full disk behind stdout, a file without rights: theirs to mend, and no fault of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        why = error.strerror or str(error)
        what = f"{error.filename}: {why}" if error.filename else why
        print(f"sk-cli: {neutral(what)}", file=sys.stderr)
        return int(Exit.FAILED)
    except click.exceptions.Exit as error:  # --help was all that was asked
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.ctx.get_help() if error.ctx else error.message)
        return int(Exit.USAGE)
    except click.ClickException as error:
        print(said(error), file=sys.stderr)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return int(Exit.INTERRUPTED)
    return ended if isinstance(ended, int) else int(Exit.DONE)


def _language(arguments: list[str]) -> words.Language:
    return (
        language.asked_for(arguments)
        or language.configured(choice.text_in_force(arguments))
        or language.of_login(os.environ)
    )
