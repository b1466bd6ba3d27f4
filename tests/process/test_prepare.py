"""What `make up` says on a machine that lacks something, before anything is installed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.process


def prepared(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A run of `deploy/prepare` in a copy of the project that holds nothing else."""
    (folder / "deploy").mkdir()
    shutil.copy(ROOT / "deploy" / "prepare", folder / "deploy")
    return subprocess.run(
        ["bash", str(folder / "deploy" / "prepare"), "run"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_an_interpreter_that_is_none_is_named(tmp_path: Path) -> None:
    ended = prepared(tmp_path, PYTHON="/no/such/python")
    assert ended.returncode == 1
    assert "PYTHON names /no/such/python" in ended.stderr


def test_a_python_without_ensurepip_names_the_package_that_is_missing(tmp_path: Path) -> None:
    bare = tmp_path / "bare-python"
    bare.write_text(
        '#!/bin/sh\ncase "$*" in\n  *ensurepip*) exit 1 ;;\n  *print*) echo 3.11 ;;\nesac\n'
    )
    bare.chmod(0o755)
    ended = prepared(tmp_path, PYTHON=str(bare))
    assert ended.returncode == 1
    assert "apt-get install python3.11-venv" in ended.stderr
    assert not (tmp_path / ".venv").exists()
