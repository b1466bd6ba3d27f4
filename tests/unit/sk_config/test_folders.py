"""What a file dialog is shown, and that it gets no further than it may."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sk_bus.errors import RefusedError
from sk_bus.queries import FolderView
from sk_config.folders import MOST, listed

Show = Callable[[str], FolderView]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with folders and files; beside it the configuration's folder, and a secret one."""
    for folder in (
        "home/projects/deep",
        "home/.config",
        "home/Applications",
        "etc/sidekicks",
        "secret",
    ):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("home/b.yaml", "home/A.YML", "home/.hidden.yaml", "home/notes.txt", "etc/x.yaml"):
        (tmp_path / file).touch()
    (tmp_path / "etc/sidekicks/sidekicks.yaml").touch()
    (tmp_path / "secret/s.yaml").touch()
    return tmp_path / "home"


@pytest.fixture
def show(home: Path) -> Show:
    return lambda path: listed(path, home=home, folder=home.parent / "etc" / "sidekicks")


def names(view: FolderView) -> list[str]:
    return [one.name + "/" * one.folder for one in view.entries]


def refused(show: Show, path: object) -> str:
    with pytest.raises(RefusedError) as error:
        show(str(path))
    return error.value.problem.id


def test_folders_and_yaml_files_are_shown_hidden_ones_last(show: Show, home: Path) -> None:
    view = show(str(home))
    assert names(view) == [
        "Applications/",
        "projects/",
        ".config/",
        "A.YML",
        "b.yaml",
        ".hidden.yaml",
    ]
    assert [one.name for one in view.entries if one.hidden] == [".config", ".hidden.yaml"]
    assert view.entries[1].path == str(home / "projects")
    assert not view.more


def test_without_a_path_it_is_the_folder_of_the_configuration(show: Show, home: Path) -> None:
    view = show("")
    assert (view.path, names(view)) == (str(home.parent / "etc/sidekicks"), ["sidekicks.yaml"])


def test_one_goes_up_as_far_as_a_root(show: Show, home: Path) -> None:
    assert show(str(home / "projects" / "deep")).parent == str(home / "projects")
    assert show(str(home / "projects")).parent == str(home)
    assert show(str(home)).parent is None
    assert show("").parent is None


def test_from_a_configuration_below_the_home_one_goes_up_to_the_home(home: Path) -> None:
    view = listed("", home=home, folder=home / "projects" / "deep")
    assert view.parent == str(home / "projects")


@pytest.mark.parametrize(
    "path",
    ["{home}/..", "{home}/../secret", "/", "..", "../../secret", "{home}/projects/../../etc"],
)
def test_nothing_outside_is_shown(show: Show, home: Path, path: str) -> None:
    assert refused(show, path.format(home=home)) == "out-of-reach"


def test_no_link_leads_out_of_it(show: Show, home: Path) -> None:
    (home / "out").symlink_to(home.parent / "secret")
    (home / "out.yaml").symlink_to(home.parent / "secret" / "s.yaml")
    (home / "in").symlink_to(home / "projects")
    (home / "in.yaml").symlink_to(home / "b.yaml")
    (home / "nowhere.yaml").symlink_to(home / "none")
    (home / "loop.yaml").symlink_to(home / "loop.yaml")
    shown = names(show(str(home)))
    assert {"in/", "in.yaml"} <= {*shown}
    assert not {"out/", "out.yaml", "nowhere.yaml", "loop.yaml"} & {*shown}
    assert refused(show, home / "out") == "out-of-reach"
    assert show(str(home / "in")).path == str(home / "projects")


@pytest.mark.parametrize(
    ("path", "id_"),
    [
        ("{home}/none", "no-such-folder"),
        ("{home}/b.yaml", "no-such-folder"),
        ("{home}/\0", "unreadable"),
        ("{home}/" + "x" * 300, "unreadable"),
    ],
)
def test_what_cant_be_shown_is_said(show: Show, home: Path, path: str, id_: str) -> None:
    assert refused(show, path.format(home=home)) == id_


def test_a_folder_without_the_right_to_read_it_is_said(
    show: Show, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: str) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(os, "scandir", denied)  # root, as CI is, has every right
    assert refused(show, home / "projects") == "unreadable"


def test_a_folder_with_very_many_entries_is_cut(show: Show, home: Path) -> None:
    for number in range(MOST + 5):
        (home / "projects" / f"{number:04}.yaml").touch()
    view = show(str(home / "projects"))
    assert (len(view.entries), view.more) == (MOST, True)
    assert names(view)[:2] == ["deep/", "0000.yaml"]


def test_pipes_and_sockets_are_no_files(show: Show, home: Path) -> None:
    os.mkfifo(home / "projects" / "pipe.yaml")
    assert names(show(str(home / "projects"))) == ["deep/"]


def test_a_name_that_is_no_text_is_left_out(show: Show, home: Path) -> None:
    Path(os.fsdecode(os.fsencode(home / "projects") + b"/\xff.yaml")).touch()
    assert names(show(str(home / "projects"))) == ["deep/"]
