"""What each command shows, in both languages and as JSON, over recorded answers.

The golden files are `tests/golden/cli`; GOLDEN=write writes them anew, for somebody to read.
"""

import io
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from sk_bus import paths
from sk_bus.queries import Conversation, Export, Search
from sk_bus.supervisor import Process
from sk_cli import asking, instances, main, manual, observing, words
from sk_cli.commands import doctor, restart, version
from tests.support.recorded_bus import RecordedBus
from tests.unit.sk_cli import recorded

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "cli"
WRITE = os.environ.get("GOLDEN") == "write"

# A scenario's name, and what is typed. Names of files stand for what was recorded.
CALLS: dict[str, str] = {
    "up": "up",
    "down": "down",
    "status": "status",
    "restart": "restart history",
    "open": "open --print",
    "send": "send #review hello",
    "send-wait": "send #review @alice\\ and\\ @bob --wait",
    "send-allow": "send #review @alice\\ and\\ @bob --wait --allow execute",
    "stop": "stop #review",
    "channels-list": "channels list",
    "channels-show": "channels show review",
    "channels-messages": "channels messages review",
    "channels-create": "channels create #ops -d Operations -m alice",
    "channels-rename": "channels rename review shipping",
    "channels-delete": "channels delete review --yes",
    "channels-invite": "channels invite review dan",
    "channels-remove": "channels remove review bob",
    "channels-preview": "channels preview review @alice\\ hi",
    "channels-edit": "channels edit review m1796000000000100.0 another",
    "channels-take-back": "channels take-back review m1796000000000100.0",
    "channels-prepare": "channels prepare review",
    "permissions-list": "permissions list",
    "permissions-answer": "permissions answer 500.0 2",
    "agents-list": "agents list",
    "agents-show": "agents show dan",
    "agents-start": "agents start alice @bob",
    "agents-stop": "agents stop alice",
    "agents-restart": "agents restart --outdated",
    "agents-logs": "agents logs dan",
    "agents-commands": "agents commands alice",
    "agents-traffic": "agents traffic alice",
    "events": "events --since 0 --no-follow",
    "events-filtered": "events --since 0 --no-follow -t permission:* -a bob -c review",
    "logs": "logs router --level warning",
    "config-path": "config path",
    "config-show": "config show",
    "config-validate": "config validate",
    "config-open": "config open FILE",
    "config-recent": "config recent",
    "config-recent-forget": "config recent --forget /home/ann/other.yaml",
    "config-schema": "config schema",
    "history-search": "history search reads -n 1",
    "history-export": "history export review",
    "history-import": "history import export.jsonl",
    "history-blob": "history blob 0f0f",
    "history-path": "history path",
    "history-info": "history info",
    "doctor": "doctor --agent alice",
    "version": "version",
}
# What goes wrong: without JSON, as there is nothing to give.
FAILURES: dict[str, str] = {
    "no-command": "sned",
    "no-option": "status --wach",
    "no-such-channel": "channels show reviews",
    "no-such-agent": "agents show dam",
    "no-such-component": "restart rooter",
    "no-such-option": "permissions answer 500.0 always",
    "bad-value": "events --since whenever",
    "bad-pattern": "events --grep (",
    "missing": "send",
    "not-recent": "config recent --forget /home/ann/gone.yaml",
    "not-confirmed": "channels delete review",
    "not-utf8": "send #review caf\udce9",
}


class _Supervisor:
    """supervisord as it was: six processes; a restart gives one another pid."""

    def __init__(self) -> None:
        self._made = {
            str(name): Process(name=str(name), state="RUNNING", pid=41002 + at, started=1)
            for at, name in enumerate(recorded.SERVICES)
        }

    def pid(self) -> int:
        return 41000

    def processes(self) -> dict[str, Process]:
        return self._made

    def restart(self, name: str) -> None:
        del name  # its report is that of the process that is there


@pytest.fixture(autouse=True)
def as_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("config", "state", "run"):
        (tmp_path / name).mkdir(mode=0o700)
    for name in [*os.environ]:
        if name.startswith("SK_") or name in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}:
            monkeypatch.delenv(name)
    for name, value in {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
        "TZ": "UTC",
        "TERM": "dumb",
    }.items():
        monkeypatch.setenv(name, value)
    time.tzset()
    instance = paths.instance("default")
    instance.token.write_text("t0ken")
    instance.token.chmod(0o600)
    instance.port.write_text("8765")
    (instance.logs / "router.log").write_text(
        "2026-11-30 14:00:00,000 INFO sk-router begins\n"
        "2026-11-30 14:00:01,000 WARNING it \x1b[31mhurts\x1b[0m\n  and goes on\n"
    )
    (instance.definitions / "d.json").write_text(
        '{"name":"alice","command":"al","path":"/bin","cwd":"/","env":{"K":"s3cret-value-9"}}'
    )
    file = tmp_path / "config" / "sidekicks" / "sidekicks.yaml"
    file.parent.mkdir()
    file.write_text("agents: []\n")
    monkeypatch.chdir(file.parent)
    supervisor = _Supervisor()
    monkeypatch.setattr(instances, "supervisor", lambda *_args, **_more: supervisor)
    monkeypatch.setattr(instances, "running_on_same_file", lambda made: (made.instance, 41000))
    monkeypatch.setattr(observing, "memory", lambda pid: (pid - 41000) * 2**20)
    monkeypatch.setattr(observing, "age", lambda since: 8040.0)
    monkeypatch.setattr(doctor, "_page", lambda instance: 200)
    # Whether it is installed here, or lies on the path, is no matter of what it shows.
    monkeypatch.setattr(version, "version", lambda named: "1.2.3")
    monkeypatch.setattr(shutil, "which", lambda named, **_more: str(Path("/usr/bin") / named))
    monkeypatch.setattr(time, "clock_gettime", lambda clock: 1000.0)
    monkeypatch.setattr(time, "time_ns", lambda: (recorded.T0 + 5000) * 1_000_000)
    monkeypatch.setattr(sys, "argv", ["/opt/sidekicks/bin/sk-cli"])
    yield
    words.speak("en")
    monkeypatch.undo()
    time.tzset()


def _bus(name: str) -> RecordedBus:
    current = recorded.CURRENT
    if name == "config-open":
        target = Path.cwd() / "FILE"
        fields = {field: getattr(current, field) for field in current.__slots__}
        current = type(current)(**{**fields, "path": str(target)})
    elif name in {"config-path", "config-validate"}:
        fields = {field: getattr(current, field) for field in current.__slots__}
        current = type(current)(**{**fields, "path": str(Path.cwd() / "sidekicks.yaml")})
    return RecordedBus(
        hello=recorded.HELLO,
        beat=recorded.BEAT,
        values=recorded.VALUES | {recorded.Current: current},
        outcomes=recorded.OUTCOMES,
        batches=recorded.ANSWERED if name.startswith("send") else recorded.LOGGED,
    )


def _shown(monkeypatch: pytest.MonkeyPatch, name: str, typed: str, *more: str) -> str:
    """What a call writes and how it ends, as a person at a terminal would have it before them."""
    bus = _bus(name)
    for module in (asking, restart):
        monkeypatch.setattr(module, "connect", lambda instance: bus)
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    if name == "down":
        # Nothing runs: there is nothing to record of a process that ends.
        monkeypatch.setattr(instances, "supervisor_pid", lambda instance: None)
    arguments = [word.replace("\\ ", " ") for word in re.split(r"(?<!\\) ", typed)]
    code = main.called([*arguments, *more])
    pieces = [f"$ sk-cli {' '.join([typed, *more])}", out.getvalue().rstrip("\n")]
    if err.getvalue():
        pieces += ["--- stderr", err.getvalue().rstrip("\n")]
    if code:
        pieces.append(f"(exit {code})")
    return _normalised("\n".join(piece for piece in pieces if piece)) + "\n"


def _normalised(text: str) -> str:
    text = text.replace(str(Path.cwd()), "CONFIGDIR").replace(str(Path.home()), "HOME")
    text = text.replace(str(paths.instance("default").run), "RUN").replace("\udce9", "\\xe9")
    text = re.sub(r"\d+([.,]\d+)? (ms|GB|Go)\b", r"N \2", text)
    text = re.sub(r"(healthy in|santé en) [\d.,]+ s", r"\1 N s", text)
    text = re.sub(r'"seconds":\s*[\d.e-]+', '"seconds":N', text)
    text = re.sub(r'("id":"[^"]+","state":"ok","text":")[^"]*Python[^"]*"', r'\1VERSIONS"', text)
    text = re.sub(r"(?m)^(\w+ +)Python 3\..*$", r"\1VERSIONS", text)
    text = re.sub(r"data/[0-9a-f]{16}", "data/HASH", text)
    return re.sub(r'(sidekicks |Python |"(?:sidekicks|python)": ?")\d+\.\d+[\w.]*', r"\1V", text)


def _compared(name: str, kind: str, shown: str) -> None:
    path = GOLDEN / f"{name}.{kind}.txt"
    if WRITE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", words.LANGUAGES)
@pytest.mark.parametrize("name", CALLS)
def test_a_command_shows_what_was_recorded(
    monkeypatch: pytest.MonkeyPatch, name: str, language: str
) -> None:
    monkeypatch.setenv("LANG", f"{language}_XX.UTF-8")
    _compared(name, language, _shown(monkeypatch, name, CALLS[name]))


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("channels-show", Conversation),
        ("channels-messages", Conversation),
        ("history-search", Search),
        ("history-export", Export),
    ],
)
def test_history_is_asked_for_what_was_said_up_to_now(
    monkeypatch: pytest.MonkeyPatch, name: str, query: type
) -> None:
    bus = _bus(name)
    monkeypatch.setattr(sys.modules[__name__], "_bus", lambda _: bus)
    _shown(monkeypatch, name, CALLS[name])
    assert bus.after[query] == recorded.HELLO.head


# An export is a file, in a form of its own.
AS_JSON = [name for name in CALLS if name != "history-export"]


@pytest.mark.parametrize("name", AS_JSON)
def test_its_json_has_the_keys_that_scripts_know(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shown = _shown(monkeypatch, name, CALLS[name], "--json")
    path = GOLDEN / f"{name}.json.txt"
    if WRITE:
        path.write_text(shown, encoding="utf-8")
    golden = path.read_text(encoding="utf-8")
    assert _lacks(_read(golden), _read(shown)) == []


@pytest.mark.parametrize("name", [name for name in AS_JSON if name not in {"doctor", "restart"}])
def test_json_is_the_same_in_every_language(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    english = _read(_shown(monkeypatch, name, CALLS[name], "--json"))
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    assert _read(_shown(monkeypatch, name, CALLS[name], "--json")) == english


def _read(shown: str) -> list[Any]:
    """The JSON on stdout, a document or one a line; the call and its exit code."""
    head, *lines = shown.split("--- stderr", maxsplit=1)[0].splitlines()
    code = lines.pop() if lines and lines[-1].startswith("(exit") else ""
    return [head, code, *(json.loads(line.replace(":N", ":0")) for line in lines)]


def _lacks(known: Any, shown: Any, at: str = "") -> list[str]:
    """Where ``shown`` lacks what is ``known``, or says it otherwise. JSON may grow."""
    match known, shown:
        case dict(), dict():
            gone = [f"{at}.{key} is gone" for key in known if key not in shown]
            both = (key for key in known if key in shown)
            return [*gone, *(one for key in both for one in _lacks(known[key], shown[key], key))]
        case list(), list() if len(known) == len(shown):
            pairs = zip(known, shown, strict=True)
            return [one for n, (k, s) in enumerate(pairs) for one in _lacks(k, s, f"{at}[{n}]")]
        case _:
            return [] if known == shown else [f"{at}: {known!r} is now {shown!r}"]


@pytest.mark.parametrize("language", words.LANGUAGES)
@pytest.mark.parametrize("name", FAILURES)
def test_what_goes_wrong_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, name: str, language: str
) -> None:
    monkeypatch.setenv("LANG", f"{language}_XX.UTF-8")
    _compared(f"failure-{name}", language, _shown(monkeypatch, name, FAILURES[name]))


def test_a_failure_never_controls_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _shown(monkeypatch, "agents-show", "agents show d\x1b[2Jan")
    assert "\x1b" not in shown.split("--- stderr")[1]


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_nothing_runs(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("LANG", f"{language}_XX.UTF-8")
    monkeypatch.setattr(instances, "supervisor_pid", lambda instance: None)
    shown = [
        _shown(monkeypatch, "status", typed)
        for typed in ("status", "send @bob hello", "events -n 1", "agents list", "restart --all")
    ]
    _compared("not-running", language, "\n".join(shown))


def _helps(command: click.Command, ctx: click.Context) -> Iterator[tuple[str, str]]:
    yield ctx.command_path, command.get_help(ctx)
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            child: Any = command.get_command(ctx, name)
            with click.Context(child, info_name=name, parent=ctx) as below:
                yield from _helps(child, below)


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_every_command_explains_itself(language: words.Language) -> None:
    words.speak(language)
    with click.Context(main.root, info_name="sk-cli") as ctx:
        shown = [f"$ {path} --help\n{text}" for path, text in _helps(main.root, ctx)]
    _compared("help", language, "\n\n".join(shown) + "\n")


def test_every_command_has_its_golden_file() -> None:
    with click.Context(main.root, info_name="sk-cli") as ctx:
        known = [path.removeprefix("sk-cli ") for path, _ in _helps(main.root, ctx)]
    leaves = [one for one in known if not any(other.startswith(f"{one} ") for other in known)]
    typed = {" ".join(call.split()[:2]) for call in CALLS.values()} | {
        call.split()[0] for call in CALLS.values()
    }
    # On a terminal only: tests/process/test_chat.py, test_up_terminal.py; a script of click's.
    elsewhere = {"sk-cli", "chat", "config edit", "completion"}
    assert sorted({*leaves} - typed - elsewhere) == []


def test_the_page_about_the_command_line_is_not_stale() -> None:
    assert manual.PAGE.read_text(encoding="utf-8") == manual.manual(), "run `make gen`"
