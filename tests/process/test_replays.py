"""What real agents sent, played against a whole Sidekicks: nothing of it is lost, whatever its
order and shape, and nothing is an error that the agent didn't cause.

One instance serves them all, a few agents at a time.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.replay import all_played, configuration, recordings
from tests.support.instance import TestInstance
from tests.support.page_client import PageClient
from tests.support.replay_shown import folded
from tests.support.replaying import Played

pytestmark = pytest.mark.process

GOLDEN = Path(__file__).parents[1] / "golden" / "transcripts"
# Resumed, where the others load: this one tells the past then, too.
RESUMED = ("fast-agent-0.10.48-load",)
FILES = sorted(GOLDEN.glob("*.jsonl"))


class World:
    """What came of all the recordings, and a page that was open all the while."""

    def __init__(self, results: dict[str, Played], page: PageClient) -> None:
        self.results = results
        self.page = page


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with TestInstance(config=None) as instance:
        which = recordings(FILES, instance.directory / "replays", resumed=RESUMED)
        instance.config.write_text(configuration(which))
        instance.up()
        with PageClient(instance.port, instance.token) as page:
            over = threading.Event()
            reading = threading.Thread(target=read, args=(page, over))
            reading.start()
            try:
                results = asyncio.run(all_played(instance, which))
            finally:
                over.set()
                reading.join()
            named = {one.path.stem: result for one, result in zip(which, results, strict=True)}
            yield World(named, page)


def read(page: PageClient, over: threading.Event) -> None:
    """Take what comes, as a page does: one that reads nothing is cut off."""
    while not over.is_set():
        with suppress(TimeoutError):
            page.hear(timeout=0.2)


@pytest.mark.parametrize("name", [file.stem for file in FILES])
def test_nothing_that_a_real_agent_sent_is_lost(world: World, name: str) -> None:
    played = world.results[name]
    assert played.wrong == []
    assert played.scenes > 0
    assert played.frames > 0


def test_a_page_shows_what_the_agents_sent_as_the_history_keeps_it(world: World) -> None:
    page = world.page
    made = page.call("Direct", agent="r0")  # the last word: what comes before it has come
    page.until(lambda page: any(one["id"] == made["value"] for one in channels(page)))
    events = [
        {"type": event["type"], **event["data"]}
        for event in page.events
        if event["type"] in ("message:updated", "message:delta")
    ]
    shown = 0
    for channel in channels(page):
        kept = page.call("Conversation", channel=channel["id"], after=made["seq"])
        messages = kept["value"]["messages"]
        assert folded(events, channel["id"]) == messages
        shown += len(messages)
    assert shown > len(FILES)


def channels(page: PageClient) -> list[dict[str, Any]]:
    """The channels that the page was told of last."""
    told = page.of("channels:changed")
    return told[-1]["channels"] if told else []
