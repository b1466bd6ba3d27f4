"""Writing, waiting and going about, with nothing but the keyboard."""

import re

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.screen import Screen
from tests.support.instance import TestInstance

pytestmark = [pytest.mark.process, pytest.mark.browser]


def test_a_queued_message_is_edited_another_taken_back_and_stop_drops_the_rest(
    screen: Screen,
) -> None:
    said = screen.said
    screen.create("queue", "Demo")
    screen.send("slow 600")
    expect(screen.last).to_contain_text("I say nothing for")
    for text in ("first", "second", "third"):
        screen.send(text)
    queued = screen.messages.filter(has_text=said("message.queued"))
    expect(queued).to_have_count(3)
    queued.filter(has_text="first").get_by_role("button", name=said("message.edit")).click()
    editor = screen.page.get_by_role("textbox", name=said("message.editLabel"))
    editor.fill("think")
    editor.press("Enter")
    expect(queued.filter(has_text="think")).to_have_count(1)
    queued.filter(has_text="second").get_by_role("button", name=said("message.takeBack")).click()
    expect(screen.composer).to_have_value("second")
    expect(screen.composer).to_be_focused()
    expect(queued).to_have_count(2)
    screen.composer.fill("")
    screen.page.keyboard.press("Control+.")
    dropped = screen.messages.filter(has_text=said("message.notSent")).filter(has_text="third")
    dropped.get_by_role("button", name=said("message.back")).click()
    expect(screen.composer).to_have_value("third")


def test_a_draft_outlives_a_reload_and_another_conversation(screen: Screen) -> None:
    screen.create("drafts", "Demo")
    screen.composer.fill("half a thou")
    screen.talk_to("Slow Poke")
    expect(screen.composer).to_have_value("")
    screen.reload()
    screen.row("drafts").click()
    expect(screen.composer).to_have_value("half a thou")


def test_commands_are_asked_for_when_a_slash_is_typed_and_offered(screen: Screen) -> None:
    screen.create("commands", "Demo", "Slow Poke")
    screen.composer.press_sequentially("/")
    options = screen.page.get_by_role("option")
    expect(options.filter(has_text="/slowpoke:plan")).to_be_visible()
    screen.page.keyboard.type("demo:th")
    expect(options).to_have_count(1)
    screen.page.keyboard.press("Enter")
    expect(screen.composer).to_have_value("/demo:think ")
    screen.page.keyboard.press("Enter")
    expect(screen.last).to_contain_text("I thought about it first")
    screen.await_end()
    screen.page.keyboard.press("ArrowUp")
    expect(screen.composer).to_have_value("/demo:think ")
    screen.page.keyboard.press("ArrowDown")
    expect(screen.composer).to_have_value("")


def test_the_first_escape_closes_what_is_open_and_two_stop(screen: Screen) -> None:
    once_more = screen.page.get_by_text(screen.said("turn.again"))
    screen.create("ladder", "Demo")
    screen.send("slow 600")
    expect(screen.last).to_contain_text("I say nothing for")
    screen.composer.press_sequentially("@")
    expect(screen.page.get_by_role("listbox")).to_be_visible()
    screen.page.keyboard.press("Escape")
    expect(screen.page.get_by_role("listbox")).to_have_count(0)
    expect(once_more).to_have_count(0)
    screen.page.keyboard.press("Escape")
    expect(once_more).to_be_visible()
    screen.page.keyboard.press("Shift")  # something else: it was not meant
    expect(once_more).to_have_count(0)
    screen.page.keyboard.press("Escape")
    screen.page.keyboard.press("Escape")
    expect(screen.last).to_contain_text(screen.said("end.cancelled"))
    expect(once_more).to_have_count(0)
    screen.await_end()


def test_everything_is_reached_by_keys(screen: Screen, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = screen.page
    keys = page.keyboard
    screen.create("by keys", "Demo")
    screen.send("think")
    expect(screen.last).to_contain_text("I thought about it first")
    screen.await_end()
    keys.press("Shift+F6")
    keys.press("j")
    keys.press("Enter")
    expect(screen.last.locator("details").first).to_have_attribute("open", "")
    keys.press("c")
    expect(page.get_by_role("status").filter(has_text=screen.said("message.copied"))).to_have_count(
        1
    )
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("I thought about it first")
    keys.press("k")
    expect(screen.messages.nth(1)).to_be_focused()
    keys.press("Escape")
    expect(screen.composer).to_be_focused()
    screen.send("permission")
    expect(screen.question).to_be_visible()
    keys.press("Alt+ArrowDown")
    expect(page.get_by_role("heading", name="Demo").first).to_be_visible()
    keys.press("Alt+P")
    expect(screen.question).to_be_focused()
    screen.answered(lambda: keys.press("2"))
    expect(screen.last).to_contain_text("Allow for this conversation")
    keys.press("Control+k")
    keys.type("slow")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Slow Poke").first).to_be_visible()
    screen.log.focus()
    keys.press("?")
    expect(screen.dialog).to_contain_text(screen.said("keys.message"))
    keys.press("Escape")
    expect(screen.dialog).to_have_count(0)
    for second, where in (("s", "settings"), ("b", "bus")):
        page.evaluate("() => document.activeElement?.blur()")
        screen.go_by_keys(second, where)


@pytest.mark.parametrize("left", ["pane.close", "dialog.cancel", "Escape"])
def test_whoever_leaves_a_dialog_is_where_he_was_and_the_next_keys_are_the_pages(
    screen: Screen, left: str
) -> None:
    page = screen.page
    begun = screen.sidebar.get_by_role("button", name=screen.said("channel.create")).first
    begun.press("Enter")
    expect(screen.dialog.get_by_label(screen.said("channel.name"))).to_be_focused()
    if left == "Escape":
        page.keyboard.press("Escape")
    else:
        screen.dialog.get_by_role("button", name=screen.said(left)).press("Enter")
    expect(screen.dialog).to_have_count(0)
    expect(begun).to_be_focused()
    # As fast as nobody types: the browser hasn't drawn anything in between.
    page.evaluate(_PRESS, ["?"])
    expect(screen.dialog).to_be_visible()
    page.evaluate(_PRESS, ["Escape", "g", "s"])
    expect(page).to_have_url(re.compile("#/settings$"))
    expect(screen.dialog).to_have_count(0)
    page.evaluate(_PRESS, ["?", "Escape", "?"])
    expect(screen.dialog).to_be_visible()


_PRESS = """keys => {
    for (const key of keys) {
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    }
}"""


def test_a_request_elsewhere_is_seen_and_answered_from_the_list(
    screen: Screen, instance: TestInstance
) -> None:
    screen.create("asking", "Slow Poke")
    screen.send("permission")
    expect(screen.question).to_be_visible()
    screen.create("quiet", "Demo")
    expect(screen.row("asking")).to_contain_text(screen.said("sidebar.permission"))
    expect(screen.page).to_have_title(re.compile(r"^\(!\) "))
    screen.page.get_by_role("button", name=screen.said("sidebar.waiting", count=1)).click()
    asks = screen.said("permission.execute", agent="Slow Poke")
    card = screen.dialog.get_by_role("group", name=asks)
    expect(card.get_by_role("button", name="Refuse")).to_be_visible()
    asked = instance.json("permissions", "list")[0]
    instance.cli("permissions", "answer", asked["id"], asked["options"][0]["optionId"])
    expect(screen.dialog).to_contain_text(screen.said("permission.none"))
    screen.page.keyboard.press("Escape")
    expect(screen.page).not_to_have_title(re.compile(r"^\(!\) "))
    screen.row("asking").click()
    expect(screen.last).to_contain_text(screen.saying("permission.elsewhere", by="cli"))
