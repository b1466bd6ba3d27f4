"""What an agent writes never ends the executor, which would read the same again at each start."""

import asyncio
import logging
from pathlib import Path
from typing import Any, cast

import pytest

from sk_agents.framing import Framer, Line
from sk_agents.life import Life
from sk_agents.process import Place
from sk_agents.telling import Telling
from sk_bus.blobs import BlobStore
from sk_bus.internal import FactFrame
from sk_bus.model import AgentName


class Unreadable(Telling):
    """Fails at each line."""

    def __init__(self, blobs: BlobStore, error: Exception) -> None:
        super().__init__(AgentName("alice"), 7, blobs, lambda text: text)
        self._error = error

    def frame(self, line: Line) -> FactFrame | None:
        raise self._error


class Told:
    """Keeps what goes to the bus."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, int]] = []

    def output(self, agent: str, inc: int, events: list[tuple[Any, int]], end: int) -> None:
        del agent, inc
        self.lines += [(event.type, event.line, end) for event, _ in events]


def tell(folder: Path, error: Exception, data: bytes) -> list[tuple[str, str, int]]:
    """What is told of ``data`` where each line of it raises ``error``."""
    told = Told()
    life = Life(
        Place(folder / "alice.7", folder / "socket", folder / "definition"),
        processes=cast("Any", None),
        publisher=cast("Any", told),
        logbook=cast("Any", None),
        blobs=BlobStore(folder),
        log=logging.getLogger("test"),
    )
    life._telling = Unreadable(BlobStore(folder), error)
    asyncio.run(life._output(Framer().feed(data)))
    return told.lines


@pytest.mark.parametrize("error", [RecursionError(), ValueError(), TypeError(), MemoryError()])
@pytest.mark.parametrize("size", [3, 300_000])
def test_a_line_that_can_not_be_read_is_one_of_the_log_and_reading_goes_on(
    tmp_path: Path, error: Exception, size: int
) -> None:
    data = b"{" * size + b"\n{}\n"
    first, second = tell(tmp_path, error, data)
    assert first[1].startswith("{{{")
    assert second == ("agent:log", "{}", len(data))


def test_a_line_whose_blobs_can_not_be_kept_is_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="full"):
        tell(tmp_path, OSError("full"), b"{}\n")
