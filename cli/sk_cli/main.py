"""The door of `sk-cli`: finds the command, and turns what went wrong into a sentence and a code.

A command's module is imported when it is called, and for help; nothing else is, so that the
start is quick.
"""

import difflib
import importlib
import io
import os
import sys
from typing import Any, NoReturn

import click

from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Group

# Name, and what it does: help must not import every command.
COMMANDS = {
    "up": "Start everything; say where the page is.",
    "down": "Stop everything, agents included.",
    "status": "Show components, agents and configuration.",
    "restart": "Restart components; agents go on.",
    "open": "Open the page in the browser, or show its address.",
    "send": "Send a message; --wait streams the answer.",
    "stop": "Stop the answer under way in a channel.",
    "channels": "List and read channels.",
    "permissions": "What agents ask leave for, and answers.",
    "agents": "List, start, stop and restart agents.",
    "events": "Watch the bus, filter it, replay it.",
    "logs": "The components' logs.",
    "config": "The configuration file, and whether it is valid.",
    "version": "Show the version.",
}

EXAMPLES = """\b
Examples:
  sk-cli up
  sk-cli send @demo "hello" --wait
  sk-cli events --since 5m
"""


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
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS:
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"There is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


root = Commands("sk-cli", help=f"Talk with AI agents in channels.\n\n{EXAMPLES}")


def main() -> NoReturn:
    sys.exit(called(sys.argv[1:]))


def called(arguments: list[str]) -> int:
    """Run the command line ``arguments``; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Whatever the locale can't write, or half of a surrogate pair: a mark, no traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        # Not root.main(): it would end the process by itself where a pipe was closed.
        with root.make_context("sk-cli", arguments) as context:
            ended: Any = root.invoke(context)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (head, less): that is its right. Nothing more may be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.DONE)
    except Failure as failure:
        print(f"sk-cli: {failure.message}", file=sys.stderr)
        for line in failure.details:
            print(f"  | {line}", file=sys.stderr)
        if failure.then:
            print(f"next:   {failure.then}", file=sys.stderr)
        return int(failure.code)
    except click.exceptions.Exit as error:  # --help was all that was asked
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.ctx.get_help() if error.ctx else error.message)
        return int(Exit.USAGE)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return int(Exit.INTERRUPTED)
    return ended if isinstance(ended, int) else int(Exit.DONE)
