"""Installs the real agents, each in a folder of its own, by the ordinary clients npm and pip.

What is there in the wanted version stays. Packages' install scripts aren't run: none is needed.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.real.agents import RealAgent

_TIMEOUT = 1200  # seconds, for one agent on a slow line


class InstallError(Exception):
    """An agent can't be installed; the text says why, and what to do."""


def installed(agent: RealAgent, folder: Path) -> Path:
    """The folder of the agent, installed below ``folder``.

    Raises:
        InstallError: it can't be.
    """
    at = folder / f"{agent.name}-{agent.version}"
    stamp = at / "installed.json"
    wanted = json.dumps({"npm": agent.npm, "pip": agent.pip, "at": str(at)})
    if stamp.exists() and stamp.read_text() == wanted:
        return at
    shutil.rmtree(at, ignore_errors=True)
    at.mkdir(parents=True)
    for command in _commands(agent, at):
        _run(command, at)
    stamp.write_text(wanted)
    return at


def missing(agent: RealAgent) -> str:
    """What this machine lacks for the agent, in words; empty: nothing."""
    if agent.npm and not (shutil.which("npm") and _node() >= 20):
        return "needs Node 20 or later and npm on PATH"
    if agent.pip and python() is None:
        return "needs a Python 3.12 or later, which was not found"
    return ""


def python() -> Path | None:
    """A Python 3.12 or later that can make a virtual environment; the oldest, which most packages
    have wheels for."""
    found: dict[tuple[int, int], Path] = {}
    for path in _pythons():
        version = _version(path)
        if version >= (3, 12):
            found.setdefault(version, path)
    return found[min(found)] if found else None


def _node() -> int:
    """The first number of the version of Node on PATH; 0: there is none."""
    if not shutil.which("node"):
        return 0
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False)
    return int(said.stdout.strip().removeprefix("v").partition(".")[0] or 0)


def _commands(agent: RealAgent, at: Path) -> Iterator[list[str]]:
    if agent.npm:
        quiet = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
        yield ["npm", "install", "--prefix", str(at), "--ignore-scripts", *quiet, *agent.npm]
    if agent.pip:
        yield [str(python()), "-m", "venv", str(at)]
        yield [
            *(str(at / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"),
            *("install", "--quiet", "--prefer-binary", *agent.pip),
        ]


def _run(command: list[str], at: Path) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT, check=False, cwd=at
        )
    except subprocess.TimeoutExpired as error:
        raise InstallError(f"{' '.join(command)} took over {_TIMEOUT} s: try again") from error
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise InstallError("\n".join([f"{' '.join(command)} failed:", *said[-15:]]))


def _pythons() -> Iterable[Path]:
    """Interpreters on PATH, and where version managers keep those that aren't."""
    names = [f"python3.{minor}" for minor in range(12, 20)] + ["python3", "python"]
    folders = [Path(one) for one in os.environ.get("PATH", os.defpath).split(os.pathsep) if one]
    for folder in folders:
        yield from (folder / name for name in names)
    kept = [folder.parent / "versions" for folder in folders if folder.name == "shims"]
    home = Path.home()
    kept += [
        Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions",
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local/share/uv/python"),
        home / ".local/share/mise/installs/python",
        home / ".asdf/installs/python",
    ]
    for folder in kept:
        yield from sorted(folder.glob("*/bin/python3"))


def _version(python: Path) -> tuple[int, int]:
    """The version of an interpreter; (0, 0) where it is none, or lacks venv."""
    if not os.access(python, os.X_OK):
        return 0, 0
    try:
        done = subprocess.run(
            [python, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0, 0
    if done.returncode != 0:
        return 0, 0
    major, minor = done.stdout.split()
    return int(major), int(minor)
