"""Any bytes as a configuration file, any text as a folder: a verdict, and nothing out of reach."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sk_bus.errors import RefusedError
from sk_bus.french import in_french
from sk_config.check import check
from sk_config.folders import listed
from tests.support.strange import TEXTS, altered, briefly, spoilt
from tests.unit.sk_config.test_check import HERE, WHOLE

WORDS = ("name", "command", "agents", "env", "mcpServers", "never", "10m", "${TOKEN}", "~", "allow")
FILE: dict[str, Any] = {
    "theme": "dark",
    "limits": {"maxRunningAgents": 5, "stopIdleAgentsAfter": "1h30m"},
    "agents": [
        {
            "name": "a",
            "command": "agent",
            "args": ["--x"],
            "env": {"KEY": "hunter2hunter2"},
            "mcpServers": [{"name": "m", "command": "agent", "args": [], "env": []}],
            "permissions": [{"kind": "edit", "path": "/x/**", "answer": "allow_once"}],
            "startTimeout": "5m",
        }
    ],
}
TEXT = st.one_of(
    spoilt(st.just(WHOLE.encode())).map(lambda data: data.decode("utf-8", "surrogateescape")),
    altered(FILE, *WORDS).map(json.dumps),
    TEXTS,
)


@briefly
@given(TEXT)
def test_any_file_has_a_verdict_with_places_in_both_languages(text: str) -> None:
    verdict = check(text, HERE)
    assert verdict.valid == (not verdict.problems)
    for made in (*verdict.problems, *verdict.warnings):
        assert made.line is not None
        assert made.column is not None
        assert made.line >= 1
        assert made.column >= 1
        assert "hunter2hunter2" not in made.message
        assert in_french(made)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("tree")
    for folder in ("home/projects/deep", "conf/sidekicks", "secret/inner"):
        (top / folder).mkdir(parents=True)
    (top / "secret/s.yaml").touch()
    (top / "home/out").symlink_to(top / "secret")
    (top / "home/projects/up").symlink_to("../..")
    (top / "home/loop").symlink_to("loop")
    (top / "home/f.yaml").symlink_to(top / "secret/s.yaml")
    return top


STEPS = st.lists(
    st.sampled_from(
        [
            "..",
            ".",
            "",
            "~",
            "~root",
            "home",
            "out",
            "up",
            "loop",
            "secret",
            "projects",
            "f.yaml",
            "*",
        ]
    )
    | TEXTS,
    max_size=8,
)


@briefly
@given(steps=STEPS, start=st.sampled_from(["", "/", "//", "TOP/", "TOP/home/", "~/", "file://"]))
@example(steps=["up", "secret"], start="TOP/home/projects/")
def test_no_path_leads_out_of_what_may_be_chosen(tree: Path, steps: list[str], start: str) -> None:
    asked = start.replace("TOP", str(tree)) + "/".join(steps)
    home, folder = tree / "home", tree / "conf" / "sidekicks"
    with suppress(RefusedError):
        view = listed(asked, home=home, folder=folder)
        shown = [view.path, *[entry.path for entry in view.entries]]
        for path in map(Path, shown):
            assert path.resolve().is_relative_to(home) or path.resolve().is_relative_to(folder)
