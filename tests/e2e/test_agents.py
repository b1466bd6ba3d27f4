"""Agents in the page: started, restarted, stopped, and what they say on stderr."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.screen import PATIENCE, Screen

pytestmark = [pytest.mark.process, pytest.mark.browser]


def test_an_agent_is_started_restarted_and_stopped_and_its_logs_are_read(screen: Screen) -> None:
    page = screen.page
    start, stop, restart, logs = (
        screen.said(f"agent.{act}", agent="Slow Poke")
        for act in ("start", "stop", "restart", "logs")
    )
    page.get_by_role("button", name=re.compile(rf"^{screen.said('sidebar.agents')}")).click()
    card = page.get_by_role("listitem").filter(has=page.get_by_role("button", name=logs))
    card.get_by_role("button", name=start, exact=True).click()
    expect(card).to_contain_text(screen.said("state.ready"), timeout=PATIENCE)
    card.get_by_role("button", name=restart).click()
    expect(card.get_by_role("button", name=stop)).to_be_enabled(timeout=PATIENCE)
    expect(card).to_contain_text(screen.said("state.ready"), timeout=PATIENCE)
    card.get_by_role("button", name=stop).click()
    expect(card).to_contain_text(screen.said("state.stopped"), timeout=PATIENCE)
    card.get_by_role("button", name=logs).click()
    lines = page.get_by_role("region", name=logs).get_by_text("easy")
    expect(lines).to_have_count(2, timeout=PATIENCE)  # a line of each life
