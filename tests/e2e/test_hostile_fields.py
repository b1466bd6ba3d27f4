"""Every field that an agent or a file fills, filled with script and with what a terminal obeys.

Nothing of it may run in the page or call out of it, and no control character may pass the command
line. One agent says it all and asks for a permission with it; another fails with it.
"""

from collections.abc import Iterator

import pytest
import yaml
from playwright.sync_api import expect

from sk_gateway.static import DIRECTORY
from tests.e2e.screen import PATIENCE, Screen
from tests.support import poison
from tests.support.instance import ROOT, TestInstance
from tests.support.page_client import PageClient

pytestmark = [pytest.mark.process, pytest.mark.browser]

AGENT = str(ROOT / "tests" / "support" / "scripted_agent.py")
SHORT = poison.POISON[:64]  # as much as a title may have
# An environment holds no line ends or such; the rest of it does.
FAILS = {"SA_BANNER": poison.POISON, "SA_STDERR_LINES": "2", "SA_INIT_ERROR": poison.POISON}


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    """An instance in which everything hostile has been said already; the permission waits."""
    if not (DIRECTORY / "index.html").exists():
        pytest.skip("the page is not built: run `make ui`")
    agents = [
        {
            "name": name,
            "title": f"{title} {SHORT}"[:64],
            "icon": poison.SCRIPT,
            "description": poison.POISON,
            "command": "python3",
            "args": [AGENT],
            "env": environment,
        }
        for name, title, environment in (("alice", "Alice", {}), ("bob", "Bob", FAILS))
    ]
    config = yaml.safe_dump({"agents": agents, SHORT: poison.SCRIPT}, allow_unicode=False)
    valid = yaml.safe_dump({"agents": agents}, allow_unicode=False)
    with TestInstance(config=valid) as made:
        said, asked = poison.written(made.directory)
        made.up()
        with PageClient(made.port, made.token) as page:
            name = f"{poison.MARK} {poison.SCRIPT}"[:64]
            created = page.call("Create", name=name, description=name)
            assert created["ok"], created
            channel = created["value"]
            assert page.call("Start", agent="bob")["ok"] is False
            assert page.call("Send", channel=channel, text=f"@alice !play {said}")["ok"]
            assert page.call("Send", channel=channel, text=f"@alice !ask {asked}")["ok"]
            page.until(lambda page: page.of("permission:requested") != [])
            made.config.write_text(config, encoding="utf-8")  # now it has a problem, too
            page.until(lambda page: [c for c in page.of("config:changed") if not c["valid"]] != [])
        yield made


def test_nothing_of_it_runs_in_the_page(screen: Screen) -> None:
    page = screen.page
    called: list[str] = []
    shown: list[str] = []
    page.on("dialog", lambda dialog: (shown.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: called.append(request.url))
    screen.row(poison.MARK).first.click()
    expect(screen.log).to_contain_text(poison.MARK, timeout=PATIENCE)
    expect(screen.messages.last.get_by_role("group").first).to_be_visible(timeout=PATIENCE)
    screen.log.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    screen.composer.fill("/")
    screen.composer.fill("@")
    screen.composer.fill(f"@{poison.SCRIPT}")
    for screen_ in ("settings", "bus", "search"):
        page.evaluate("where => { location.hash = where }", f"#/{screen_}")
        expect(page.get_by_role("main").first).to_be_visible(timeout=PATIENCE)
        expect(page.locator("body")).to_contain_text(poison.MARK, timeout=PATIENCE)
    assert shown == []
    ours = (screen.instance.address, screen.instance.address.replace("http", "ws"), "data:")
    assert [url for url in called if not url.startswith(ours)] == []
    assert page.locator("img[src=x], svg[onload], iframe, base, object, embed").count() == 0
    addresses = page.locator("a[href]").evaluate_all("all => all.map(one => one.protocol)")
    assert set(addresses) <= {"http:", "https:", "mailto:"}


COMMANDS = (
    ("agents", "list"),
    ("agents", "show", "alice"),
    ("agents", "show", "bob"),
    ("agents", "commands", "alice"),
    ("agents", "traffic", "alice"),
    ("channels", "list"),
    ("channels", "messages", "CHANNEL"),
    ("permissions", "list"),
    ("history", "search", "onerror"),
    ("config", "validate"),
    ("status",),
    ("events", "--since", "boot", "--no-follow", "--all"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_control_character_of_it_reaches_a_terminal(
    instance: TestInstance, command: tuple[str, ...]
) -> None:
    if "CHANNEL" in command:
        (channel,) = instance.json("channels", "list")
        command = tuple(channel["id"] if word == "CHANNEL" else word for word in command)
    ended = instance.cli(*command, "--color", "never", check=False)
    assert "alert(" in ended.stdout + ended.stderr
    for text in (ended.stdout, ended.stderr):
        assert {one for one in text if not one.isprintable() and one not in "\n\t"} <= {"\u200d"}
