import asyncio
import logging
import os
import pwd
from pathlib import Path

import pytest

from sk_agents.environment import (
    _MARK,
    UMASK,
    Environment,
    LoginShell,
    logged_in,
    public,
    said,
)


def test_an_agent_gets_nothing_that_is_ours_or_of_whoever_started_us() -> None:
    given = {
        "PATH": "/bin",
        "HTTPS_PROXY": "http://proxy",
        "SK_INSTANCE": "default",
        "SUPERVISOR_SERVER_URL": "unix:///run/x/sup.sock",
        "WHERE": "/run/x/bus.req",
        "SHLVL": "3",
        "MAKEFLAGS": "-j --jobserver-auth=3,4",
        "MAKELEVEL": "1",
        "NOTIFY_SOCKET": "/run/user/1000/systemd/notify",
        "LISTEN_FDS": "1",
        "JOURNAL_STREAM": "8:1",
    }
    assert public(given, "/run/x") == {"PATH": "/bin", "HTTPS_PROXY": "http://proxy"}


def test_what_start_up_files_print_is_not_taken_for_the_environment() -> None:
    output = b"Welcome!\n" + _MARK + b"22\0A=1\0B=x\ny=z" + _MARK + b"bye"
    assert said(output) == Environment({"A": "1", "B": "x\ny=z"}, 0o22)


def test_a_shell_that_says_nothing_is_not_believed() -> None:
    assert said(b"exec: tmux: not found") is None


def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **environment: str) -> Environment:
    """What agents get when a service manager started us with this environment, and no more."""
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(
        "sk_agents.environment.logged_in",
        lambda user: logged_in(user) | {"HOME": str(tmp_path)},
    )
    shell = LoginShell(logging.getLogger("test"), private="/run/x")
    return asyncio.run(shell.environment())


@pytest.mark.process
def test_started_with_nothing_an_agent_has_what_a_login_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".bash_profile", ".profile"):
        (tmp_path / name).write_text('export PATH="$HOME/bin:$PATH" EDITOR=vi\n')
    user = pwd.getpwuid(os.getuid())
    made = asked(tmp_path, monkeypatch, SHELL="/bin/bash").variables
    assert made["PATH"].split(":")[0] == f"{tmp_path}/bin"
    assert {"/usr/bin", "/bin"} <= set(made["PATH"].split(":"))
    assert (made["EDITOR"], made["HOME"]) == ("vi", str(tmp_path))
    assert (made["USER"], made["LOGNAME"]) == (user.pw_name, user.pw_name)


@pytest.mark.process
@pytest.mark.parametrize(("given", "home"), [({"HOME": "/given"}, "/given"), ({}, "/")])
def test_a_user_without_an_entry_has_an_environment_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], home: str
) -> None:
    def nobody(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr("sk_agents.environment.pwd.getpwuid", nobody)
    made = asked(tmp_path, monkeypatch, **given).variables
    assert made["HOME"] == home
    assert made["PATH"]


@pytest.mark.process
@pytest.mark.parametrize("shell", ["/usr/sbin/nologin", "/bin/false", "/no/such/shell"])
def test_a_user_whose_shell_is_none_gets_the_plain_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    (tmp_path / ".profile").write_text("export EDITOR=ed\n")
    made = asked(tmp_path, monkeypatch, SHELL=shell)
    assert (made.variables["EDITOR"], made.variables["SHELL"]) == ("ed", shell)


@pytest.mark.process
def test_a_start_up_file_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".profile").write_text("sleep 1000\n")
    monkeypatch.setattr("sk_agents.environment.PATIENCE", 0.2)
    made = asked(tmp_path, monkeypatch, SHELL="/bin/sh", KEEP="this")
    assert (made.variables["KEEP"], made.umask) == ("this", UMASK)
