"""Where an instance's directories are, and that nobody else can use them."""

import os
import stat
from pathlib import Path

import pytest

from sk_bus import paths


@pytest.fixture(autouse=True)
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CONFIG_HOME", "STATE_HOME", "RUNTIME_DIR"):
        monkeypatch.setenv(f"XDG_{name}", str(tmp_path / name[0].lower()))
    monkeypatch.delenv("SK_INSTANCE", raising=False)
    return tmp_path


def test_directories_are_private() -> None:
    made = paths.instance("one")
    for directory in (made.state, made.run, made.logs, made.definitions):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_no_folder_above_them_is_open_to_others_whatever_the_mask(homes: Path) -> None:
    mask = os.umask(0)
    try:
        made = paths.instance("one")
    finally:
        os.umask(mask)
    for directory in (made.logs, made.definitions):
        for folder in directory.parents:
            if folder != homes and folder.is_relative_to(homes):
                assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


def test_a_long_run_directory_is_replaced_by_a_short_private_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("x" * 100)))
    made = paths.instance("one")
    try:
        assert len(os.fsencode(made.queries("a-service-of-any-name").removeprefix("ipc://"))) <= 107
        assert stat.S_IMODE(made.run.parent.stat().st_mode) == 0o700
    finally:
        made.definitions.rmdir()
        made.run.rmdir()


def test_the_run_directory_of_the_last_start_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    made = paths.instance("one")
    made.runs_in.write_text(f"{made.run}\n")
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert paths.instance("one").run == made.run


def test_a_run_directory_that_is_gone_is_forgotten(homes: Path) -> None:
    made = paths.instance("one")
    made.runs_in.write_text(f"{homes / 'gone'}\n")
    assert paths.instance("one").run == made.run


def test_a_directory_of_somebody_elses_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(paths.PathsError):
        paths.private(tmp_path / "link")


def test_a_file_keeps_its_data_when_the_link_to_it_is_swapped(tmp_path: Path) -> None:
    link = tmp_path / "sidekicks.yaml"
    link.symlink_to(tmp_path / "one.yaml")
    before = paths.data_directory(link)
    link.unlink()
    link.symlink_to(tmp_path / "other.yaml")
    assert paths.data_directory(link) == before


def test_a_folder_is_known_by_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    assert paths.identity(tmp_path / "alias" / "a.yaml") == str(tmp_path / "real" / "a.yaml")
