"""The keeper against a real folder: what it takes up, refuses and says."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sk_bus.errors import RefusedError
from sk_bus.events import ConfigChanged
from sk_config import watcher
from sk_config.files import sweep_definitions
from sk_config.keeper import Keeper, Places, source_of, surroundings_of
from sk_config.recent import forgotten, opened, recent
from tests.support.patience import PATIENCE

VALID = "theme: dark\nagents: [{name: a, command: /bin/sh, env: {K: s3cr3t-s3cr3t}}]\n"


@dataclass
class Home:
    """The folders of one configuration file, and what was said about it."""

    root: Path
    said: list[ConfigChanged] = field(default_factory=list)
    more: asyncio.Event = field(default_factory=asyncio.Event)
    epoch: int = 1

    @property
    def file(self) -> Path:
        return self.root / "conf" / "sidekicks.yaml"

    def keeper(self) -> Keeper:
        places = Places(
            file=self.file,
            data=self.root / "data",
            definitions=self.root / "defs",
            source="default",
            epoch=self.epoch,
        )
        for folder in (places.data, places.definitions):
            folder.mkdir(exist_ok=True)
        return Keeper(places=places, surroundings=surroundings_of(self.file), speak=self._hear)

    def _hear(self, event: ConfigChanged, _: bytes | None) -> None:
        self.said.append(event)
        self.more.set()

    async def until_said(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while len(self.said) < count:
                self.more.clear()
                await self.more.wait()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "conf").mkdir()
    return Home(tmp_path)


def ids(keeper: Keeper) -> list[str]:
    return [one.id for one in keeper.problems]


def begun(home: Home) -> Keeper:
    keeper = home.keeper()
    asyncio.run(keeper.begin())
    return keeper


def test_where_there_is_no_file_a_starter_is_written(home: Home) -> None:
    keeper = begun(home)
    assert keeper.current(None).created
    assert begun(home).current(None).created, "a restart of ours doesn't change that"
    home.epoch = 2
    assert not begun(home).current(None).created


def test_a_file_that_went_missing_is_not_replaced_by_a_starter(home: Home) -> None:
    home.file.write_text(VALID)
    begun(home)
    home.file.unlink()
    keeper = begun(home)
    assert ids(keeper) == ["no-such-file"]
    assert home.said[-1].config.theme == "dark"
    assert keeper.content().text == ""
    assert asyncio.run(keeper.save("theme: light", keeper.content().digest)).saved
    assert home.file.read_text() == "theme: light"


@pytest.mark.parametrize(
    ("data", "id_", "line", "column"),
    [
        (b"theme: dark\nlanguage: \xff", "not-utf8", 2, 11),
        (b"\xff\xfet\x00", "not-utf8", 1, 1),
        (b"theme: \xc3\xa9\xc3", "not-utf8", 1, 9),
    ],
)
def test_what_is_no_text_has_its_place(
    home: Home, data: bytes, id_: str, line: int, column: int
) -> None:
    home.file.write_bytes(data)
    keeper = begun(home)
    assert [(one.id, one.line, one.column) for one in keeper.problems] == [(id_, line, column)]


def test_a_byte_order_mark_is_no_problem(home: Home) -> None:
    home.file.write_bytes(b"\xef\xbb\xbftheme: dark\r\nlanguage: fr\r\n")
    keeper = begun(home)
    assert (keeper.valid, keeper.current(None).language) == (True, "fr")


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (b"theme: dark\n", "theme: light\n", b"theme: light\n"),
        (b"theme: dark\r\n# mine\r\n", "theme: light\n# mine\n", b"theme: light\r\n# mine\r\n"),
        (b"theme: dark\r\n", "theme: light\r\n", b"theme: light\r\n"),
        (b"theme: dark\r\n# mixed\n", "theme: light\n", b"theme: light\n"),
        (b"\xef\xbb\xbftheme: dark\n", "theme: light\n", b"\xef\xbb\xbftheme: light\n"),
        (b"\xef\xbb\xbftheme: dark\n", "\ufefftheme: light", b"\xef\xbb\xbftheme: light"),
        (b"", "theme: light\n", b"theme: light\n"),
    ],
)
def test_a_save_keeps_line_ends_and_the_mark_and_can_be_repeated(
    home: Home, before: bytes, text: str, after: bytes
) -> None:
    home.file.write_bytes(before)
    keeper = begun(home)
    digest = keeper.content().digest
    for _ in range(2):
        assert asyncio.run(keeper.save(text, digest)).saved
        assert home.file.read_bytes() == after
    assert keeper.content().text == text.removeprefix("\ufeff").replace(
        "\n", "\r\n" if after.endswith(b"\r\n") and "\r" not in text else "\n"
    )


def test_a_text_that_isnt_utf8_is_never_given_out_for_a_save_to_destroy(home: Home) -> None:
    home.file.write_bytes(b"theme: dark # caf\xe9")
    keeper = begun(home)
    with pytest.raises(RefusedError) as refused:
        keeper.content()
    assert (refused.value.problem.id, refused.value.problem.column) == ("not-utf8", 18)


def test_a_file_of_ten_megabytes_is_refused_unread(home: Home) -> None:
    home.file.write_bytes(b"# words\n" * 1_250_000)
    keeper = begun(home)
    assert [one.message for one in keeper.problems] == [
        f"{home.file} can't be read: it is too large to be a configuration"
    ]


def test_a_pipe_in_place_of_the_file_keeps_nobody_waiting(home: Home) -> None:
    os.mkfifo(home.file)
    keeper = begun(home)
    assert [one.message for one in keeper.problems] == [
        f"{home.file} can't be read: it is no ordinary file"
    ]


def test_a_folder_in_place_of_the_file_is_said(home: Home) -> None:
    home.file.mkdir()
    keeper = begun(home)
    assert ids(keeper) == ["unreadable"]
    with pytest.raises(RefusedError):
        keeper.content()


def test_what_cannot_be_written_is_refused_and_says_why(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.file.write_text(VALID)
    keeper = begun(home)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RefusedError) as refused:
        asyncio.run(keeper.save("theme: light", keeper.content().digest))
    assert refused.value.problem.id == "unwritable"
    assert "No space left" in refused.value.problem.message
    assert home.file.read_text() == VALID
    assert list(home.file.parent.iterdir()) == [home.file]


def test_a_damaged_record_is_as_good_as_none(home: Home) -> None:
    home.file.write_text(VALID)
    keeper = begun(home)
    keeper.places.record.write_bytes(b"{")
    assert begun(home).valid


def test_the_problems_of_an_invalid_file_hide_the_secrets_in_force(home: Home) -> None:
    home.file.write_text(VALID)
    begun(home)
    home.file.write_text("agents: [{name: a, command: /bin/sh, s3cr3t-s3cr3t: 1}]")
    keeper = begun(home)
    assert ids(keeper) == ["unknown-field"]
    assert "s3cr3t" not in repr(home.said[-1])


def test_a_start_with_the_same_file_says_the_same(home: Home) -> None:
    home.file.write_text(VALID)
    begun(home)
    begun(home)
    assert home.said[0] == home.said[1]


def test_a_variable_that_changed_is_noticed_at_the_next_start(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SK_TEST_FOLDER", "/tmp")
    home.file.write_text("agents: [{name: a, command: /bin/sh, cwd: '${SK_TEST_FOLDER}'}]")
    begun(home)
    monkeypatch.setenv("SK_TEST_FOLDER", "/")
    begun(home)
    assert [said.config.agents[0].cwd for said in home.said] == ["/tmp", "/"]


def following(home: Home, script: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        keeper = home.keeper()
        await keeper.begin()
        task = asyncio.create_task(keeper.follow())
        await script()
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(whole())


def test_a_file_that_stays_away_is_said_and_its_return_too(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "_GONE", 0.1)
    home.file.write_text(VALID)

    async def script() -> None:
        home.file.unlink()
        await home.until_said(2)
        home.file.write_text(VALID)
        await home.until_said(3)

    following(home, script)
    assert [(one.valid, one.config.theme) for one in home.said] == [
        (True, "dark"),
        (False, "dark"),
        (True, "dark"),
    ]


def test_where_folders_cannot_be_watched_it_looks_often(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object, **__: object) -> object:
        raise OSError(28, "no watches left")
        yield

    monkeypatch.setattr(watcher.watchfiles, "awatch", refused)
    home.file.write_text(VALID)

    async def script() -> None:
        home.file.write_text("theme: light")
        await home.until_said(2)

    following(home, script)
    assert home.said[-1].config.theme == "light"


def test_definitions_are_swept_when_nobody_can_need_them(tmp_path: Path) -> None:
    for number in range(60):
        path = tmp_path / f"{number:02}.json"
        path.write_text("{}")
        os.utime(path, (number, number))
    young = tmp_path / "young.json"
    young.write_text("{}")
    os.utime(young, (1e6, 1e6))
    sweep_definitions(tmp_path, frozenset({"03"}), now=1e6)
    left = {path.stem for path in tmp_path.iterdir()}
    assert left == {"young", "03", *(f"{number:02}" for number in range(11, 60))}


def test_recent_files_are_eight_newest_first_each_once(tmp_path: Path) -> None:
    known = tmp_path / "recent"
    for name in "abcdefghija":
        opened(known, Path("/") / name)
    assert recent(known) == ("/a", "/j", "/i", "/h", "/g", "/f", "/e", "/d")
    assert forgotten(known, "/i") == ("/a", "/j", "/h", "/g", "/f", "/e", "/d") == recent(known)
    assert forgotten(known, "/never") == recent(known)
    known.write_text("not JSON")
    assert recent(known) == ()
    assert forgotten(known, "/a") == ()


@pytest.mark.parametrize(
    ("noted", "source"), [("flag\n", "flag"), ("env", "env"), ("", "default"), ("x", "default")]
)
def test_how_the_file_was_found_is_as_noted(tmp_path: Path, noted: str, source: str) -> None:
    (tmp_path / "source").write_text(noted)
    assert source_of(tmp_path / "source") == source
    assert source_of(tmp_path / "none") == "default"
