"""What is said of a program that isn't found."""

from pathlib import Path

import pytest

from sk_agents.process import StartFailedError, found


@pytest.mark.parametrize(
    ("env", "quoted"), [({}, "/usr/local/x:/opt/y"), ({"PATH": "/opt/y"}, "env: PATH")]
)
def test_the_path_is_quoted_unless_the_configuration_says_it(
    tmp_path: Path, env: dict[str, str], quoted: str
) -> None:
    definition = {"command": "nowhere-to-be-found", "cwd": str(tmp_path), "env": env}
    with pytest.raises(StartFailedError) as failed:
        found(definition | {"path": "/opt/y"}, "/usr/local/x")
    assert failed.value.problem.params["path"] == quoted
