"""What real agents sent, played against a whole Sidekicks: nothing of it is lost, whatever its
order and shape, and nothing is an error that the agent didn't cause.

One instance serves them all, a few agents at a time.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

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
    """What came of all the recordings, and where a page stood that then fell asleep."""

    def __init__(
        self, instance: TestInstance, results: dict[str, Played], place: tuple[int, int]
    ) -> None:
        self.instance = instance
        self.results = results
        self.place = place

    def page(self, place: tuple[int, int]) -> PageClient:
        return PageClient(self.instance.port, self.instance.token, resume=place)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with TestInstance(config=None) as instance:
        which = recordings(FILES, instance.directory / "replays", resumed=RESUMED)
        instance.config.write_text(configuration(which))
        instance.up()
        with PageClient(instance.port, instance.token) as page:
            place = page.place
        results = asyncio.run(all_played(instance, which))
        named = {one.path.stem: result for one, result in zip(which, results, strict=True)}
        yield World(instance, named, place)


@pytest.mark.parametrize("name", [file.stem for file in FILES])
def test_nothing_that_a_real_agent_sent_is_lost(world: World, name: str) -> None:
    played = world.results[name]
    assert played.wrong == []
    assert played.scenes > 0
    assert played.frames > 0


def test_a_page_shows_what_the_agents_sent_as_the_history_keeps_it(world: World) -> None:
    """It wakes up after all of it, and is told what it missed."""
    with world.page(world.place) as page:
        made = page.call("Direct", agent="r0")
        assert made["ok"], made
        place = page.place
    events = woken(world, made["value"])
    shown = 0
    with world.page(place) as page:
        for channel in channels(events):
            kept = page.call("Conversation", channel=channel["id"], after=made["seq"])
            messages = kept["value"]["messages"]
            assert folded(told(events), channel["id"]) == messages
            shown += len(messages)
    assert shown > len(FILES)


def woken(world: World, last: str) -> list[dict[str, Any]]:
    """What a page is told that goes on where it stopped, up to the making of the channel ``last``.

    One that is too slow is cut off, and comes again, as any page does.
    """
    events: list[dict[str, Any]] = []
    place = world.place
    while not any(one["id"] == last for one in channels(events)):
        with world.page(place) as page, suppress(ConnectionClosed):
            assert page.welcome["resumed"]
            page.until(lambda page: any(one["id"] == last for one in channels(page.events)))
        events += page.events
        place = page.place
    return events


def channels(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The channels that a page was told of last."""
    changes = [event["data"] for event in events if event["type"] == "channels:changed"]
    return changes[-1]["channels"] if changes else []


def told(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was told of messages."""
    kinds = ("message:updated", "message:delta")
    return [{"type": one["type"], **one["data"]} for one in events if one["type"] in kinds]
