"""How long one waits for `sk-cli`: its help, and the first line of `events`.

``python -m tests.bench.command_line`` prints one JSON object. Yardstick: a Python that imports
click and does nothing.
"""

import json
import statistics
import subprocess
import sys
import time
from typing import Any

from tests.support.instance import TestInstance, running

TIMES = 11


def measure() -> dict[str, Any]:
    with running() as instance:
        return {
            "help_s": _median(instance, instance.command("--help")),
            "events_s": _median(instance, instance.command("events", "--since", "0")),
            "json_s": _median(instance, instance.command("events", "--since", "0", "--json")),
            "click_s": _median(instance, [sys.executable, "-c", "import click; print()"]),
        }


def _median(instance: TestInstance, command: list[str]) -> float:
    """Seconds from the start of ``command`` to its first line."""
    return round(statistics.median(_first_line(instance, command) for _ in range(TIMES)), 3)


def _first_line(instance: TestInstance, command: list[str]) -> float:
    begun = time.monotonic()
    with subprocess.Popen(
        command,
        env=instance.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None, "it was asked for"
        line = process.stdout.readline()
        took = time.monotonic() - begun
        process.kill()
    assert line, f"{command} said nothing"
    return took


if __name__ == "__main__":
    print(json.dumps(measure()))
