"""Each trap that real agents set is covered by something that exists, and the docs say by what."""

import re
from collections.abc import Iterable

import pytest

from tests.traps import PAGE, ROOT, TABLE, Trap, page, traps

RECORDINGS = {file.stem for file in TABLE.parent.glob("*.jsonl")}


def test_there_are_as_many_as_were_seen() -> None:
    assert len(traps()) == 34


@pytest.mark.parametrize("trap", traps(), ids=lambda trap: trap.trap)
def test_a_trap_is_covered_by_what_exists(trap: Trap) -> None:
    assert trap.agents
    assert trap.tests
    assert set(trap.replays) <= RECORDINGS
    for name in trap.tests:
        file, _, function = name.partition("::")
        defined = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {function}\(", defined, re.MULTILINE), name


def test_no_recording_is_kept_for_nothing() -> None:
    assert named(trap.replays for trap in traps()) == RECORDINGS


def test_the_page_is_what_the_table_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.traps"


def named(lists: Iterable[list[str]]) -> set[str]:
    return {name for names in lists for name in names}
