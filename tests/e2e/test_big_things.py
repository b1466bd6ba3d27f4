"""What no screen was made for is shown safely, and little enough of it to stay quick."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import expect

from sk_gateway.static import DIRECTORY
from tests.e2e.screen import Screen
from tests.support.instance import TestInstance
from tests.support.shim_client import AGENT

pytestmark = [pytest.mark.process, pytest.mark.browser]

LINES = 200_000
OUTPUT = 10_000_000
WIDE = "名" * 32
MOST_ELEMENTS = 6_000


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    if not (DIRECTORY / "index.html").exists():
        pytest.skip("the page is not built: run `make ui`")
    agent = {"name": WIDE, "title": WIDE * 2, "command": sys.executable, "args": [str(AGENT)]}
    config = yaml.safe_dump({"agents": [agent]}, allow_unicode=True)
    with TestInstance(config=config) as made:
        made.up()
        yield made


def play(screen: Screen, *updates: dict[str, Any]) -> None:
    """Let the agent say these, and wait for its end."""
    file = Path(screen.instance.directory) / "updates.jsonl"
    file.write_text("\n".join(json.dumps(update) for update in updates), encoding="utf-8")
    before = screen.messages.count()
    screen.talk_to(WIDE)
    screen.send(f"!play {file} !say done.")
    expect(screen.messages.nth(before + 1)).to_contain_text("done.")
    screen.await_end()


def text(words: str) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}


def tool(number: int, **fields: Any) -> dict[str, Any]:
    call = {"sessionUpdate": "tool_call", "toolCallId": f"big-{number}", "title": f"Big {number}"}
    return call | {"kind": "edit", "status": "completed"} | fields


def elements(screen: Screen) -> int:
    return int(screen.page.evaluate("document.querySelectorAll('*').length"))


def test_a_diff_of_two_hundred_thousand_lines_is_shown_by_pages(screen: Screen) -> None:
    screen.page.set_viewport_size({"width": 1440, "height": 900})
    old = "".join(f"line {n}\n" for n in range(LINES))
    new = "".join(f"line {n}{'!' if n % 50_000 == 7 else ''}\n" for n in range(LINES))
    diff = {"type": "diff", "path": "/big.txt", "oldText": old, "newText": new}
    play(screen, tool(1, content=[diff]))
    screen.last.get_by_text("Big 1").click()
    screen.last.get_by_role("button", name=screen.said("diff.show")).click()
    expect(screen.last).to_contain_text("+4")
    expect(screen.last.locator(".diff-half")).to_have_count(2)
    made = {"type": "diff", "path": "/new.txt", "newText": new}
    play(screen, tool(3, content=[made]))
    screen.last.get_by_text("Big 3").click()
    screen.last.get_by_role("button", name=screen.said("diff.show")).click()
    expect(screen.last).to_contain_text(f"+{LINES}")
    expect(screen.last).to_contain_text(screen.said("diff.left", count=LINES - 400))
    assert elements(screen) < MOST_ELEMENTS


def test_an_output_of_ten_megabytes_is_loaded_in_part(screen: Screen) -> None:
    output = "all work and no play\n" * (OUTPUT // 21)
    block = {"type": "content", "content": {"type": "text", "text": output}}
    play(screen, tool(2, kind="execute", content=[block]))
    screen.last.get_by_text("Big 2").click()
    download = screen.last.get_by_role("button", name=screen.saying("tool.download"))
    expect(download).to_contain_text("(10 M")
    screen.last.get_by_role("button", name=screen.said("tool.load", size="200")).click()
    screen.last.get_by_role("button", name=screen.saying("tool.all")).click()
    shown = screen.last.locator(".tool-output pre")
    expect(shown).to_contain_text("all work")
    assert len(shown.inner_text()) <= 200_000
    assert elements(screen) < MOST_ELEMENTS


def test_a_line_of_a_hundred_thousand_characters_stays_in_its_column(screen: Screen) -> None:
    play(screen, text("x" * 100_000 + "\n\n"), text("```\n" + "y" * 100_000 + "\n```\n"))
    assert screen.page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert screen.log.evaluate("list => list.scrollWidth <= list.clientWidth")


def test_a_character_cut_in_two_and_a_text_from_right_to_left(screen: Screen) -> None:
    play(
        screen,
        text("a \ud83d"),
        text("\ude00 b\n\nمرحبا `./run.sh` بالعالم\n\nplain\n\n- واحد\n- اثنان\n\n"),
    )
    arabic = screen.last.get_by_text("مرحبا")
    assert arabic.evaluate("element => getComputedStyle(element).direction") == "rtl"
    assert arabic.locator("code").evaluate("code => getComputedStyle(code).direction") == "ltr"
    plain = screen.last.get_by_text("plain")
    assert plain.evaluate("element => getComputedStyle(element).direction") == "ltr"
    screen.composer.fill("مرحبا")
    assert screen.composer.evaluate("field => getComputedStyle(field).direction") == "rtl"


def test_a_name_of_sixty_four_wide_characters_fits(screen: Screen) -> None:
    for width in (1440, 900, 390):
        screen.page.set_viewport_size({"width": width, "height": 800})
        for where in ("welcome", "conversation"):
            if where == "conversation":
                screen.page.evaluate("() => { location.hash = '#/'; }")
            assert screen.page.evaluate(
                "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            )
