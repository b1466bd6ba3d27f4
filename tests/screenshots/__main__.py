"""``make screenshots``: a picture of every screen and state, in both themes and three widths.

``python -m tests.screenshots [--into DIRECTORY] [--only NAME …] [--theme …] [--width …]``.
A Sidekicks of its own runs with demo agents, so that the pictures differ from run to run by their
clocks alone. They are for eyes: nothing here passes or fails but what can not be brought about.
"""

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.e2e.conftest import FLAGS, NAMES
from tests.support.instance import ROOT, TestInstance

WIDTHS = {1440: 900, 900: 800, 390: 844}
THEMES = ("light", "dark")

CONFIG = """\
agents:
  - name: alice
    title: Alice
    icon: "🦉"
    description: Reads code and says what she thinks of it.
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "5"}
  - name: bob
    title: Bob
    description: Writes code, and asks before he runs it.
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "5"}
  - name: carol
    title: Carol
    command: sk-demo-agent
  - name: dan
    title: Dan
    description: Ends as soon as he is started.
    command: "false"
"""

Shot = Callable[["Album"], None]


class Album:
    """One browser window, and where its pictures go."""

    def __init__(self, browser: Browser, instance: TestInstance, into: Path, theme: str) -> None:
        self.instance = instance
        self.theme = theme
        self.into = into
        self.browser = browser
        self.width = 0
        self.page: Page

    def open(self, width: int) -> None:
        self.width = width
        context = self.browser.new_context(
            viewport={"width": width, "height": WIDTHS[width]},
            locale="en-GB",
            reduced_motion="reduce",
        )
        context.set_default_timeout(60_000)
        self.page = context.new_page()
        self.page.goto(f"{self.instance.address}/#t={self.instance.token}")
        expect(self.page.locator(".page")).to_be_visible()

    def close(self) -> None:
        self.page.context.close()

    def go(self, where: str, ready: str) -> None:
        """Go to a place in the page, and wait for ``ready`` to be there."""
        self.page.evaluate("where => { location.hash = where; }", where)
        expect(self.page.locator(ready).first).to_be_visible()

    def channel(self, name: str) -> str:
        listed = self.instance.json("channels", "list")
        return next(str(one["id"]) for one in listed if name in (one["name"], one["direct"]))

    def take(self, name: str) -> None:
        self.page.evaluate("document.fonts.ready.then(() => true)")
        path = self.into / f"{name}-{self.width}-{self.theme}.png"
        self.page.screenshot(path=path, animations="disabled", caret="hide")
        print(path.name, flush=True)


def prepare(instance: TestInstance) -> None:
    """What there is to see: a conversation with everything in it, a request, a queue, an error."""
    instance.cli("channels", "create", "review", "-d", "Code review with two agents")
    instance.cli("channels", "invite", "review", "alice", "bob")
    instance.cli("channels", "create", "design")
    for text in ("@alice think", "@bob tool", "@bob diff", "@alice table", "@alice code"):
        instance.cli("send", "review", text, "--wait")
    instance.cli("send", "@alice", "plan", "--wait")
    instance.cli("send", "@alice", "long 300", "--wait")
    instance.cli("agents", "start", "dan", check=False)
    instance.cli("send", "review", "@bob permission")


def _conversation(album: Album) -> None:
    album.go(f"#/c/{album.channel('review')}", ".ask")
    album.take("permission")
    album.page.locator(".list").evaluate("list => { list.scrollTop = 0; }")
    expect(album.page.locator(".beginning, .list-note").first).to_be_in_viewport()
    album.take("conversation")
    album.page.locator(".composer-field").fill("@")
    album.page.locator(".composer-field").press("End")
    album.take("composer")
    album.page.locator(".composer-field").fill("")
    album.go(f"#/c/{album.channel('design')}", ".composer-field")
    album.take("empty-channel")
    album.go(f"#/c/{album.channel('alice')}", ".plan")
    album.take("direct")


def _welcome(album: Album) -> None:
    album.go("#/", ".welcome-agents" if album.width > 760 else ".sidebar")
    album.take("welcome")


def _agents(album: Album) -> None:
    album.go(f"#/c/{album.channel('review')}", ".ask")
    album.page.get_by_role("button", name="Agents").last.click()
    if album.page.locator(".pane .pane-tab").count():
        album.page.locator(".pane-tab").last.click()
    expect(album.page.locator(".agent").first).to_be_visible()
    album.take("agents")
    album.page.get_by_role("button", name="Logs of Dan").click()
    expect(album.page.locator(".logs")).to_be_visible()
    album.take("logs")
    album.page.get_by_role("button", name="Close").last.click()


def _dialogs(album: Album) -> None:
    album.go(f"#/c/{album.channel('review')}", ".list")
    for name, keys in (("switcher", "Control+k"), ("keys", "?")):
        album.page.locator(".list").focus()
        album.page.keyboard.press(keys)
        expect(album.page.get_by_role("dialog")).to_be_visible()
        album.take(f"dialog-{name}")
        album.page.keyboard.press("Escape")


def _settings(album: Album) -> None:
    album.go("#/settings", ".cm-content")
    album.take("settings")
    album.page.locator(".cm-content").click()
    album.page.keyboard.press("Control+End")
    album.page.keyboard.type("limts:\n  maxRunningAgents: many\n")
    expect(album.page.locator(".settings-problem").first).to_be_visible()
    album.take("settings-problems")
    album.page.keyboard.press("Control+Home")
    album.page.keyboard.type("\n")
    album.page.keyboard.press("Control+Home")
    album.page.keyboard.type("li")
    expect(album.page.locator(".cm-completionInfo")).to_be_visible()
    album.take("settings-completion")
    album.page.keyboard.press("Escape")
    text = album.instance.config.read_text()
    album.instance.config.write_text(f"{text}# written by another program\n")
    expect(album.page.locator(".settings-conflict")).to_be_visible()
    album.page.get_by_role("button", name="Compare").click()
    album.take("settings-conflict")
    album.page.get_by_role("button", name="Reload").click()
    album.instance.config.write_text(text)
    album.page.get_by_role("button", name="Choose a file").click()
    expect(album.page.locator(".folder-list .row").first).to_be_visible()
    album.take("settings-file-dialog")
    album.page.locator(".folder-list .row").filter(has_text=".yaml").first.click()
    expect(album.page.locator(".settings-ask")).to_be_visible()
    album.take("settings-open")


def _bus(album: Album) -> None:
    album.go("#/bus", ".event")
    expect(album.page.locator(".bus-components").get_by_text("ago").first).to_be_visible()
    album.take("bus")
    album.page.locator(".event").last.click()
    album.take("bus-event")


def _search(album: Album) -> None:
    album.go("#/search", "input[type=search]")
    album.page.get_by_role("searchbox").fill("greet")
    expect(album.page.locator(".hit").first).to_be_visible()
    album.take("search")
    album.page.locator(".hit").last.click()
    expect(album.page.locator(".message-found")).to_be_visible()
    album.take("search-found")


def _errors(album: Album) -> None:
    text = album.instance.config.read_text()
    album.instance.config.write_text(f"{text}  - name: bob\n")
    album.go(f"#/c/{album.channel('design')}", ".strip-bad")
    album.page.get_by_role("button", name="Show", exact=True).click()
    album.take("config-invalid")
    album.instance.config.write_text(text)
    expect(album.page.locator(".strip-bad")).to_have_count(0)
    album.instance.supervisor.call("stopProcess", "history")
    expect(album.page.locator(".strip-bad")).to_be_visible()
    album.take("component-down")
    album.instance.supervisor.start("history")
    expect(album.page.locator(".strip-bad")).to_have_count(0)


def _outside(album: Album) -> None:
    """What is seen before there is a connection."""
    context = album.browser.new_context(
        viewport={"width": album.width, "height": WIDTHS[album.width]},
        color_scheme="dark" if album.theme == "dark" else "light",
    )
    page, album.page = album.page, context.new_page()
    album.page.goto(album.instance.address)
    expect(album.page.locator(".token")).to_be_visible()
    album.take("token")
    album.page.route_web_socket("**/ws", lambda _: None)
    there = f"t={album.instance.token}&c={album.channel('design')}"
    album.page.goto(f"{album.instance.address}/#{there}")
    album.page.reload()
    expect(album.page.locator(".strip-warn")).to_be_visible()
    album.take("reconnecting")
    album.page = page
    context.close()


SHOTS: dict[str, Shot] = {
    "welcome": _welcome,
    "conversation": _conversation,
    "agents": _agents,
    "dialogs": _dialogs,
    "settings": _settings,
    "bus": _bus,
    "search": _search,
    "errors": _errors,
    "outside": _outside,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "screenshots")
    parser.add_argument("--only", nargs="*", choices=sorted(SHOTS), default=list(SHOTS))
    parser.add_argument("--theme", nargs="*", choices=THEMES, default=THEMES)
    parser.add_argument("--width", nargs="*", type=int, choices=list(WIDTHS), default=list(WIDTHS))
    asked = parser.parse_args()
    asked.into.mkdir(parents=True, exist_ok=True)
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    with TestInstance(config=CONFIG) as instance, sync_playwright() as started:
        instance.up()
        prepare(instance)
        browser = started.chromium.launch(executable_path=found, args=list(FLAGS))
        for theme in asked.theme:
            instance.config.write_text(f"theme: {theme}\n{CONFIG}")
            for width in asked.width:
                album = Album(browser, instance, asked.into, theme)
                album.open(width)
                for name in asked.only:
                    SHOTS[name](album)
                album.close()
        browser.close()
    print(f"{len(list(asked.into.glob('*.png')))} pictures in {asked.into}")


if __name__ == "__main__":
    main()
