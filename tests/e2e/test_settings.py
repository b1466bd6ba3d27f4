"""The configuration file in the page: completed, judged, saved, and shared with other editors."""

import json
import re
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import CONFIG
from tests.e2e.screen import PATIENCE, Screen
from tests.e2e.steady import await_whole, configure
from tests.support.instance import TestInstance

pytestmark = [pytest.mark.process, pytest.mark.browser]


@pytest.fixture
def editor(screen: Screen) -> Locator:
    """The editor, reached by keys alone, with the cursor at its beginning."""
    configure(screen.instance, CONFIG)
    # In force, too: what a test before it set may not pass for what this one sets.
    html = screen.page.locator("html")
    expect(html).to_have_attribute("data-theme", "system", timeout=PATIENCE)
    expect(html).to_have_attribute("lang", screen.look.language, timeout=PATIENCE)
    screen.go_by_keys("s", "settings")
    made = screen.page.get_by_role("textbox", name=screen.said("settings.editor"))
    expect(made).to_contain_text("slowpoke", timeout=PATIENCE)
    # In this browser's headless mode a key never leaves the page, so Tab comes by everything.
    for _ in range(40):
        if made.evaluate("element => element.getRootNode().activeElement === element"):
            break
        screen.page.keyboard.press("Tab")
    screen.page.keyboard.press("Control+Home")
    return made


def _problems(screen: Screen) -> Locator:
    return screen.page.get_by_role("region", name=screen.said("settings.problems"))


def _unsaved(screen: Screen) -> Locator:
    return screen.page.get_by_text(screen.said("settings.edited"), exact=True)


def _saved(instance: TestInstance) -> str:
    return instance.config.read_text()


def test_a_mistake_is_shown_at_its_place_and_is_not_saved(screen: Screen, editor: Locator) -> None:
    keys = screen.page.keyboard
    keys.type("themee: dark\n")
    name = re.compile(rf"^1:1 {screen.said('settings.error')} .*\bthemee\b")
    problem = _problems(screen).get_by_role("button", name=name)
    expect(problem).to_be_visible(timeout=PATIENCE)
    keys.press("Control+End")
    keys.press("Control+s")  # refused, which puts the cursor to the first problem
    at = editor.locator(".cm-activeLine")
    expect(at).to_have_text("themee: dark", timeout=PATIENCE)
    expect(
        screen.page.get_by_text(screen.said("settings.bad", count=1), exact=True)
    ).to_be_visible()
    assert _saved(screen.instance) == CONFIG
    keys.press("Control+End")
    expect(at).to_have_text("")
    problem.focus()
    keys.press("Enter")  # to the place
    keys.press("Control+Delete")
    keys.type("theme")
    expect(screen.page.get_by_text(screen.said("settings.valid"), exact=True)).to_be_visible(
        timeout=PATIENCE
    )
    keys.press("Control+s")
    expect(_unsaved(screen)).to_have_count(0, timeout=PATIENCE)
    assert _saved(screen.instance) == f"theme: dark\n{CONFIG}"


def test_what_is_suggested_is_taken_saved_and_in_force(screen: Screen, editor: Locator) -> None:
    page = screen.page
    page.keyboard.type("\n")
    page.keyboard.press("Control+Home")
    page.keyboard.type("th")
    offers = page.get_by_role("listbox", name=screen.said("settings.completions")).get_by_role(
        "option"
    )
    expect(offers.filter(has_text="theme")).to_contain_text(
        "system | light | dark", timeout=PATIENCE
    )
    page.keyboard.press("Tab")
    page.keyboard.type("d")
    expect(offers).to_have_text(["dark"], timeout=PATIENCE)
    page.keyboard.press("Enter")
    page.keyboard.press("Control+s")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark", timeout=PATIENCE)
    assert _saved(screen.instance) == f"theme: dark\n{CONFIG}"


def test_the_menus_edit_the_file(screen: Screen, editor: Locator) -> None:
    expect(editor).to_be_visible()
    page, mine = screen.page, screen.look
    other = replace(mine, language=mine.other_language, theme=mine.other_theme)
    page.get_by_label(screen.said("settings.theme")).select_option(other.theme)
    expect(page.locator("html")).to_have_attribute("data-theme", other.theme, timeout=PATIENCE)
    for look in (other, mine):
        page.get_by_label(screen.said("settings.language")).select_option(look.language)
        screen.look = look
        title = page.get_by_role("heading", name=screen.said("settings.title"))
        expect(title).to_be_visible(timeout=PATIENCE)
        written = f"language: {look.language}\ntheme: {other.theme}\n{CONFIG}"
        assert _saved(screen.instance) == written


def test_what_another_editor_wrote_is_not_overwritten_unasked(
    screen: Screen, editor: Locator
) -> None:
    page = screen.page
    page.keyboard.type("# mine\n")
    configure(screen.instance, f"# theirs\n{CONFIG}")
    conflict = page.get_by_role("region", name=screen.said("settings.conflict"))
    expect(conflict).to_be_visible(timeout=PATIENCE)
    conflict.get_by_role("button", name=screen.said("settings.compare")).click()
    expect(conflict).to_contain_text("# theirs")
    page.keyboard.press("Control+s")
    expect(conflict).to_be_visible()
    assert _saved(screen.instance) == f"# theirs\n{CONFIG}"
    conflict.get_by_role("button", name=screen.said("settings.keep")).click()
    page.keyboard.press("Control+s")
    expect(_unsaved(screen)).to_have_count(0, timeout=PATIENCE)
    assert _saved(screen.instance) == f"# mine\n{CONFIG}"
    # With nothing edited here, the page simply follows.
    configure(screen.instance, f"# theirs again\n{CONFIG}")
    expect(editor).to_contain_text("# theirs again", timeout=PATIENCE)


def test_what_was_typed_outlives_a_reload_and_the_gateway(screen: Screen, editor: Locator) -> None:
    screen.page.keyboard.type("# not yet saved\n")
    expect(_unsaved(screen)).to_be_visible()
    killed = screen.instance.kill("gateway")
    screen.page.keyboard.type("# nor this\n")
    # The page may not have noticed yet that it was away.
    await_whole(screen.instance, killed)
    expect(screen.live).to_be_visible(timeout=PATIENCE)
    screen.page.reload()
    expect(editor).to_contain_text("# not yet saved", timeout=PATIENCE)
    expect(editor).to_contain_text("# nor this")
    assert _saved(screen.instance) == CONFIG


def test_another_file_is_chosen_in_a_dialog_and_asked_about(screen: Screen) -> None:
    """What opening it does then, :mod:`tests.e2e.test_opening` has."""
    page, instance = screen.page, screen.instance
    deep = instance.config.with_name("deep")
    deep.mkdir()
    (deep / "other.yaml").write_text("agents: []\n")
    page.evaluate("location.hash = '#/settings'")
    page.get_by_role("button", name=screen.said("settings.choose")).press("Enter")
    dialog = screen.dialog
    expect(dialog.get_by_role("button", name="sidekicks.yaml")).to_be_visible(timeout=PATIENCE)
    expect(dialog.get_by_role("button", name="data")).to_be_focused()
    dialog.get_by_role("button", name="deep").press("Enter")
    dialog.get_by_role("button", name="other.yaml").press("Enter")
    ask = page.get_by_role("group", name=screen.said("settings.openAsk", path=deep / "other.yaml"))
    expect(ask).to_contain_text(screen.said("settings.stopsNothing").split(".")[0])
    expect(ask.get_by_role("button", name=screen.said("settings.open"))).to_be_focused()
    ask.get_by_role("button", name=screen.said("dialog.cancel")).press("Enter")
    expect(ask).to_have_count(0)
    field = page.get_by_role("combobox", name=screen.said("settings.path"))
    field.fill(f"{instance.config.parent}/de")
    expect(page.get_by_role("option", name="deep/")).to_be_visible(timeout=PATIENCE)
    field.press("ArrowDown")
    field.press("Enter")
    expect(page.get_by_role("option", name="other.yaml")).to_be_visible(timeout=PATIENCE)
    field.press("ArrowDown")
    field.press("Tab")
    expect(field).to_have_value(str(deep / "other.yaml"))


def test_a_recent_file_that_is_gone_is_taken_off_the_list(screen: Screen) -> None:
    page, instance = screen.page, screen.instance
    gone, there = instance.home / "gone.yaml", instance.home / "there.yaml"
    there.write_text("agents: []\n")
    known = instance.paths.state.parent / "recent"
    known.write_text(json.dumps([str(instance.config), str(gone), str(there)]))
    page.evaluate("location.hash = '#/settings'")
    expect(page.get_by_role("button", name=str(gone), exact=True)).to_be_disabled()
    page.get_by_role("button", name=screen.said("settings.forgetFile", file=gone)).press("Enter")
    expect(page.get_by_role("button", name=str(gone), exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name=str(there), exact=True)).to_be_enabled()
    assert json.loads(known.read_text()) == [str(instance.config), str(there)]


def test_an_icon_that_is_an_image_is_drawn(screen: Screen) -> None:
    config = screen.instance.config
    config.with_name("face.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    config.write_text(CONFIG.replace("title: Demo\n", "title: Demo\n    icon: ./face.svg\n"))
    screen.talk_to("Demo")
    image = screen.page.get_by_role("main").locator(".avatar img").first
    expect(image).to_have_attribute("src", re.compile("^data:image/svg.xml;base64,"))
    config.write_text(CONFIG)
