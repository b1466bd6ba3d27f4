"""After Delete, what was said in the channel is in no file any more."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.instance import TestInstance, running
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process

SECRET = "vermillionquokka"
KEPT = "ultramarinenewt"


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    with running(environment={"SK_TUNE": "blob-gone=0"}) as made:
        yield made


def until(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"it never came to this: {what}"
        time.sleep(0.2)


def holding(instance: TestInstance, words: str) -> list[Path]:
    """Every file of the instance in which the words stand."""
    found = []
    for path in instance.directory.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        if words.encode() in data:
            found.append(path)
    return found


def test_a_deleted_channel_leaves_no_trace_in_any_file(instance: TestInstance) -> None:
    for name, words in (("gone", SECRET), ("stays", KEPT)):
        instance.cli("channels", "create", name, "--member", "demo")
        instance.cli("send", f"#{name}", f"please echo {words}")
        # Longer than an event may be: a blob for the message, and one for the agent's line.
        instance.cli("send", f"#{name}", f"please echo {words} " + f"{words} and so on. " * 2000)
        assert holding(instance, words), "it is in files, in the first place"
    instance.cli("channels", "delete", "#gone", "--yes")
    until(lambda: not holding(instance, SECRET), "nothing is left of it")
    until(lambda: len(instance.lines("history", "search", KEPT)) >= 2, "what stays is found")
