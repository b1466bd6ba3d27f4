"""What every process pays for at its start, it pays for six times."""

import subprocess
import sys

import pytest

HEAVY = {"pydantic", "rich", "starlette", "uvicorn", "click", "yaml", "watchfiles"}


@pytest.mark.parametrize("module", ["sk_bus.broker", "sk_bus.client", "sk_bus.service"])
def test_the_bus_and_its_clients_live_without_what_is_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert module in loaded
    assert HEAVY & {name.partition(".")[0] for name in loaded} == set()
