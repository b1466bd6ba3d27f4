"""Whether a path can be opened, and what the router's reports make the config watcher do."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sk_bus.contract import Hello, Report
from sk_bus.errors import UnreachableError, problem
from sk_bus.internal import FileOpenable
from sk_bus.model import CommandId
from sk_bus.paths import Instance
from sk_bus.queries import ListChannels
from sk_bus.service import Service
from sk_config.opening import Opening, judged
from tests.support.patience import PATIENCE

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


class Waiting:
    """A bus whose history answers when it is let."""

    def __init__(self) -> None:
        self.asked = 0
        self.stored = asyncio.Event()

    async def hello(self, *, timeout: float) -> Hello:
        return Hello(epoch=1, head=9, floor=1, directory="", config="", open=True)

    async def query(self, query: ListChannels, *, after: int, timeout: float) -> None:
        assert after == 9
        self.asked += 1
        await asyncio.sleep(0)
        if not self.stored.is_set():
            raise UnreachableError(problem("unreachable", "sk-history is away"))


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0.01)


def test_while_the_history_has_yet_to_store_what_was_said_that_is_said(tmp_path: Path) -> None:
    instance = Instance(name="test", state=tmp_path, run=tmp_path)
    bus: Any = Waiting()
    hello = Hello(epoch=1, head=9, floor=1, directory="", config="", open=True)
    service = Service("config", instance, bus, hello)
    opening = Opening(
        service,
        tmp_path / "now.yaml",
        answered=lambda _: True,
        say=lambda _: None,
    )

    async def test() -> None:
        task = asyncio.ensure_future(opening.run())
        details = {"opening": {"closed": True, "path": "/there.yaml"}}
        opening.heard(Report(service="router", pid=1, epoch=1, cursor=9, details=details))
        await until(lambda: bus.asked > 1)
        assert opening.waits == "/there.yaml is opened when the history has stored everything"
        assert service.state == "degraded"
        assert not instance.pointer.exists()
        bus.stored.set()
        await until(instance.source.exists)
        assert opening.waits == ""
        await until(instance.pointer.exists)
        assert instance.pointer.read_text() == "/there.yaml\n"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(test())
