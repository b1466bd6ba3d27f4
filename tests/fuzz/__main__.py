"""Try the properties of every parser that strangers reach, each parser for so many seconds.

The properties are those of ``make test`` (``tests/unit/**/test_fuzz_*.py``, and the few of other
files that are named here), with new examples each time. What fails is printed as hypothesis found
it, made as small as it could; its examples stay in ``.hypothesis`` and come first the next time.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = "300"  # of a property, before it is the next one's turn

PARSERS: dict[str, tuple[str, ...]] = {
    "bus frames": ("sk_bus.test_fuzz_frames",),
    "shim frames and lines": ("sk_agents.test_fuzz_streams",),
    "ACP": (
        "sk_router.test_fuzz_acp",
        "sk_router.test_properties:test_nothing_that_an_agent_writes_brings_the_router_down",
        "sk_router.test_properties:test_no_handshake_brings_the_router_down",
    ),
    "HTTP and WebSocket": ("sk_gateway.test_fuzz_messages",),
    "YAML and folders": (
        "sk_config.test_fuzz_file",
        "sk_config.test_check:test_any_text_has_a_verdict_and_every_problem_a_place",
        "sk_config.test_check:test_after_any_edits_each_problem_has_its_place_and_quotes_no_secret",
    ),
    "mentions": ("sk_router.test_fuzz_texts",),
    "search and import": ("sk_history.test_fuzz_search",),
}


def main() -> int:
    """Run the parsers, two at a time; 1 when one of them failed."""
    options = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    options.add_argument("--seconds", type=float, default=60, help="for each parser")
    options.add_argument("--only", choices=PARSERS, help="this parser alone")
    options.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.here:
        return one(given.only, given.seconds)
    waiting = [given.only] if given.only else list(PARSERS)
    running: dict[str, subprocess.Popen[bytes]] = {}
    failed = 0
    while waiting or running:
        while waiting and len(running) < 2:
            name = waiting.pop(0)
            line = [sys.executable, "-m", "tests.fuzz", "--here", "--only", name]
            line += ["--seconds", str(given.seconds)]
            running[name] = subprocess.Popen(line, cwd=ROOT)
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        for name, process in list(running.items()):
            code = process.poll()
            if code is not None:
                del running[name]
                failed += code != 0
                if code < 0:
                    print(f"{name}: the process ended by signal {-code}", flush=True)
    return 1 if failed else 0


def one(parser: str, seconds: float) -> int:
    """Try the properties of a parser in turn until its time is over; 1 when one failed."""
    os.environ["SK_FUZZ_EXAMPLES"] = EXAMPLES
    os.environ.pop("CI", None)  # there the same examples come each time
    tried = Tried(seconds)
    failed = False
    while not failed and not tried.over():
        names = [_path(name) for name in PARSERS[parser]]
        failed = pytest.main(["-qq", "--no-header", "-p", "no:xdist", *names], [tried]) != 0
    print(f"{parser}: {tried.counts.total()} examples, {'FAILED' if failed else 'none failed'}")
    for title, count in tried.counts.items():
        print(f"  {count:9} {title}")
    print(f"  the longest took {tried.longest[0]:.2f} s ({tried.longest[1]})", flush=True)
    return 1 if failed else 0


class Tried:
    """Counts the examples of each property, and passes over those that come after the time.

    The time begins with the first example.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: float | None = None
        self._counting: set[Any] = set()
        self.counts: Counter[str] = Counter()
        self.longest = (0.0, "none")

    def over(self) -> bool:
        return self._until is not None and time.monotonic() >= self._until

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        test: Any = getattr(item, "obj", None)
        # Once only: the next round meets the same function again.
        if hasattr(test, "hypothesis") and test not in self._counting:
            self._counting.add(test)
            test.hypothesis.inner_test = self._counted(item.name, test.hypothesis.inner_test)

    def _counted(self, title: str, inner: Any) -> Any:
        def counted(*arguments: Any, **named: Any) -> Any:
            if self.over():
                return None
            began = time.monotonic()
            self._until = self._until or began + self._seconds
            try:
                return inner(*arguments, **named)
            finally:
                self.counts[title] += 1
                self.longest = max(self.longest, (time.monotonic() - began, title))

        return counted


def _path(name: str) -> str:
    module, _, wanted = name.partition(":")
    return f"{ROOT}/tests/unit/{module.replace('.', '/')}.py" + (f"::{wanted}" if wanted else "")


if __name__ == "__main__":
    sys.exit(main())
