"""What is done again and again: one of everything that takes something and has to give it back.

A round opens connections, makes a channel, has two agents answer in it, is asked for a permission,
cancels an answer, searches, exports, now and then restarts an agent, and deletes the channel of
some rounds before. After it everything is at rest.
"""

import http.client
from typing import Any

import yaml

from tests.support.instance import ROOT, TestInstance
from tests.support.page_client import PageClient
from tests.support.patience import PATIENCE

# So small that what has an upper bound reaches it in the first minutes.
TUNE = (
    "journal-keep=2000000,journal-segment=200000,journal-prune=1,journal-outcomes=60000,"
    "blob-gone=10,"
    "snapshot-after=400,snapshot-every=3"
)
KEPT = 2  # channels
RESTARTS = 5  # rounds from one restart of an agent to the next
TEXT = "@alice @bob !count 600 500 !thought hm !tool !plan !usage !bigline 20000"


def configuration() -> str:
    """Two scripted agents, which are never stopped for being idle."""
    agent = ROOT / "tests" / "support" / "scripted_agent.py"
    agents = [
        {"name": name, "command": "python3", "args": [str(agent)]} for name in ("alice", "bob")
    ]
    return yaml.safe_dump({"limits": {"stopIdleAgentsAfter": "never"}, "agents": agents})


class Load:
    """The work, round by round. ``staying`` is a page that is open all the while."""

    def __init__(self, instance: TestInstance) -> None:
        self._instance = instance
        self._channels: list[str] = []
        self.rounds = 0
        self.staying = PageClient(instance.port, instance.token)

    def round(self) -> None:
        """Do everything once; it returns when all is at rest."""
        with PageClient(self._instance.port, self._instance.token) as page:
            channel = done(page, "Create", name=f"soak {self.rounds}", description="")["value"]
            self._channels.append(channel)
            if self.rounds % RESTARTS == RESTARTS - 1:
                done(page, "Restart", agent="alice")
            said(page, channel, TEXT)
            self._permission(page, channel)
            self._cancel(page, channel)
            after = done(page, "Send", channel=channel, text="@bob !say end")["seq"]
            at_rest(page, channel, since=0)
            done(page, "Conversation", channel=channel, after=after)
            done(page, "Search", text="forty-two", after=after)
            while len(self._channels) > KEPT:
                done(page, "Delete", channel=self._channels.pop(0))
            last = done(page, "ListChannels")["asOf"]["seq"]
        self._export()
        self.staying.until(lambda page: page.seq >= last)
        self.staying.events.clear()
        self.staying.frames.clear()
        self.rounds += 1

    def close(self) -> None:
        self.staying.close()

    def _permission(self, page: PageClient, channel: str) -> None:
        since = len(page.events)
        done(page, "Send", channel=channel, text="@alice !permission")
        page.until(lambda page: "permission:requested" in types(page, since))
        asked = next(e for e in page.events[since:] if e["type"] == "permission:requested")
        done(page, "AnswerPermission", permission=asked["data"]["id"], optionId="yes")
        at_rest(page, channel, since=since)

    def _cancel(self, page: PageClient, channel: str) -> None:
        since = len(page.events)
        done(page, "Send", channel=channel, text="@bob !say so !hang")
        page.until(lambda page: "message:delta" in types(page, since))
        done(page, "Cancel", channel=channel)
        at_rest(page, channel, since=since)

    def _export(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._instance.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {self._instance.token}"}
        connection.request("GET", "/export", headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        assert answer.read().startswith(b"{")
        connection.close()


def said(page: PageClient, channel: str, text: str) -> None:
    """Send a message, and wait until all who answer it have."""
    since = len(page.events)
    done(page, "Send", channel=channel, text=text)
    at_rest(page, channel, since=since)


def done(page: PageClient, call: str, /, **args: Any) -> dict[str, Any]:
    """A call that goes well."""
    result = page.call(call, **args)
    assert result["ok"], (call, result)
    return result


def types(page: PageClient, since: int) -> set[str]:
    return {event["type"] for event in page.events[since:]}


def at_rest(page: PageClient, channel: str, *, since: int) -> None:
    """Wait until the channel's last word since then is that nobody answers there."""

    def resting(page: PageClient) -> bool:
        turns = [e["data"] for e in page.events[since:] if e["type"] == "turn:changed"]
        mine = [turn for turn in turns if turn["channel"] == channel]
        return bool(mine) and not mine[-1]["busy"] and not mine[-1]["queued"]

    page.until(resting)
