"""``kill -9`` in the middle of an answer, as a person at the page lives it: without a reload."""

import os
import random
import signal

import pytest
from playwright.sync_api import expect

from sk_demo.scenes import long_text
from tests.e2e.screen import PATIENCE, Screen
from tests.e2e.steady import await_whole
from tests.support.instance import TestInstance

pytestmark = [pytest.mark.process, pytest.mark.browser]

COMPONENTS = ("gateway", "bus", "router", "agents", "history", "config")
# Of each; `make chaos-page` asks for more of them. A page shows 200 messages, which is 99 answers.
KILLS = int(os.environ.get("SK_PAGE_KILLS", "1"))
SEED = int(os.environ.get("SK_PAGE_SEED", "1"))
WORDS = 300


# Gateway, router and bus by themselves die in the last test.
@pytest.mark.parametrize("victims", [["agents"], ["history"], ["config"], list(COMPONENTS)])
def test_the_answer_ends_whole_without_a_reload(screen: Screen, victims: list[str]) -> None:
    screen.talk_to("Demo")
    screen.page.evaluate("window.sameDocument = true")
    screen.send("long 600")
    screen.await_words(60)
    killed = [screen.instance.kill(name, signal.SIGKILL) for name in victims]
    screen.await_words(600)
    screen.await_end()
    assert screen.words() == long_text(600).split()
    assert screen.page.evaluate("window.sameDocument") is True
    await_whole(screen.instance, *killed)


def test_a_question_outlives_the_death_of_everything(screen: Screen) -> None:
    screen.talk_to("Slow Poke")
    screen.send("permission")
    expect(screen.question).to_be_visible(timeout=PATIENCE)
    killed = [screen.instance.kill(name, signal.SIGKILL) for name in COMPONENTS]
    await_whole(screen.instance, *killed)
    expect(screen.live).to_be_visible(timeout=PATIENCE)
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


def test_at_each_random_kill_the_page_ends_with_the_text_of_the_history(
    screen: Screen, instance: TestInstance
) -> None:
    screen.page.evaluate("window.sameDocument = true")
    chance = random.Random(SEED)
    for victim in ("gateway", "router", "bus"):
        screen.create(f"random-{victim}", "Demo")
        for kill in range(KILLS):
            answers = screen.messages.count() + 1
            screen.send(f"long {WORDS}")
            screen.messages.nth(answers).wait_for()
            screen.await_words(chance.randrange(2, WORDS - 50))
            killed = instance.kill(victim, signal.SIGKILL)
            screen.await_words(WORDS)
            screen.await_end()
            await_whole(instance, killed)
            last = instance.lines("channels", "messages", f"random-{victim}", "-n", "1")[-1]
            kept = "".join(part["text"] for part in last["parts"] if part["type"] == "text")
            assert screen.words() == kept.split() == long_text(WORDS).split(), f"{victim}: {kill}"
    assert screen.page.evaluate("window.sameDocument") is True
