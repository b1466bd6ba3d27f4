"""Channels in the page: made, filled, talked in, and given up."""

import re

import pytest
from playwright.sync_api import BrowserContext, expect

from sk_demo.scenes import long_text
from tests.e2e.screen import PATIENCE, Screen
from tests.support.instance import TestInstance

pytestmark = [pytest.mark.process, pytest.mark.browser]

# A problem is worded by the page, from what the service says of it.
_ENDED = {
    "en": "slowpoke ended by itself (exit code 3)",
    "fr": "slowpoke s’est arrêté de lui-même (code de sortie 3)",
}


def test_a_channel_is_made_renamed_and_deleted(screen: Screen) -> None:
    screen.create("plans", "Demo")
    expect(screen.row("plans")).to_have_attribute("aria-current", "page")
    said = screen.said
    screen.page.get_by_role("button", name=said("members.open")).click()
    details = screen.page.get_by_role("region", name=said("members.label"))
    details.get_by_role("button", name=said("channel.renameDo")).click()
    screen.dialog.get_by_label(said("channel.name")).fill("designs")
    screen.dialog.get_by_label(said("channel.description")).fill("what it is to look like")
    screen.dialog.get_by_role("button", name=said("channel.renameDo")).click()
    expect(screen.row("designs")).to_be_visible(timeout=PATIENCE)
    expect(details.get_by_text("what it is to look like")).to_be_visible(timeout=PATIENCE)
    details.get_by_role("button", name=said("channel.deleteDo")).click()
    expect(screen.dialog).to_contain_text(said("channel.delete", name="# designs"))
    screen.dialog.get_by_role("button", name=said("channel.deleteDo")).click()
    expect(screen.row("designs")).to_have_count(0, timeout=PATIENCE)
    expect(screen.dialog).to_have_count(0, timeout=PATIENCE)


def test_a_taken_name_is_refused_and_what_was_typed_stays(screen: Screen) -> None:
    screen.create("taken")
    name = screen.dialog.get_by_label(screen.said("channel.name"))
    screen.sidebar.get_by_role("button", name=screen.said("channel.create")).first.click()
    name.fill("Taken")
    screen.dialog.get_by_role("button", name=screen.said("channel.createDo"), exact=True).click()
    expect(screen.dialog.get_by_role("alert")).to_be_visible(timeout=PATIENCE)
    expect(name).to_have_value("Taken")
    screen.page.keyboard.press("Escape")
    expect(screen.dialog).to_have_count(0)


def test_members_are_invited_and_removed(screen: Screen) -> None:
    screen.create("crew", "Demo")
    page, said = screen.page, screen.said
    page.get_by_role("button", name=said("members.open")).click()
    page.get_by_role("button", name=said("members.inviteOne", agent="Slow Poke")).click()
    joined = said("system.agent-joined", agent="Slow Poke")
    expect(screen.last).to_contain_text(joined, timeout=PATIENCE)
    page.get_by_role("button", name=said("members.remove", agent="Demo")).click()
    left = said("system.agent-left", agent="Demo")
    expect(screen.last).to_contain_text(left, timeout=PATIENCE)


def test_who_will_answer_is_said_before_it_is_sent(screen: Screen) -> None:
    screen.create("who", "Demo")
    said = screen.said
    both = rf"→ Slow Poke \({said('who.joins')}.*\){said('who.then')}Demo"
    for text, told in (
        ("hello", "→ Demo"),
        ("@slowpoke and @demo", re.compile(both)),
        ("@nobody", said("who.unknown", name="nobody")),
    ):
        screen.composer.fill(text)
        expect(screen.who).to_contain_text(told, timeout=PATIENCE)


def test_where_nobody_is_to_answer_a_button_mentions_somebody(screen: Screen) -> None:
    screen.create("shy", "Demo", "Slow Poke")
    screen.send("hello")
    nobody = screen.messages.filter(has_text=screen.said("system.no-recipient"))
    nobody.get_by_role("button", name="@demo").click()
    expect(screen.composer).to_be_focused()
    expect(screen.composer).to_have_value("@demo ")
    screen.page.keyboard.type("think")
    screen.page.keyboard.press("Enter")
    expect(screen.last).to_contain_text("I thought about it first", timeout=PATIENCE)


def test_two_agents_answer_one_after_the_other(screen: Screen) -> None:
    screen.create("both", "Demo", "Slow Poke")
    screen.composer.fill("@demo, @slowpoke: think")
    screen.composer.press("Enter")
    answers = screen.messages.filter(has_text="I thought about it first")
    expect(answers).to_have_count(2, timeout=PATIENCE)
    screen.await_end()
    expect(answers.nth(0)).to_contain_text("Demo")
    expect(answers.nth(1)).to_contain_text("Slow Poke")


def test_an_agent_that_ends_in_mid_answer_is_explained_and_started_again(screen: Screen) -> None:
    screen.create("crashes", "Slow Poke")
    screen.send("crash")
    expect(screen.last).to_contain_text(_ENDED[screen.look.language])
    screen.last.get_by_text(screen.said("agent.errorLines")).click()
    expect(screen.last).to_contain_text("demo: good bye")
    screen.last.get_by_role("button", name=screen.said("agent.logsShort")).click()
    label = screen.said("agent.logs", agent="Slow Poke")
    logs = screen.page.get_by_role("region", name=label)
    logs.get_by_role("searchbox").fill("GOOD")
    expect(logs.locator("pre")).to_have_text(re.compile(r"^\s*demo: good bye\s*$"))
    start = screen.said("agent.start", agent="Slow Poke")
    screen.last.get_by_role("button", name=start, exact=True).click()
    ready = f"{screen.said('state.ready')} Slow Poke"
    expect(screen.sidebar.get_by_role("button", name=ready)).to_be_visible()


def test_what_an_agent_says_elsewhere_is_unread_until_it_is_seen(
    screen: Screen, instance: TestInstance
) -> None:
    screen.create("elsewhere", "Demo")
    screen.send("think")
    expect(screen.last).to_contain_text("I thought about it first")
    screen.await_end()
    screen.create("here", "Slow Poke")
    row = screen.row("elsewhere")
    instance.cli("send", "elsewhere", "think", "--wait")
    expect(row).to_contain_text(screen.said("sidebar.unread", count=1), timeout=PATIENCE)
    expect(screen.page).to_have_title(re.compile(r"^\(\d+\) "), timeout=PATIENCE)
    screen.reload()
    expect(row).to_contain_text(screen.said("sidebar.unread", count=1), timeout=PATIENCE)
    screen.page.keyboard.press("Alt+Shift+ArrowUp")
    line = screen.page.get_by_role("separator").get_by_text(screen.said("channel.newLine"))
    expect(line).to_be_visible(timeout=PATIENCE)
    expect(row).not_to_contain_text(screen.saying("sidebar.unread"), timeout=PATIENCE)


def test_two_tabs_and_the_command_line_agree(
    screen: Screen, context: BrowserContext, instance: TestInstance
) -> None:
    screen.create("agreed", "Demo")
    other = Screen(context.new_page(), instance, screen.look)
    other.open()
    other.row("agreed").click()
    instance.cli("send", "agreed", "think", "--wait")
    expect(other.messages.filter(has_text="I thought about it first")).to_have_count(1)
    other.send("long 300")
    for tab in (screen, other):
        tab.await_words(300)
        tab.await_end()
        assert tab.words() == long_text(300).split()
        expect(tab.messages.filter(has_text="I thought about it first")).to_have_count(1)
    kept = instance.lines("channels", "messages", "agreed")
    said = [message for message in kept if message["role"] == "agent"]
    assert said[-1]["parts"][-1]["text"].split() == long_text(300).split()
