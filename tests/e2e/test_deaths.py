"""``kill -9`` in the middle of an answer, as a person at the page lives it: without a reload."""

import signal

import pytest
from playwright.sync_api import expect

from sk_demo.scenes import long_text
from tests.e2e.screen import PATIENCE, Screen

pytestmark = [pytest.mark.process, pytest.mark.browser]

COMPONENTS = ("gateway", "bus", "router", "agents", "history", "config")


@pytest.mark.parametrize("victims", [*([name] for name in COMPONENTS), list(COMPONENTS)])
def test_the_answer_ends_whole_without_a_reload(screen: Screen, victims: list[str]) -> None:
    screen.talk_to("Demo")
    screen.page.evaluate("window.sameDocument = true")
    screen.send("long 600")
    screen.await_words(60)
    pids = screen.instance.pids()
    for name in victims:
        screen.instance.kill(name, signal.SIGKILL)
    screen.await_words(600)
    screen.await_end()
    assert screen.words() == long_text(600).split()
    assert screen.page.evaluate("window.sameDocument") is True
    after = screen.instance.pids()
    assert all(after[name] != pids[name] for name in victims)


def test_a_question_outlives_the_death_of_everything(screen: Screen) -> None:
    screen.talk_to("Slow Poke")
    screen.send("permission")
    expect(screen.question).to_be_visible(timeout=PATIENCE)
    for name in COMPONENTS:
        screen.instance.kill(name, signal.SIGKILL)
    expect(screen.page.get_by_text("live", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(screen.question).to_have_count(1)
    screen.answer("Allow once")
    expect(screen.last).to_contain_text("Done.", timeout=PATIENCE)


def test_a_message_sent_while_the_gateway_is_away_arrives_once(screen: Screen) -> None:
    screen.talk_to("Demo")
    screen.instance.kill("gateway", signal.SIGKILL)
    before = screen.messages.count()
    screen.composer.fill("think")
    screen.composer.press("Enter")
    expect(screen.last).to_contain_text("I thought about it first", timeout=PATIENCE)
    screen.await_end()
    assert screen.messages.count() == before + 2
