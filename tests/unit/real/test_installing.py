"""Where the real agents' installer finds what it needs, and what it says when it doesn't."""

from pathlib import Path

import pytest

from tests.real.agents import AGENTS
from tests.real.installing import InstallError, installed, missing, python

NODE = next(agent for agent in AGENTS if agent.npm)
PYTHON = next(agent for agent in AGENTS if agent.pip)


def program(path: Path, said: str, status: int = 0) -> Path:
    """A program that says something and ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{said}'\nexit {status}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without anything; its folder ``bin`` is all of PATH."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_oldest_python_that_is_new_enough_is_taken(machine: Path) -> None:
    program(machine / "bin/python3", "3 11")
    program(machine / "bin/python3.14", "3 14")
    wanted = program(machine / "home/.pyenv/versions/3.12.1/bin/python3", "3 12")
    assert python() == wanted


def test_a_python_that_makes_no_environment_is_none(machine: Path) -> None:
    program(machine / "bin/python3.12", "3 12", status=1)
    assert python() is None
    assert missing(PYTHON) == "needs a Python 3.12 or later, which was not found"


@pytest.mark.parametrize("version", ["", "v18.20.1"])
def test_without_a_new_node_an_agent_of_npm_is_left_out(machine: Path, version: str) -> None:
    program(machine / "bin/npm", "")
    if version:
        program(machine / "bin/node", version)
    assert missing(NODE) == "needs Node 20 or later and npm on PATH"


def test_with_one_nothing_is_missing(machine: Path) -> None:
    program(machine / "bin/npm", "")
    program(machine / "bin/node", "v20.1.0")
    assert missing(NODE) == ""


def test_what_was_installed_stays(machine: Path) -> None:
    npm = program(machine / "bin/npm", "")
    at = installed(NODE, machine)
    npm.write_text("#!/bin/sh\nexit 1\n")
    assert installed(NODE, machine) == at


def test_a_failure_is_told_in_the_client_s_words_and_tried_again(machine: Path) -> None:
    program(machine / "bin/npm", "no such package", status=1)
    with pytest.raises(InstallError, match="no such package"):
        installed(NODE, machine)
    program(machine / "bin/npm", "")
    assert installed(NODE, machine).is_dir()
