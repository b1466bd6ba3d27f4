"""A flood: one agent that doesn't stop talking, another that answers, and everybody who looks on.

Nothing here depends on how fast anything is: the flood goes on until the other has answered, and is
cancelled then. What is looked at is what arrived, and whether it is all.
"""

import threading
from collections.abc import Iterator

import pytest
import yaml
from websockets.exceptions import ConnectionClosed

from tests.support.instance import ROOT, TestInstance, running
from tests.support.page_client import PageClient
from tests.support.patience import PATIENCE
from tests.support.shim_client import eventually

pytestmark = pytest.mark.process

VIEWERS = 20
AGENT = str(ROOT / "tests" / "support" / "scripted_agent.py")
CONFIG = yaml.safe_dump(
    {"agents": [{"name": name, "command": "python3", "args": [AGENT]} for name in ("alice", "bob")]}
)
FLOOD = "!count 100000000 100"  # until it is cancelled, some thousand words a second


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    with running(config=CONFIG) as made:
        yield made


class Viewer(threading.Thread):
    """A browser that looks on until the flood ends. One that was cut comes again and resumes."""

    def __init__(self, instance: TestInstance, flooded: str) -> None:
        super().__init__(daemon=True)
        self._instance = instance
        self._flooded = flooded
        self._page = PageClient(instance.port, instance.token)
        self.text = ""
        self.seqs: list[int] = []
        self.anew = False
        self.ended = False

    def run(self) -> None:
        while not self.ended:
            try:
                frame = self._page.hear()
            except ConnectionClosed:
                place = self._page.place
                self._page.close()
                self._page = PageClient(self._instance.port, self._instance.token, resume=place)
                self.anew = self.anew or not self._page.welcome["resumed"]
                continue
            self.anew = self.anew or frame["t"] == "resync"
            for event in frame.get("e", ()):
                self._heard(event)
        self._page.close()

    def _heard(self, event: dict[str, object]) -> None:
        data = event["data"]
        assert isinstance(data, dict)
        self.seqs.append(int(str(event["seq"])))
        if data.get("channel") != self._flooded:
            return
        if event["type"] == "message:delta":
            self.text += data["text"]
        message = data.get("message", {})
        if event["type"] == "message:updated" and message["role"] == "agent" and message["done"]:
            self.ended = True


# What a person's own page needs here; who counts the words of a flood is a Viewer.
QUIET = ("public", "result")


def under_way(viewer: Viewer, words: int = 200) -> None:
    """Wait until so much of the flood has been seen."""
    eventually(lambda: viewer.text.count(" ") > words)


def answered(page: PageClient, channel: str) -> bool:
    """Whether the last that was said of the channel is that nobody answers there."""
    turns = [turn for turn in page.of("turn:changed") if turn["channel"] == channel]
    return bool(turns) and not turns[-1]["busy"]


def counted(text: str) -> bool:
    """Whether the text is 0 1 2 … without a hole and without a repetition."""
    return [int(word) for word in text.split()] == list(range(len(text.split())))


def test_a_flood_reaches_twenty_pages_whole_while_another_agent_answers(
    instance: TestInstance,
) -> None:
    with PageClient(instance.port, instance.token, want=QUIET) as page:
        flooded, other = (page.call("Direct", agent=name)["value"] for name in ("alice", "bob"))
        viewers = [Viewer(instance, flooded) for _ in range(VIEWERS)]
        for viewer in viewers:
            viewer.start()
        page.call("Send", channel=flooded, text=FLOOD)
        under_way(viewers[0])
        # The other agent starts, opens a session and answers in the middle of it.
        sent = page.call("Send", channel=other, text="!count 100 1000")
        page.until(lambda page: answered(page, other))
        talk = page.call("Conversation", channel=other, after=sent["seq"])["value"]["messages"]
        assert talk[-1]["parts"][0]["text"] == "".join(f"{k} " for k in range(100))
        assert not viewers[0].ended
        assert page.call("Cancel", channel=flooded)["ok"]
    for viewer in viewers:
        viewer.join(PATIENCE)
        assert viewer.ended
    whole = [viewer for viewer in viewers if not viewer.anew]
    for viewer in whole:
        assert counted(viewer.text)
        assert len(set(viewer.seqs)) == len(viewer.seqs)
        assert viewer.seqs == sorted(viewer.seqs)
    assert len({viewer.text for viewer in whole}) <= 1
    with PageClient(instance.port, instance.token) as page:
        last = page.call("Conversation", channel=flooded)["value"]["messages"][-1]
        (part,) = last["parts"]
        text = part["text"]
        if isinstance(text, dict):  # a long one stands in a blob
            length = text["length"]
            pieces = [
                page.call("Blob", sha256=text["sha256"], offset=at, limit=100_000)["value"]
                for at in range(0, length, 100_000)
            ]
            text = "".join(pieces)
    assert last["stopReason"] == "cancelled"
    assert counted(text)
    assert all(viewer.text == text for viewer in whole)
