"""How a call ends where the surroundings fail: a sentence and a code, never a traceback."""

import io
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from sk_cli import main
from sk_cli.commands import config


def test_a_full_disk_behind_stdout_is_one_sentence() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "sk_cli", "version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr == "sk-cli: No space left on device\n"


def test_the_version_is_told_as_an_option_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.called(["version", "--json"]) == 0
    told = capsys.readouterr().out
    assert main.called(["--version", "--json"]) == 0
    assert capsys.readouterr().out == told


class _Narrow(io.RawIOBase):
    """A pipe that takes a little at a time."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.taken += bytes(data[:10])
        return min(len(data), 10)


def test_what_one_write_left_over_is_written_next() -> None:
    pipe = _Narrow()
    # As Python makes it under PYTHONUNBUFFERED; else it buffers already.
    bare = io.TextIOWrapper(cast("Any", pipe), encoding="utf-8", write_through=True)
    stream = main.whole(bare)
    stream.write("a line that is longer than what the pipe takes\n")
    assert pipe.taken == b"a line that is longer than what the pipe takes\n"
    assert main.whole(stream) is stream


def test_what_is_no_utf8_on_stdin_has_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"theme: dark\nx: \xff\n")))
    assert main.called(["config", "validate", "-"]) == 6
    assert "stdin:2:4 " in capsys.readouterr().err


@pytest.mark.parametrize("editor", ["no-such-editor", '"'])
def test_an_editor_that_cannot_be_started_is_named(
    editor: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("theme: dark\n")
    monkeypatch.setenv("VISUAL", editor)
    monkeypatch.setattr(config.sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(config.sys.stdout, "isatty", lambda: True)
    assert main.called(["--config", str(file), "config", "edit"]) == 1
    said = capsys.readouterr().err
    assert f"“{editor}”" in said
    assert f"EDITOR=… sk-cli --config {file} config edit" in said
