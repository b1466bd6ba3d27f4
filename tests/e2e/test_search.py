"""Searching in the page: found, opened in its place, and out into a file and in from one."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from sk_bus.codec import plain
from sk_bus.ids import channel_id, message_id
from sk_bus.model import Channel, Message, Role, TextPart
from sk_history import lines
from tests.e2e.screen import PATIENCE, Screen

pytestmark = [pytest.mark.process, pytest.mark.browser]

NEEDLE, COUNT = 40, 450
HAYSTACK = Channel(id=channel_id(1), name="haystack")


def _told(number: int) -> str:
    return f"Number {number} is the needle." if number == NEEDLE else f"Number {number}, hay."


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A channel of many messages, as an export has it."""
    made = tmp_path_factory.mktemp("export") / "haystack.jsonl"
    messages = [
        Message(
            id=message_id(number + 1),
            channel=HAYSTACK.id,
            createdAt=1_700_000_000_000 + 1000 * number,
            role=Role.USER,
            parts=(TextPart(text=_told(number)),),
            done=True,
        )
        for number in range(1, COUNT + 1)
    ]
    made.write_text(
        lines.line(lines.HEADER)
        + lines.channel_line(HAYSTACK)
        + "".join(lines.message_line(plain(one), str) for one in messages)
    )
    return made


_TO_END = """list => {
    list.scrollTop = list.scrollHeight;
    return new Promise(drawn => requestAnimationFrame(() => drawn()));
}"""


@pytest.fixture
def search(screen: Screen, export: Path) -> Locator:
    """The search page, over a history in which the haystack is."""
    page = screen.page
    screen.go_by_keys("f", "search")
    made = page.get_by_role("main", name=screen.said("search.title"))
    made.get_by_text(screen.said("history.title")).click()
    made.locator("input[type=file]").set_input_files(export)
    expect(
        made.get_by_role("status").filter(has_text=screen.saying("history.imported"))
    ).to_be_visible(timeout=PATIENCE)
    expect(screen.sidebar.get_by_text("haystack")).to_be_visible(timeout=PATIENCE)
    return made


def test_what_was_found_is_opened_in_its_place_by_keys_alone(
    screen: Screen, search: Locator
) -> None:
    page = screen.page
    search.get_by_role("searchbox").fill('"the needle"')
    hit = search.get_by_role("region", name=screen.said("search.results")).get_by_role("button")
    expect(hit).to_have_count(1, timeout=PATIENCE)
    expect(hit.locator("mark").first).to_have_text("the needle")
    search.get_by_role("searchbox").press("ArrowDown")
    page.keyboard.press("Enter")
    found = screen.messages.filter(has_text="needle")
    expect(found).to_be_in_viewport(timeout=PATIENCE)
    expect(found).to_be_focused()
    expect(screen.messages.filter(has_text=f"Number {COUNT},")).to_have_count(0)
    # Scrolling goes on at either side, a page at a time, and never more than 200 at once.
    log = screen.log
    log.press("Home")
    expect(screen.messages.filter(has_text="Number 1,")).to_be_visible(timeout=PATIENCE)
    later = screen.messages.filter(has_text=f"Number {NEEDLE + 120},")
    # What comes in above keeps its place under the reader, so once may not be enough.
    screen.until(later, lambda: log.evaluate(_TO_END))
    assert screen.messages.count() <= 200
    page.go_back()
    expect(hit).to_have_count(1)
    hit.press("Enter")
    expect(found).to_be_in_viewport(timeout=PATIENCE)
    log.press("End")
    expect(screen.messages.filter(has_text=f"Number {COUNT},")).to_be_in_viewport(timeout=PATIENCE)


def test_filters_narrow_it_down_and_pages_go_on(screen: Screen, search: Locator) -> None:
    results = search.get_by_role("region", name=screen.said("search.results"))
    search.get_by_role("searchbox").fill("hay")
    expect(results.get_by_role("status")).to_have_text(screen.said("search.foundSome", count=50))
    results.get_by_role("button", name=screen.said("search.more")).press("Enter")
    expect(results.get_by_role("listitem")).to_have_count(100, timeout=PATIENCE)
    search.get_by_label(screen.said("search.agent")).select_option("demo")
    expect(results.get_by_role("status")).to_contain_text(
        screen.said("search.nothing"), timeout=PATIENCE
    )
    search.get_by_role("button", name=screen.said("search.clear")).press("Enter")
    expect(results.get_by_role("listitem")).to_have_count(50, timeout=PATIENCE)
    assert screen.errors == []


def test_a_conversation_goes_out_into_a_file(screen: Screen, search: Locator, export: Path) -> None:
    search.get_by_label(screen.said("history.what")).select_option(label="# haystack")
    for kind, text in (("jsonl", export.read_text()), ("markdown", _told(NEEDLE))):
        with screen.page.expect_download() as download:
            search.get_by_role("button", name=screen.said(f"history.{kind}")).click()
        assert text in download.value.path().read_text()
