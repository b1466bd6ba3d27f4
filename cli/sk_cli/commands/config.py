"""`sk-cli config`: which file is in force, what stands in it, whether it is valid; another one."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import orjson

from sk_bus.codec import value_of
from sk_bus.commands import Open
from sk_bus.contract import Bus
from sk_bus.errors import SidekicksError
from sk_bus.model import Problem
from sk_bus.queries import (
    Checked,
    Content,
    Current,
    CurrentConfig,
    Forget,
    Recent,
    Schema,
    Validate,
)
from sk_cli import asking, instances, render
from sk_cli.failure import Exit, Failure
from sk_cli.invocation import Invocation, pass_invocation
from sk_cli.options import Command, Group, option
from sk_cli.words import problem_text, t

_EDITORS = ("sensible-editor", "nano", "vim", "vi")


@click.group(cls=Group, help="help.config")
def command() -> None:
    pass


@command.command("path", cls=Command, help="help.config.path")
@pass_invocation
def path(told: Invocation) -> None:
    config, source = _in_force(told)
    if told.json:
        told.document({"path": config, "source": source})
    else:
        print(told.written(config))


@command.command("show", cls=Command, help="help.config.show")
@pass_invocation
def show(told: Invocation) -> None:
    async def body(bus: Bus) -> str:
        text = str((await bus.query(Content())).value.text)
        if not text:
            _require(Path((await _current(bus)).path))
        return text

    if _runs(told):
        text = asking.ask(told, body)
    else:
        _, text = _text(told.choice.config)
    if told.json:
        told.document({"text": text})
    else:
        sys.stdout.write(told.written(text))


@command.command("validate", cls=Command, help="help.config.validate")
@click.argument("file", required=False, type=click.Path(allow_dash=True))
@pass_invocation
def validate(told: Invocation, *, file: str | None) -> int:
    if file == "-":
        return _checked(told, "stdin", _decoded(sys.stdin.buffer.read(), "stdin"), Path.cwd())
    place = Path(file) if file else Path(_in_force(told)[0])
    name, text = _text(place)
    return _checked(told, name, text, place.absolute().parent)


@command.command("edit", cls=Command, help="help.config.edit")
@pass_invocation
def edit(told: Invocation) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError(t("config.edit.terminal"))
    place = Path(_in_force(told)[0])
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _any_editor()
    try:
        ended = subprocess.run([*shlex.split(editor), str(place)], check=False)
    except (OSError, ValueError) as error:  # it isn't there; its quotation marks don't close
        why = getattr(error, "strerror", None) or error
        raise Failure(
            t("config.edit.unstartable", editor=editor, why=why), then="EDITOR=… sk-cli config edit"
        ) from error
    if ended.returncode:
        raise Failure(t("config.edit.failed", editor=editor, code=ended.returncode))
    name, text = _text(place)
    return _checked(told, name, text, place.parent)


@command.command("open", cls=Command, help="help.config.open")
@click.argument("file", type=click.Path())
@pass_invocation
def open_(told: Invocation, *, file: str) -> None:
    place = Path(file).expanduser().absolute()

    async def body(bus: Bus) -> CurrentConfig:
        accepted = await asking.done(bus, Open(id=asking.command_id(), path=str(place)))
        if not accepted.result.value["already"]:
            told.say(t("config.opening", path=place))
        # Accepted: the services end, and begin anew on the other file's data.
        seen: list[str | None] = []
        async for _ in bus.beats():
            try:
                current: CurrentConfig = (await bus.query(Current(), timeout=2.0)).value
            except SidekicksError:
                continue  # it is not there yet; the next heartbeat is soon
            if _same_file(Path(current.path), place):
                return current
            trouble = current.historyProblem
            if seen and trouble and trouble != seen[-1]:  # what stood before is no news
                told.say(t("config.opening.waits", why=trouble))
            seen.append(trouble)
        raise AssertionError("heartbeats never end by themselves")

    current = asking.ask(told, body, then="sk-cli status")
    if told.json:
        told.document(current)
        return
    state = (
        t("config.valid") if current.valid else t("config.problems", count=len(current.problems))
    )
    told.say(t("config.opened", path=current.path, state=state))


@command.command("recent", cls=Command, help="help.config.recent")
@option("--forget", metavar="FILE", help="help.config.recent.forget")
@pass_invocation
def recent(told: Invocation, forget: str | None) -> None:
    # Named as it stands in the list, or as one would name it from here.
    from_here = str(Path(forget or "").expanduser().absolute())

    async def body(bus: Bus) -> tuple[str, ...]:
        files: tuple[str, ...] = (await bus.query(Recent())).value
        if forget is None:
            return files
        named = forget if forget in files else from_here
        if named not in files:
            raise Failure(
                t("config.recent.unknown", path=named),
                code=Exit.NO_SUCH,
                then="sk-cli config recent",
            )
        left: tuple[str, ...] = (await bus.query(Forget(path=named))).value
        return left

    files = asking.ask(told, body)
    if told.json:
        told.document(list(files))
        return
    for file in files:
        print(told.written(file))
    if not files:
        told.say(t("config.recent.none"))


@command.command("schema", cls=Command, help="help.config.schema")
@pass_invocation
def schema(told: Invocation) -> None:
    async def body(bus: Bus) -> object:
        return (await bus.query(Schema())).value

    told.document(asking.ask(told, body))


def _runs(told: Invocation) -> bool:
    return instances.supervisor_pid(told.choice.instance) is not None


def _in_force(told: Invocation) -> tuple[str, str]:
    """The file in force, or the one that a start would take, and how it was found."""
    if not _runs(told):
        return str(told.choice.config), told.choice.source
    current = asking.ask(told, _current)
    return current.path, current.source


async def _current(bus: Bus) -> CurrentConfig:
    current: CurrentConfig = (await bus.query(Current())).value
    return current


def _checked(told: Invocation, name: str, text: str, folder: Path) -> int:
    async def body(bus: Bus) -> Checked:
        checked: Checked = (await bus.query(Validate(text=text, folder=str(folder)))).value
        return checked

    # A running one knows the variables that it was started with; a file can be checked without.
    checked = asking.ask(told, body) if _runs(told) else _checked_alone(text, folder)
    if told.json:
        told.document(checked)
    else:
        for problem in (*checked.problems, *checked.warnings):
            print(_line(name, problem))
        errors = t("config.errors", count=len(checked.problems))
        warnings = t("config.warnings", count=len(checked.warnings))
        found = checked.problems or checked.warnings
        told.say(f"{errors}, {warnings}" if found else t("config.valid"))
    return int(Exit.INVALID_CONFIGURATION if checked.problems else Exit.DONE)


def _checked_alone(text: str, folder: Path) -> Checked:
    ended = subprocess.run(
        [sys.executable, "-m", "sk_config.checking", str(folder)],
        input=text.encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return value_of(Checked, orjson.loads(ended.stdout))


def _text(place: Path) -> tuple[str, str]:
    _require(place)
    try:
        data = place.read_bytes()
    except OSError as error:
        raise Failure(
            t("config.unreadable", path=place, why=error.strerror), code=Exit.NO_SUCH
        ) from error
    return str(place), _decoded(data, str(place))


def _decoded(data: bytes, place: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Failure(
            t("config.not-utf8", path=_placed(place, error), byte=error.start + 1),
            code=Exit.INVALID_CONFIGURATION,
        ) from error


def _placed(place: str, error: UnicodeDecodeError) -> str:
    before = error.object[: error.start]
    column = len(before.rpartition(b"\n")[2].decode(errors="replace")) + 1
    return f"{place}:{before.count(bytes([10])) + 1}:{column}"


def _require(place: Path) -> None:
    if not place.exists():
        raise Failure(
            t("config.no-file", path=place),
            code=Exit.NO_SUCH,
            then=t("config.no-file.then"),
        )


def _line(name: str, problem: Problem) -> str:
    """A problem as compilers write it, so that editors can jump to it."""
    place = f":{problem.line}:{problem.column or 1}" if problem.line else ""
    kind = t("config.warning") if problem.warning else t("config.error")
    return f"{render.one_line(name)}{place}: {kind}: {render.one_line(problem_text(problem))}"


def _any_editor() -> str:
    found = next((one for one in _EDITORS if shutil.which(one)), None)
    if found is None:
        raise Failure(t("config.edit.none"), then="EDITOR=… sk-cli config edit")
    return found


def _same_file(one: Path, other: Path) -> bool:
    return one == other or (one.parent.resolve(), one.name) == (other.parent.resolve(), other.name)
