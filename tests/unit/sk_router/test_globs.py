"""Globs of the permission rules: what each star reaches, and what no text gets around."""

import time

import pytest

from sk_router.globs import command_fits, path_fits

FOLDER = "/home/me/project"


@pytest.mark.parametrize(
    ("path", "glob", "fits"),
    [
        ("/p/a.py", "/p/*", True),
        ("/p/x/a.py", "/p/*", False),
        ("/p/x/a.py", "/p/**", True),
        ("/p", "/p/**", True),
        ("/pq/a", "/p/**", False),
        ("/p/c.py", "/p/**/c.py", True),
        ("/p/a/b/c.py", "/p/**/c.py", True),
        ("/p/a/b/c.py.exe", "/p/**/c.py", False),
        ("/p/a/x/a/y", "/p/**/a/*", True),
        ("/p/.env", "/p/*", True),
        ("/p/A.py", "/p/a.py", False),
        ("/p/ab", "/p/a?", True),
        ("/p/a/b", "/p/a?b", False),
        ("/p/b", "/p/[a-c]", True),
        ("/p/b", "/p/[!a-c]", False),
        ("/p/[x", "/p/[x", True),
        ("/p/a.py", "/p/a*py*", True),
        ("/p/caf\u00e9", "/p/cafe\u0301", True),
        ("src/a.py", "src/*", True),
        (f"{FOLDER}/src/a.py", "src/*", True),
        ("/elsewhere/src/a.py", "src/*", False),
        ("/p//a", "/p/*", True),
        ("//p/a", "/p/*", True),
        ("/p/a*b", "/p/a[*]b", True),
        ("/p/axb", "/p/a[*]b", False),
        ("/home/me/other/a", "../other/*", True),
        ("/home/me/project", ".", True),
        ("/anywhere", "../../../../*", True),
    ],
)
def test_a_path_fits(path: str, glob: str, fits: bool) -> None:
    assert path_fits(path, glob, FOLDER) is fits


@pytest.mark.parametrize(
    "path", ["/p/../etc/passwd", "/p/x/../../etc/passwd", "../other/a", "/p/./../q", "src/../../b"]
)
def test_dots_lead_out_of_no_glob(path: str) -> None:
    assert not path_fits(path, "/p/**", FOLDER)
    assert not path_fits(path, "src/**", FOLDER)
    assert not path_fits(path, "**", FOLDER)


def test_the_folder_is_no_glob() -> None:
    assert path_fits("/me/[x]*/a", "*", "/me/[x]*")
    assert not path_fits("/me/xy/a", "*", "/me/[x]*")


@pytest.mark.parametrize(
    ("command", "glob", "fits"),
    [
        ("git status", "git status*", True),
        ("git status -s", "git status*", True),
        ("  git status\n", "git status", True),
        ("git  status", "git status", False),
        ("GIT status", "git status", False),
        ("a b c", "a*b*c", True),
        ("a b c d", "a*b*c", False),
        ("abbc", "a*b*c", True),
        ("echo", "echo *", False),
        ("ls -l", "ls -?", True),
        ("make test", "make [!c]*", True),
        ("make clean", "make [!c]*", False),
        ("ls *.py", "ls [*].py", True),
        ("ls a.py", "ls [*].py", False),
        ("npm run x && npm run y", "npm run **", True),
        ("cd /p && git log", "cd ** && git log", True),
        ("x;y z;y q", "**;y*", True),
        ("x;y z;q", "**;y*", False),
    ],
)
def test_a_command_fits(command: str, glob: str, fits: bool) -> None:
    assert command_fits(command, glob) is fits


@pytest.mark.parametrize(
    "more",
    ["; rm x", " && rm x", " | sh", " & rm x", "\nrm x", " > /etc/x", " < y", " $(rm x)", " `x`"],
)
def test_a_star_stays_within_a_simple_command(more: str) -> None:
    assert command_fits("git log" + more, "git log**")
    assert not command_fits("git log" + more, "git log*")
    assert not command_fits(more[1:] + "; git log", "*git log")


@pytest.mark.parametrize(
    ("command", "glob"),
    [
        ("a" * 4_000, "*a" * 100 + "b"),
        ("a" * 4_000, "**a*a" * 20 + "b"),
        ("ab" * 2_000, "**a*b" * 20 + "c"),
        ("a" * 4_001, "**"),
    ],
)
def test_no_command_takes_long(command: str, glob: str) -> None:
    before = time.process_time()
    assert not command_fits(command, glob)
    assert time.process_time() - before < 5


def test_a_long_path_takes_no_long_time_either() -> None:
    before = time.process_time()
    assert not path_fits("/" + "a/" * 2_000, "/" + "**/a/" * 200 + "b", FOLDER)
    assert not path_fits("/" + "a" * 4_000, "/" + "*a" * 200 + "b", FOLDER)
    assert time.process_time() - before < 5
