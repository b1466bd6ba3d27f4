"""A browser and a whole Sidekicks for it: both real, both the test's own.

Takes the system's Chromium, else the one that Playwright downloaded, else says what is missing.
``SK_SCREENSHOTS`` names a folder that keeps a picture of each page at the end of its test.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, sync_playwright

from sk_gateway.static import DIRECTORY
from tests.e2e import axe, looks
from tests.e2e.looks import Look
from tests.e2e.screen import PATIENCE, Screen
from tests.e2e.steady import await_whole
from tests.support.instance import TestInstance

CONFIG = """\
agents:
  - name: demo
    title: Demo
    command: sk-demo-agent
    env:
      SK_DEMO_PACE: "5"
  - name: slowpoke
    title: Slow Poke
    command: sk-demo-agent
    env:
      SK_DEMO_PACE: easy
"""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Before any script of the page: what the policy refused, where the test can read it.
_LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """For one file only: while it lives, no event loop but its own can run in the main thread."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    try:
        started = playwright.chromium.launch(
            executable_path=found, args=list(FLAGS), timeout=PATIENCE
        )
    except Error as error:
        pytest.skip(f"no Chromium: install it, or run `playwright install chromium` ({error})")
    yield started
    started.close()


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    if not (DIRECTORY / "index.html").exists():
        pytest.skip("the page is not built: run `make ui`")
    with TestInstance(config=CONFIG) as made:
        made.up()
        yield made


@pytest.fixture
def look(request: pytest.FixtureRequest) -> Look:
    """In which language and theme this file sees the page."""
    return looks.look_of(request.path.stem)


@pytest.fixture
def context(browser: Browser, look: Look) -> Iterator[BrowserContext]:
    made = browser.new_context(
        viewport={"width": 1200, "height": 800}, locale=look.locale, color_scheme=look.theme
    )
    made.set_default_timeout(PATIENCE)
    made.add_init_script(_LISTEN)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def screen(
    page: Page, instance: TestInstance, look: Look, request: pytest.FixtureRequest
) -> Iterator[Screen]:
    """The page, open; at the end nothing may have gone wrong in it."""
    await_whole(instance)
    made = Screen(page, instance, look)
    made.open()
    yield made
    if folder := os.environ.get("SK_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{request.node.name}.png")
    assert made.violations() == []
    assert made.errors == []
    if looks.asked() and axe.there():  # on top of what test_access looks at
        page.emulate_media(reduced_motion="reduce")
        assert axe.found(page) == []
