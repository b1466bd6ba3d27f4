"""Nobody is shut out: axe finds nothing on any screen, in either language and theme, and a day's
work can be done by keyboard alone."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e import axe, looks
from tests.e2e.looks import Look
from tests.e2e.screen import Screen
from tests.e2e.steady import await_whole
from tests.support.instance import TestInstance

pytestmark = [pytest.mark.process, pytest.mark.browser]


@pytest.fixture
def looked_at(context: BrowserContext, instance: TestInstance, look: Look) -> Iterator[Screen]:
    if not axe.there():
        pytest.skip("the page's development tools are not installed: run `make ui`")
    await_whole(instance)
    screen = Screen(context.new_page(), instance, look)
    screen.page.emulate_media(reduced_motion="reduce")
    screen.open()
    yield screen
    assert screen.violations() == []


@pytest.mark.parametrize("look", looks.tried(), ids=str)
def test_axe_finds_nothing_on_any_screen(looked_at: Screen) -> None:
    assert _walk(looked_at) == {}
    assert _other_colours(looked_at) == {}
    assert _narrow(looked_at) == {}
    looked_at.page.evaluate("localStorage.clear()")
    looked_at.page.reload()
    expect(looked_at.page.get_by_text("sk-cli open")).to_be_visible()
    assert axe.found(looked_at.page) == []


def _walk(screen: Screen) -> dict[str, list[Any]]:
    """What axe finds, by the screen on which it does."""
    page, said = screen.page, screen.said
    found: dict[str, list[Any]] = {}

    def look(where: str) -> None:
        violations = axe.found(page)
        if violations:
            found[where] = violations

    create = page.get_by_role("button", name=said("channel.create")).first
    expect(create).to_be_visible()
    look("welcome")
    create.click()
    look("create")
    screen.dialog.get_by_label(said("channel.name")).fill(f"axe {screen.look}")
    screen.dialog.get_by_role("checkbox").first.check()
    screen.dialog.get_by_role("button", name=said("channel.createDo"), exact=True).click()
    expect(screen.dialog).to_have_count(0)
    field = page.locator(".composer-field")
    for text in ("tool", "plan", "diff", "table"):
        field.fill(text)
        field.press("Enter")
    field.fill("permission")
    field.press("Enter")
    expect(page.locator(".ask").first).to_be_visible()
    page.get_by_role("button", name=said("members.open")).click()
    field.press_sequentially("@")
    expect(page.get_by_role("listbox")).to_be_visible()
    look("conversation")
    field.press("Escape")
    for dialog, button in (("rename", "channel.renameDo"), ("delete", "channel.deleteDo")):
        _opened(screen, dialog, said(button), look)
    page.get_by_role("button", name=screen.saying("sidebar.waiting")).first.click()
    _left(screen, "permissions", look)
    page.keyboard.press("Control+k")
    _left(screen, "switcher", look)
    page.locator(".list").focus()
    page.keyboard.press("?")
    _left(screen, "keys", look)
    screen.pair("a", lambda: page.locator(".pane .agent").count() > 0)
    look("agents")
    page.keyboard.press("Control+.")  # the next walk needs the agent, too
    expect(page.locator(".turn")).to_have_count(0)
    for where in SCREENS:
        _go(screen, where)
        look(where)
        if where == "settings":
            _opened(screen, "folder", said("settings.choose"), look)
    return found


def _opened(screen: Screen, what: str, button: str, look: Callable[[str], None]) -> None:
    """Look at a dialog that a button opens, and close it again."""
    screen.page.get_by_role("button", name=button, exact=True).click()
    inside = "listitem" if what == "folder" else "heading"
    expect(screen.dialog.get_by_role(inside).first).to_be_visible()
    _left(screen, what, look)


def _left(screen: Screen, what: str, look: Callable[[str], None]) -> None:
    """Look at the dialog that opens, and close it again."""
    expect(screen.dialog).to_be_visible()
    look(what)
    screen.page.keyboard.press("Escape")
    expect(screen.dialog).to_have_count(0)


SCREENS = ("settings", "bus", "search")


def _go(screen: Screen, where: str) -> None:
    screen.page.evaluate("where => { location.hash = `#/${where}`; }", where)
    expect(screen.page.locator(f".middle main.{where}")).to_be_visible()


def _other_colours(screen: Screen) -> dict[str, list[Any]]:
    """What is too pale in the other theme: of the same elements, only the colours differ."""
    page = screen.page
    page.emulate_media(color_scheme=screen.look.other_theme, reduced_motion="reduce")
    found = {}
    for where in SCREENS:
        _go(screen, where)
        found[where] = axe.found(page, ["color-contrast"])
    page.locator(".sidebar .row").first.click()
    expect(page.locator(".list .message").first).to_be_visible()
    found["conversation"] = axe.found(page, ["color-contrast"])
    return {where: violations for where, violations in found.items() if violations}


def _narrow(screen: Screen) -> dict[str, list[Any]]:
    """What axe finds where one part is seen at a time."""
    page = screen.page
    page.set_viewport_size({"width": 390, "height": 844})
    found = {"pane": axe.found(page)}
    page.locator(".pane-head .button").click()
    expect(page.locator(".pane")).to_have_count(0)
    found["conversation"] = axe.found(page)
    for where in SCREENS:
        _go(screen, where)
        found[where] = axe.found(page)
    page.evaluate("location.hash = '#/'")
    expect(page.locator(".sidebar")).to_be_visible()
    found["list"] = axe.found(page)
    return {where: violations for where, violations in found.items() if violations}


class Keyboard:
    """Hands that know no mouse."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def write(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.press("Enter")

    def go_to(self, name: str) -> None:
        """By the list of all that one can go to or do."""
        self.press("Control+k")
        self.page.keyboard.type(name)
        expect(self.page.get_by_role("option").first).to_contain_text(name)
        self.press("Enter")

    def tab_to(self, name: str) -> None:
        for _ in range(60):
            self.press("Tab")
            # In one go: what has the focus may be drawn anew at any time.
            if name in self.page.evaluate(_FOCUSED):
                return
        raise AssertionError(f"no way to {name} by Tab")


_FOCUSED = """() => {
    const { ariaLabel, innerText } = document.activeElement ?? document.body;
    return [ariaLabel ?? "", innerText.trim()];
}"""


@pytest.mark.parametrize("look", looks.tried(), ids=str)
def test_a_days_work_is_done_by_keyboard_alone(screen: Screen) -> None:
    hands = Keyboard(screen.page)
    _makes_a_channel(screen, hands)
    _answers_and_searches(screen, hands)
    _starts_and_stops(screen, hands)
    _restarts_a_component(screen, hands)
    _deletes_the_channel(screen, hands)


def _makes_a_channel(screen: Screen, hands: Keyboard) -> None:
    said = screen.said
    hands.go_to(said("channel.create"))
    expect(screen.dialog.get_by_label(said("channel.name"))).to_be_focused()
    hands.write(f"keyed-{screen.look}")
    expect(screen.row(f"keyed-{screen.look}")).to_have_attribute("aria-current", "page")
    expect(screen.composer).to_be_focused()

    hands.go_to(said("members.open"))
    for title in ("Demo", "Slow Poke"):
        hands.tab_to(said("members.inviteOne", agent=title))
        hands.press("Enter")
        expect(screen.last).to_contain_text(said("system.agent-joined", agent=title))
    hands.tab_to(said("members.remove", agent="Slow Poke"))
    hands.press("Enter")
    expect(screen.last).to_contain_text(said("system.agent-left", agent="Slow Poke"))
    hands.tab_to(said("channel.renameDo"))
    hands.press("Enter")
    expect(screen.dialog.get_by_label(said("channel.name"))).to_be_focused()
    hands.press("Control+a")
    hands.write(f"typed-{screen.look}")
    expect(screen.row(f"typed-{screen.look}")).to_be_visible()


def _answers_and_searches(screen: Screen, hands: Keyboard) -> None:
    said = screen.said
    hands.press("Escape")  # out of the details, to where one writes
    expect(screen.composer).to_be_focused()
    hands.write("permission")
    expect(screen.question).to_be_visible()
    hands.press("Alt+p")
    screen.answered(lambda: hands.press("a"))
    screen.await_end()

    hands.go_to(said("search.title"))
    page = screen.page
    expect(page.get_by_role("searchbox", name=said("search.text"))).to_be_focused()
    page.keyboard.type("permission")
    hits = page.get_by_role("region", name=said("search.results")).get_by_role("button")
    expect(hits.filter(has_text=f"# typed-{screen.look}").first).to_be_visible()
    hands.press("ArrowDown", "Enter")
    expect(page.locator("[data-message]:focus")).to_be_in_viewport()


def _restarts_a_component(screen: Screen, hands: Keyboard) -> None:
    page, said = screen.page, screen.said
    history = said("component.history")
    restart = said("component.restartNamed", component=history)
    hands.go_to(said("bus.title"))
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=history))
    before = str(screen.instance.pids()["history"])
    expect(row).to_contain_text(before)
    hands.tab_to(restart)
    hands.press("Enter")
    expect(row.get_by_text(before, exact=True)).to_have_count(0)
    expect(row.get_by_role("button", name=restart)).to_be_focused()


def _deletes_the_channel(screen: Screen, hands: Keyboard) -> None:
    said = screen.said
    hands.go_to(f"typed-{screen.look}")
    expect(screen.composer).to_be_focused()
    hands.go_to(said("members.open"))
    hands.tab_to(said("channel.deleteDo"))
    hands.press("Enter")
    expect(screen.dialog.get_by_role("button", name=said("dialog.cancel"))).to_be_focused()
    hands.press("Tab", "Enter")
    expect(screen.row(f"typed-{screen.look}")).to_have_count(0)


def _starts_and_stops(screen: Screen, hands: Keyboard) -> None:
    said = screen.said
    start, stop, logs = (
        said(f"agent.{act}", agent="Slow Poke") for act in ("start", "stop", "logs")
    )
    pane = screen.page.get_by_role("complementary", name=said("pane.label"))
    hands.go_to(said("sidebar.agents"))
    hands.tab_to(start)
    hands.press("Enter")
    # Another button took its place, and is where the focus was.
    expect(pane.get_by_role("button", name=stop)).to_be_focused()
    ready = f"{said('state.ready')} Slow Poke"
    expect(screen.sidebar.get_by_role("button", name=ready)).to_be_visible()
    hands.press("Enter")
    expect(pane.get_by_role("button", name=start)).to_be_focused()
    hands.tab_to(logs)
    hands.press("Enter")
    expect(pane.get_by_role("region", name=logs)).to_contain_text("easy")
    expect(pane).to_be_focused()


def test_the_sidebar_is_one_stop_and_arrows_move_in_it(screen: Screen) -> None:
    page = screen.page
    stops = screen.sidebar.locator("button[tabindex='0']")
    expect(stops).to_have_count(1)
    page.keyboard.press("F6")
    expect(stops).to_be_focused()
    page.keyboard.press("End")
    last = screen.sidebar.get_by_role("button").last
    expect(last).to_be_focused()
    expect(stops).to_have_count(1)
    page.keyboard.press("ArrowUp")
    expect(last).not_to_be_focused()
    page.keyboard.press("Tab")
    expect(screen.sidebar.locator(":focus")).to_have_count(0)
