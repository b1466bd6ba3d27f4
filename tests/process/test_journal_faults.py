"""An older copy of the journal comes back while an agent is in mid-sentence.

Then the history is the truth: nothing that was said goes, what was under way ends as interrupted.
"""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.instance import TestInstance, running
from tests.support.page_client import PageClient
from tests.support.standing import Answer, standing, wait

pytestmark = pytest.mark.process

CONFIG = """\
agents:
  - name: demo
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "10"}
"""


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    with running(config=CONFIG) as made:
        yield made


def killed(instance: TestInstance) -> None:
    """All services, by the death of what started them; agents live on."""
    pids = set(instance.pids().values())
    instance.kill("supervisord")
    wait(lambda: not pids & instance.processes().keys(), "all are gone")


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return ["".join(part["text"] for part in one["parts"]) for one in messages]


def test_an_older_journal_loses_nothing_that_was_said_and_closes_what_was_under_way(
    instance: TestInstance,
) -> None:
    journal = instance.data / "journal"
    older = instance.data / "older"
    standing(instance)
    instance.cli("send", "@demo", "long 5", "--wait")
    killed(instance)
    shutil.copytree(journal, older)
    instance.up()
    instance.cli("send", "@demo", "long 6", "--wait")
    before = instance.lines("channels", "messages", "@demo")
    with (
        Answer(instance, 5000),
        PageClient(instance.port, instance.token) as page,
    ):
        place = page.place
        wait(
            lambda: len(instance.lines("channels", "messages", "@demo")) == len(before) + 2,
            "the history has the answer that grows",
        )
        killed(instance)
    (agent,) = [p for p, line in instance.processes().items() if line.endswith("sk-demo-agent")]
    shutil.rmtree(journal)
    older.rename(journal)
    instance.up()
    with PageClient(instance.port, instance.token, resume=place) as page:
        assert page.welcome["resumed"] is False
        assert page.welcome["epoch"] > place[0]
    after = instance.lines("channels", "messages", "@demo")
    assert texts(after[: len(before)]) == texts(before)
    asked, answer = after[len(before) :]
    assert texts([asked]) == ["long 5000"]
    assert answer["done"]
    assert answer["error"]["id"] == "interrupted"
    wait(lambda: agent not in instance.processes(), "the agent of before ends")
    said = instance.cli("send", "@demo", "long 5", "--wait").stdout
    assert said.split() == texts(before)[1].split()
