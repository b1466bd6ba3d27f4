"""Whether a path can be opened, and what the router's reports make the config watcher do."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sk_bus.internal import FileOpenable
from sk_bus.model import CommandId
from sk_config.opening import judged

HOW = CommandId("one")


@pytest.fixture
def now(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "conf"
    folder.mkdir()
    file = folder / "sidekicks.yaml"
    file.write_text("theme: dark")
    return file


def test_another_file_can_be_opened_even_if_it_is_invalid(now: Path) -> None:
    other = now.with_name("other.yaml")
    other.write_text("agents: [")
    assert judged(HOW, str(other), now) == FileOpenable(command=HOW, path=str(other))


@pytest.mark.parametrize("asked", ["other.yaml", "../conf/other.yaml", "./link/other.yaml"])
def test_a_relative_path_begins_at_the_folder_of_the_file_in_force(now: Path, asked: str) -> None:
    now.with_name("other.yaml").write_text("")
    now.with_name("link").symlink_to(now.parent)
    assert judged(HOW, asked, now).path == str(now.with_name("other.yaml"))


def test_a_tilde_is_the_home(now: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(now.parent))
    assert judged(HOW, "~/sidekicks.yaml", now.with_name("none")).path == str(now)


@pytest.mark.parametrize("asked", ["{now}", "sidekicks.yaml", "{folder}/../conf/sidekicks.yaml"])
def test_the_file_in_force_is_open_already(now: Path, asked: str) -> None:
    made = judged(HOW, asked.format(now=now, folder=now.parent), now)
    assert (made.already, made.problem, made.path) == (True, None, str(now))


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_loop(path: Path) -> None:
    path.symlink_to(path)


def a_picture(path: Path) -> None:
    path.write_bytes(b"\x89PNG\r\n")


def a_film(path: Path) -> None:
    path.write_bytes(b" " * 2_000_000)


@pytest.mark.parametrize(
    ("make", "id_", "reason"),
    [
        (lambda path: None, "no-such-file", None),
        (a_folder, "is-folder", None),
        (a_pipe, "unreadable", "it is no ordinary file"),
        (a_loop, "unreadable", "Too many levels of symbolic links"),
        (a_picture, "unreadable", "it is no UTF-8 text"),
        (a_film, "unreadable", "it is too large to be a configuration"),
    ],
)
def test_what_cant_be_opened_says_why(
    now: Path, make: Callable[[Path], None], id_: str, reason: str | None
) -> None:
    other = now.with_name("other")
    make(other)
    why = judged(HOW, str(other), now).problem
    assert why is not None
    assert (why.id, why.params.get("reason")) == (id_, reason)


@pytest.mark.parametrize(
    ("asked", "id_"), [("", "empty-path"), ("  ", "empty-path"), ("/\0", "unreadable")]
)
def test_what_is_no_path_is_refused(now: Path, asked: str, id_: str) -> None:
    why = judged(HOW, asked, now).problem
    assert why is not None
    assert why.id == id_
