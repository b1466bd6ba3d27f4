"""Agents in the page: started, restarted, stopped, and what they say on stderr."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.screen import PATIENCE, Screen

pytestmark = [pytest.mark.process, pytest.mark.browser]


def test_an_agent_is_started_restarted_and_stopped_and_its_logs_are_read(screen: Screen) -> None:
    page = screen.page
    page.get_by_role("button", name=re.compile(r"^Agents")).click()
    card = page.get_by_role("listitem").filter(
        has=page.get_by_role("button", name="Logs of Slow Poke")
    )
    card.get_by_role("button", name="Start Slow Poke").click()
    expect(card).to_contain_text("ready", timeout=PATIENCE)
    card.get_by_role("button", name="Restart Slow Poke").click()
    expect(card.get_by_role("button", name="Stop Slow Poke")).to_be_enabled(timeout=PATIENCE)
    expect(card).to_contain_text("ready", timeout=PATIENCE)
    card.get_by_role("button", name="Stop Slow Poke").click()
    expect(card).to_contain_text("stopped", timeout=PATIENCE)
    card.get_by_role("button", name="Logs of Slow Poke").click()
    said = page.get_by_role("region", name="Logs of Slow Poke").get_by_text("easy")
    expect(said).to_have_count(2, timeout=PATIENCE)  # a line of each life
