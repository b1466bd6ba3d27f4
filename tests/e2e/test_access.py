"""Nobody is shut out: axe finds nothing on any screen, in either language and theme."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.conftest import CONFIG
from tests.e2e.screen import Screen
from tests.support.instance import ROOT, TestInstance

pytestmark = [pytest.mark.process, pytest.mark.browser]

AXE = ROOT / "ui-web" / "node_modules" / "axe-core" / "axe.min.js"
# What WCAG 2.2 asks for at A and AA; target-size is of 2.2 and off unless it is named.
_RUN = """() => axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    rules: {"target-size": {enabled: true}},
    resultTypes: ["violations"],
}).then(({violations}) => violations.map(({id, nodes}) => ({
    id, nodes: nodes.map(({html, failureSummary}) => [html.slice(0, 200), failureSummary]),
})))"""


@pytest.fixture
def looked_at(context: BrowserContext, instance: TestInstance) -> Iterator[Screen]:
    if not AXE.exists():
        pytest.skip("the page's development tools are not installed: run `make ui`")
    context.add_init_script(path=AXE)
    screen = Screen(context.new_page(), instance)
    screen.page.emulate_media(reduced_motion="reduce")
    screen.open()
    yield screen
    assert screen.violations() == []


def _found(screen: Screen) -> list[Any]:
    return list(screen.page.evaluate(_RUN))


def test_axe_finds_nothing_in_english_and_light(looked_at: Screen, instance: TestInstance) -> None:
    _set(instance, theme="light", language="en")
    assert _walk(looked_at, _ENGLISH) == {}


def test_axe_finds_nothing_in_french_and_dark(looked_at: Screen, instance: TestInstance) -> None:
    _set(instance, theme="dark", language="fr")
    expect(looked_at.page.locator("html")).to_have_attribute("lang", "fr")
    assert _walk(looked_at, _FRENCH) == {}


_ENGLISH = {
    "create": "Create a channel",
    "name": "Name",
    "do": "Create",
    "details": "Members and details",
    "waits": "waits for you",
}
_FRENCH = {
    "create": "Créer un canal",
    "name": "Nom",
    "do": "Créer",
    "details": "Membres et détails",
    "waits": "vous attend",
}


def _set(instance: TestInstance, *, theme: str, language: str) -> None:
    instance.config.write_text(f"theme: {theme}\nlanguage: {language}\n{CONFIG}")


def _walk(screen: Screen, said: dict[str, str]) -> dict[str, list[Any]]:
    """What axe finds, by the screen on which it does."""
    page = screen.page
    found: dict[str, list[Any]] = {}

    def look(where: str) -> None:
        violations = _found(screen)
        if violations:
            found[where] = violations

    create = page.get_by_role("button", name=said["create"]).first
    expect(create).to_be_visible()
    look("welcome")
    create.click()
    look("create")
    screen.dialog.get_by_label(said["name"]).fill(f"axe {said['do']}")
    screen.dialog.get_by_role("checkbox").first.check()
    screen.dialog.get_by_role("button", name=said["do"], exact=True).click()
    expect(screen.dialog).to_have_count(0)
    field = page.locator(".composer-field")
    for text in ("tool", "plan", "diff", "table"):
        field.fill(text)
        field.press("Enter")
    field.fill("permission")
    field.press("Enter")
    expect(page.locator(".ask").first).to_be_visible()
    page.get_by_role("button", name=said["details"]).click()
    field.press_sequentially("@")
    expect(page.get_by_role("listbox")).to_be_visible()
    look("conversation")
    field.press("Escape")
    page.get_by_role("button", name=said["waits"]).first.click()
    look("permissions")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    look("switcher")
    page.keyboard.press("Escape")
    page.locator(".list").focus()
    page.keyboard.press("?")
    look("keys")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("a")
    expect(page.locator(".pane .agent").first).to_be_visible()
    look("agents")
    page.keyboard.press("Control+.")  # the next walk needs the agent, too
    expect(page.locator(".turn")).to_have_count(0)
    for screen_name in ("settings", "bus", "search"):
        page.evaluate("where => { location.hash = `#/${where}`; }", screen_name)
        expect(page.locator(".middle main")).not_to_have_attribute("aria-busy", "true")
        look(screen_name)
    return found
