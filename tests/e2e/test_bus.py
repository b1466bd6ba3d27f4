"""The bus monitor: how the components do, their restart, and the events as they come."""

import json
import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.screen import PATIENCE, Screen

pytestmark = [pytest.mark.process, pytest.mark.browser]


@pytest.fixture
def monitor(screen: Screen) -> Locator:
    screen.go_by_keys("b", "bus")
    made = screen.page.get_by_role("main", name=screen.said("bus.title"))
    expect(made).to_be_visible(timeout=PATIENCE)
    return made


def _row(screen: Screen, monitor: Locator, component: str) -> Locator:
    header = screen.page.get_by_role("rowheader", name=screen.said(f"component.{component}"))
    return monitor.get_by_role("row").filter(has=header)


def _restart(screen: Screen, row: Locator, component: str) -> Locator:
    name = screen.said(f"component.{component}")
    return row.get_by_role("button", name=screen.said("component.restartNamed", component=name))


def test_each_component_is_shown_and_restarted(screen: Screen, monitor: Locator) -> None:
    pids = screen.instance.pids()
    row = _row(screen, monitor, "history")
    expect(row).to_contain_text(str(pids["history"]), timeout=PATIENCE)
    expect(row).to_contain_text(screen.saying("bus.ago"), timeout=PATIENCE)
    _restart(screen, row, "history").press("Enter")
    expect(row.get_by_text(str(pids["history"]), exact=True)).to_have_count(0, timeout=PATIENCE)
    expect(row).to_contain_text(screen.said("component.running"), timeout=PATIENCE)


def test_the_gateways_restart_is_asked_about_and_outlived(screen: Screen, monitor: Locator) -> None:
    before = screen.instance.pids()["gateway"]
    row = _row(screen, monitor, "gateway")
    _restart(screen, row, "gateway").press("Enter")
    ask = row.get_by_role("group", name=screen.said("component.confirm.gateway"))
    expect(ask).to_be_visible()
    screen.page.keyboard.press("Enter")  # the button that restarts has the focus
    expect(row.get_by_text(str(before), exact=True)).to_have_count(0, timeout=PATIENCE)
    expect(screen.live).to_be_visible(timeout=PATIENCE)
    channel = screen.instance.cli("send", "@demo", "after the restart")
    assert channel.returncode == 0
    events = monitor.get_by_role("region", name=screen.said("bus.events"))
    expect(events.get_by_role("button", name="after the restart").first).to_be_visible()


def test_events_are_filtered_paused_opened_and_saved(screen: Screen, monitor: Locator) -> None:
    page, said = screen.page, screen.said
    events = monitor.get_by_role("region", name=screen.said("bus.events"))
    line = page.get_by_role("textbox", name=said("bus.filter"))
    line.fill("-t 'message:*' -a demo --grep Demo")
    expect(page.get_by_role("button", name=said("bus.copy"))).to_have_attribute(
        "title", "sk-cli events -t 'message:*' -a demo --grep Demo"
    )
    line.fill("-z")
    expect(page.get_by_role("alert").filter(has_text="-z")).to_be_visible()
    line.fill("-t turn:changed")
    screen.instance.cli("send", "@demo", "one", "--wait")
    rows = events.get_by_role("listitem")
    expect(rows.filter(has_text=said("bus.idle")).first).to_be_visible(timeout=PATIENCE)
    expect(rows.filter(has_text="message:updated")).to_have_count(0)
    rows.last.get_by_role("button").press("Enter")
    expect(page.get_by_label(said("bus.json"))).to_contain_text('"type": "turn:changed"')
    screen.instance.cli("send", "@demo", "two", "--wait")
    resume = page.get_by_role("button", name=screen.saying("bus.resume"))
    expect(resume).not_to_have_text(said("bus.resume", count=0), timeout=PATIENCE)
    resume.press("Enter")
    line.fill("")
    page.get_by_label(said("bus.internal")).check()
    expect(rows.filter(has_text="fact:frame").first).to_be_visible(timeout=PATIENCE)
    page.get_by_label(said("bus.internal")).uncheck()
    expect(rows.filter(has_text="fact:frame")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("button", name=said("bus.export")).click()
    saved = [json.loads(text) for text in download.value.path().read_text().splitlines()]
    assert [one["seq"] for one in saved] == sorted({one["seq"] for one in saved})
    assert {"message:delta", "turn:changed"} <= {one["type"] for one in saved}


def test_what_needs_a_component_is_disabled_while_it_is_away(screen: Screen) -> None:
    page, supervisor = screen.page, screen.instance.supervisor
    said = screen.said
    effect = said("effect.router")
    screen.create("waits", "Demo")
    page.get_by_role("button", name=said("members.open")).click()
    pane = page.get_by_role("complementary", name=said("pane.label"))
    needing = [
        pane.get_by_role("button", name=said("members.inviteOne", agent="Slow Poke")),
        pane.get_by_role("button", name=said("members.remove", agent="Demo")),
    ]
    strip = page.get_by_role("status").filter(has_text=effect)
    supervisor.stop("router")
    try:
        expect(strip).to_be_visible()
        for button in needing:
            expect(button).to_be_disabled()
        expect(needing[0]).to_have_attribute("title", re.compile(re.escape(effect)))
        # Writing goes on, and what is sent waits.
        screen.composer.fill("think")
        screen.composer.press("Enter")
        expect(screen.composer).to_have_value("")
        strip.get_by_role("button", name=said("component.restart")).press("Enter")
        expect(strip).to_have_count(0)
    finally:
        supervisor.start("router")
    for button in needing:
        expect(button).to_be_enabled()
    expect(screen.last).to_contain_text("I thought about it first")
    screen.await_end()
    expect(screen.messages.filter(has_text="I thought about it first")).to_have_count(1)
