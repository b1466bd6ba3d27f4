"""The table of promises names tests that exist, leaves nothing out, and is the page's."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.reliability.page import PAGE, printed, written
from tests.reliability.table import ROWS, Row

ROOT = Path(__file__).resolve().parents[2]
# Every failure on our list; 7, 18, 23 and 47 are no numbers of it.
FAILURES = [f"F{n}" for n in range(1, 51) if n not in (7, 18, 23, 47)]
INVARIANTS = ["I11", "I12", "I14", "I15"]


@cache
def named_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text())
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, functions))


def test_every_failure_has_its_row() -> None:
    assert [row.id for row in ROWS] == [*FAILURES, *INVARIANTS, "chaos"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_what_a_row_names_is_a_test(row: Row) -> None:
    for test in row.tests:
        file, _, name = test.partition("::")
        assert name in named_in(file), f"{row.id} names {test}"
    assert row.tests or row.besides, "neither a test nor a reason"


def test_the_page_has_the_table_of_now() -> None:
    page = PAGE.read_text()
    assert written(page) == page, "python -m tests.reliability --write"


def test_a_promise_holds_by_all_of_its_tests() -> None:
    row = Row("F0", "it rains", "one stays dry", ("a::b", "c::d"))

    def word(**passed: bool) -> str:
        return next(iter(printed([row], {f"{k}::{v}": passed[k] for k, v in NAMES if k in passed})))

    assert "holds" in word(a=True, c=True)
    assert "BROKEN" in word(a=True, c=False)
    assert "not run" in word(a=True)


NAMES = (("a", "b"), ("c", "d"))
