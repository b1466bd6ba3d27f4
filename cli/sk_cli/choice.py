"""Which configuration file a call is about, and so which instance.

In this order: the flag, ``SK_CONFIG``, the file remembered from last time, the default one. Naming
a file names an instance of its own; ``SK_INSTANCE`` names one directly, as services and tests do.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sk_bus import paths

Source = Literal["flag", "env", "remembered", "default"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """``config`` is absolute; ``named`` tells whether somebody asked for this very file."""

    instance: paths.Instance
    config: Path
    source: Source

    @property
    def named(self) -> bool:
        return self.source in {"flag", "env"}


def chosen(flag: Path | None) -> Choice:
    """The instance and the file that a call with ``--config flag`` means."""
    variable = os.environ.get("SK_CONFIG")
    if flag is not None:
        return _named(flag, "flag")
    if variable:
        return _named(Path(variable), "env")
    instance = paths.instance(os.environ.get("SK_INSTANCE") or paths.instance_of(None))
    remembered = remembered_in(instance)
    if remembered is not None:
        return Choice(instance=instance, config=remembered, source="remembered")
    default = Path(paths.identity(paths.default_config()))
    return Choice(instance=instance, config=default, source="default")


def text_in_force(arguments: list[str]) -> str:
    """The text of the configuration file that ``arguments`` mean; empty where there is none.

    It is read before the command line is understood: it makes no directory and no call fail.
    """
    named = _flag(arguments) or os.environ.get("SK_CONFIG")
    name = os.environ.get("SK_INSTANCE") or paths.instance_of(None)
    pointer = paths.state_home() / "sidekicks" / name / "pointer"
    try:
        file = Path(named).expanduser() if named else _pointed_at(pointer) or paths.default_config()
        return file.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError, RuntimeError):
        return ""


def _flag(arguments: list[str]) -> str | None:
    for at, argument in enumerate(arguments):
        if argument == "--":
            break
        name, _, value = argument.partition("=")
        if name == "--config":
            value = value or (arguments[at + 1] if at + 1 < len(arguments) else "")
            return value or None
    return None


def _named(path: Path, source: Source) -> Choice:
    name = os.environ.get("SK_INSTANCE") or paths.instance_of(path)
    return Choice(
        instance=paths.instance(name),
        config=Path(paths.identity(path)),
        source=source,
    )


def remembered_in(instance: paths.Instance) -> Path | None:
    """The file that ``instance`` used last, if it still says so."""
    return _pointed_at(instance.pointer)


def _pointed_at(pointer: Path) -> Path | None:
    try:
        text = pointer.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    return Path(text) if text else None


def other_instances(own: paths.Instance) -> list[paths.Instance]:
    """Every instance of this user that was ever started, without ``own``."""
    try:
        names = sorted(entry.name for entry in own.state.parent.iterdir() if entry.is_dir())
    except FileNotFoundError:
        return []
    known = [name for name in names if (own.state.parent / name / "pointer").is_file()]
    return [paths.instance(name) for name in known if name != own.name]
