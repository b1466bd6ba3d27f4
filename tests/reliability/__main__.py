"""``python -m tests.reliability [--only F4 F36]``: run what shows the promises, print the table.

``--write`` puts the table into docs/reliability.md instead.
"""

import argparse
import sys
from pathlib import Path

import pytest

from tests.reliability.page import PAGE, printed, written
from tests.reliability.table import ROWS


class Outcomes:
    """What came of each test: a plugin of pytest. A test that is run with several values is all."""

    def __init__(self) -> None:
        self.passed: dict[str, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            name, _, _ = report.nodeid.partition("[")
            self.passed[name] = self.passed.get(name, True) and report.passed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="ID")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write:
        PAGE.write_text(written(PAGE.read_text()))
        return 0
    rows = [row for row in ROWS if not arguments.only or row.id in arguments.only]
    if not rows:
        parser.error(f"there are: {' '.join(row.id for row in ROWS)}")
    outcomes = Outcomes()
    tests = dict.fromkeys(test for row in rows for test in row.tests)
    root = Path(__file__).resolve().parents[2]
    code = pytest.main(["-q", "--rootdir", str(root), *tests], plugins=[outcomes]) if tests else 0
    print("\n".join(printed(rows, outcomes.passed)))
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
