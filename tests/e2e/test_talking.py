"""Talking with an agent in the page: the answer, the question, the stop."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from sk_demo.scenes import long_text
from tests.e2e.screen import PATIENCE, Screen
from tests.support.instance import TestInstance

pytestmark = [pytest.mark.process, pytest.mark.browser]


def test_every_agent_is_listed_before_any_conversation_exists(screen: Screen) -> None:
    for title in ("Demo", "Slow Poke"):
        expect(screen.sidebar.get_by_text(title)).to_be_visible(timeout=PATIENCE)


def test_an_answer_arrives_and_is_drawn_as_markdown(screen: Screen) -> None:
    screen.talk_to("Demo")
    screen.send("help")
    expect(screen.last.get_by_role("listitem").first).to_be_visible(timeout=PATIENCE)
    screen.await_end()
    expect(screen.last.locator("code").first).to_have_text("plan")


def test_a_table_and_code_are_drawn(screen: Screen) -> None:
    screen.talk_to("Demo")
    screen.send("table")
    screen.await_end()
    expect(screen.last.get_by_role("cell").first).to_be_visible(timeout=PATIENCE)
    screen.send("code")
    screen.await_end()
    expect(screen.last.locator("pre").first).to_contain_text("def primes")


def test_a_long_answer_is_whole(screen: Screen) -> None:
    screen.talk_to("Demo")
    screen.send("long 500")
    screen.await_words(500)
    screen.await_end()
    assert screen.words() == long_text(500).split()


def test_a_permission_is_asked_and_its_answer_obeyed(screen: Screen) -> None:
    screen.talk_to("Demo")
    screen.send("permission")
    expect(screen.question.get_by_role("button")).to_have_count(3, timeout=PATIENCE)
    names = screen.question.get_by_role("button").all_inner_texts()
    assert [name.split("\n")[0] for name in names] == [
        "Allow once",
        "Allow for this conversation",
        "Refuse",
    ]
    screen.answer("Refuse")
    expect(screen.last).to_contain_text("You refused", timeout=PATIENCE)


def test_an_answer_in_one_tab_ends_the_question_in_the_other(
    screen: Screen, context: BrowserContext, instance: TestInstance
) -> None:
    other = Screen(context.new_page(), instance, screen.look)
    other.open()
    for tab in (screen, other):
        tab.talk_to("Demo")
    screen.send("permission")
    for tab in (screen, other):
        expect(tab.question).to_be_visible(timeout=PATIENCE)
    screen.answer("Allow once")
    expect(other.question).to_have_count(0, timeout=PATIENCE)


def test_stop_ends_the_answer(screen: Screen) -> None:
    screen.talk_to("Demo")
    screen.send("long 20000")
    screen.await_words(20)
    screen.stop.click()
    screen.await_end()
    assert len(screen.words()) < 20_000
    expect(screen.composer).to_be_editable()


def test_two_tabs_and_a_reload_show_the_same_text(
    screen: Screen, context: BrowserContext, instance: TestInstance
) -> None:
    screen.talk_to("Demo")
    screen.send("long 800")
    screen.await_words(50)
    other = Screen(context.new_page(), instance, screen.look)
    other.open()
    other.talk_to("Demo")
    screen.await_words(250)
    screen.reload()
    screen.talk_to("Demo")
    for tab in (screen, other):
        tab.await_words(800)
        tab.await_end()
        assert tab.words() == long_text(800).split()


def test_without_a_token_the_page_says_how_to_get_one(page: Page, instance: TestInstance) -> None:
    page.goto(instance.address)
    expect(page.get_by_text(re.compile("sk-cli open"))).to_be_visible(timeout=PATIENCE)


def test_the_token_leaves_the_address_bar(screen: Screen) -> None:
    assert screen.instance.token not in screen.page.url
