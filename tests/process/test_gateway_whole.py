"""The gateway in a whole instance: restarts asked for by a page, and the watch over sk-config."""

import signal
import time
from collections.abc import Callable, Iterator

import pytest

from sk_bus.queries import SERVICES
from tests.support.instance import TestInstance, running
from tests.support.page_client import PageClient
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process

CONFIG = """\
agents:
  - name: demo
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "2"}
"""


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    with running(config=CONFIG) as made:
        yield made


@pytest.fixture
def page(instance: TestInstance) -> Iterator[PageClient]:
    instance.is_ready()
    with PageClient(instance.port, instance.token) as made:
        yield made


def wait(true: Callable[[], bool], timeout: float = PATIENCE) -> None:
    end = time.monotonic() + timeout
    while not true():
        assert time.monotonic() < end, "it never became so"
        time.sleep(0.02)


def heard(page: PageClient, component: str) -> bool:
    """Whether the gateway knows ``component`` by a report of its own."""
    (pulse,) = [one for one in page.call("Pulse")["value"] if one["component"] == component]
    return pulse.get("heard") is not None


@pytest.mark.parametrize("component", [name for name in SERVICES if name != "gateway"])
def test_a_page_restarts_a_component(
    instance: TestInstance, page: PageClient, component: str
) -> None:
    before = instance.pids()
    result = page.call("RestartComponent", component=component)
    assert result["ok"] is True
    wait(lambda: instance.pids()[component] not in (0, before[component]))
    listed = page.call("ListAgents")
    assert listed["ok"], listed
    after = instance.pids()
    assert {name for name in after if after[name] != before[name]} == {component}


def test_a_page_restarts_the_gateway_itself_and_is_answered_first(
    instance: TestInstance, page: PageClient
) -> None:
    before = instance.pids()["gateway"]
    assert page.call("RestartComponent", component="gateway")["ok"] is True
    wait(lambda: instance.pids()["gateway"] not in (0, before))


def test_the_death_of_the_watcher_is_said_and_it_comes_back(
    instance: TestInstance, page: PageClient
) -> None:
    # A gateway that has just begun (the test before) sees no death before it heard of the process.
    wait(lambda: heard(page, "config"))
    pid = instance.kill("config", signal.SIGKILL)

    def states(page: PageClient) -> list[tuple[str, int]]:
        changes = page.of("component:state")
        return [(one["state"], one["pid"]) for one in changes if one["component"] == "config"]

    page.until(lambda page: len(states(page)) >= 2 and states(page)[-1][0] == "running")
    assert ("down", 0) in states(page)
    assert states(page)[-1][1] == instance.pids()["config"] != pid


def test_a_watcher_that_hangs_is_restarted(instance: TestInstance, page: PageClient) -> None:
    pid = instance.kill("config", signal.SIGSTOP)

    def hung(page: PageClient) -> bool:
        return any(one["state"] == "hung" for one in page.of("component:state"))

    page.until(hung)
    wait(lambda: instance.pids()["config"] not in (0, pid))
    assert page.call("Current")["ok"] is True


def test_an_answer_reaches_a_page_as_it_reaches_the_history(
    instance: TestInstance, page: PageClient
) -> None:
    channel = page.call("Direct", agent="demo")["value"]
    page.call("Send", channel=channel, text="long 400")
    page.until(lambda page: any(not turn["busy"] for turn in page.of("turn:changed")))
    streamed = "".join(
        delta["text"] for delta in page.of("message:delta") if delta["kind"] == "text"
    )
    after = page.call("Conversation", channel=channel, after=page.seq)
    (kept,) = [part["text"] for part in after["value"]["messages"][-1]["parts"]]
    assert streamed == kept
    assert len(kept.split()) == 400


def test_an_empty_text_and_an_unknown_channel_are_refused_in_words(page: PageClient) -> None:
    channel = page.call("Direct", agent="demo")["value"]
    empty = page.call("Send", channel=channel, text="  ")
    unknown = page.call("Send", channel="c9", text="hello")
    nobody = page.call("Direct", agent="nobody")
    for result in (empty, unknown, nobody):
        assert result["ok"] is False
        assert result["problem"]["message"]
