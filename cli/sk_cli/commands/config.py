"""`sk-cli config`: which file is in force, what stands in it, and whether it is valid."""

import sys
from pathlib import Path

import click

from sk_bus.contract import Bus
from sk_bus.model import Problem
from sk_bus.queries import Checked, Content, Current, CurrentConfig, Validate
from sk_cli import asking, instances, render
from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Command, Group, Invocation, pass_invocation


@click.group(cls=Group, help="The configuration file, and whether it is valid.")
def command() -> None:
    pass


@command.command("path", cls=Command, help="The file in force.")
@pass_invocation
def path(told: Invocation) -> None:
    choice = told.choice
    config, source = str(choice.config), str(choice.source)
    if instances.supervisor_pid(choice.instance) is not None:
        current = asking.ask(told, _current)
        config, source = current.path, current.source
    if told.json:
        told.document({"path": config, "source": source})
    else:
        print(config)


@command.command("show", cls=Command, help="The file's text, as it is.")
@pass_invocation
def show(told: Invocation) -> None:
    async def body(bus: Bus) -> str:
        text = str((await bus.query(Content())).value.text)
        if not text:
            _require(Path((await _current(bus)).path))
        return text

    text = asking.ask(told, body)
    if told.json:
        told.document({"text": text})
    else:
        sys.stdout.write(render.neutral(text) if sys.stdout.isatty() else text)


@command.command("validate", cls=Command, help="The problems of FILE (- for stdin; default: ours).")
@click.argument("file", required=False)
@pass_invocation
def validate(told: Invocation, *, file: str | None) -> int:
    name, text = _text(told, file)

    async def body(bus: Bus) -> Checked:
        checked: Checked = (await bus.query(Validate(text=text))).value
        return checked

    checked = asking.ask(told, body)
    if told.json:
        told.document(checked)
    else:
        for problem in (*checked.problems, *checked.warnings):
            print(_line(name, problem))
        errors = render.counted(len(checked.problems), "error")
        count = f"{errors}, {render.counted(len(checked.warnings), 'warning')}"
        told.say(count if checked.problems or checked.warnings else "valid")
    return int(Exit.INVALID_CONFIGURATION if checked.problems else Exit.DONE)


async def _current(bus: Bus) -> CurrentConfig:
    current: CurrentConfig = (await bus.query(Current())).value
    return current


def _text(told: Invocation, file: str | None) -> tuple[str, str]:
    if file == "-":
        return "stdin", sys.stdin.read()
    place = Path(file) if file else told.choice.config
    _require(place)
    try:
        return str(place), place.read_text(encoding="utf-8")
    except OSError as error:
        raise Failure(f"{place} can't be read: {error.strerror}", code=Exit.NO_SUCH) from error
    except UnicodeDecodeError as error:
        raise Failure(
            f"{place} is not UTF-8, from byte {error.start + 1} on; convert it first",
            code=Exit.INVALID_CONFIGURATION,
        ) from error


def _require(place: Path) -> None:
    if not place.exists():
        raise Failure(
            f"there is no file {place}; a running Sidekicks keeps the last valid one in force",
            code=Exit.NO_SUCH,
            then="bring the file back, or name another",
        )


def _line(name: str, problem: Problem) -> str:
    """A problem as compilers write it, so that editors can jump to it."""
    place = f":{problem.line}:{problem.column or 1}" if problem.line else ""
    kind = "warning" if problem.warning else "error"
    return f"{name}{place}: {kind}: {render.one_line(problem.message)}"
