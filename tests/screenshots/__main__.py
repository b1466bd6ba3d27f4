"""``make screenshots``: a picture of every screen and state, in both themes and three widths.

``python -m tests.screenshots [--into DIRECTORY] [--only NAME …] [--theme …] [--width …]``. French,
which runs longer, has one picture in a wide window and one in a narrow one.
A Sidekicks of its own runs with demo agents, so that the pictures differ from run to run by their
clocks alone. They are for eyes: nothing here passes or fails but what can not be brought about.
"""

import argparse
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, WebSocketRoute, expect, sync_playwright

from tests.e2e import words
from tests.e2e.conftest import FLAGS, NAMES
from tests.e2e.steady import configure
from tests.support.instance import ROOT, TestInstance

WIDTHS = {1440: 900, 900: 800, 390: 844}
THEMES = ("light", "dark")
LOOKS = [("en", theme, width) for theme in THEMES for width in WIDTHS]
LOOKS += [("fr", "light", 1440), ("fr", "dark", 390)]

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
    icon: ./carol.svg
    command: sk-demo-agent
  - name: dan
    title: Dan
    description: Ends as soon as he is started.
    command: "false"
"""

FACE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" '
    'fill="#ffd9a0"/><circle cx="11" cy="14" r="3"/><circle cx="21" cy="14" r="3"/>'
    '<path d="M9 21q7 6 14 0" fill="none" stroke="#000" stroke-width="2"/></svg>'
)

# Nothing is being asked for any more, and nothing has been drawn for a while: what still moves
# after some seconds (a clock, a count) moves in any picture.
_AT_REST = """() => new Promise((done) => {
    let timer;
    const begin = () => { clearTimeout(timer); timer = setTimeout(look, 400); };
    const look = () => document.querySelector("[aria-busy=true]") === null ? done() : begin();
    new MutationObserver(begin).observe(
        document, { subtree: true, childList: true, attributes: true, characterData: true });
    begin();
    setTimeout(done, 6_000);
})"""

Shot = Callable[["Album"], None]


class Album:
    """One browser window, and where its pictures go."""

    def __init__(
        self, browser: Browser, instance: TestInstance, into: Path, look: tuple[str, str, int]
    ) -> None:
        self.instance = instance
        self.language, self.theme, self.width = look
        self.into = into
        self.browser = browser
        self.page: Page

    def open(self) -> None:
        context = self.browser.new_context(
            viewport={"width": self.width, "height": WIDTHS[self.width]},
            locale="en-GB",
            reduced_motion="reduce",
        )
        context.set_default_timeout(60_000)
        self.page = context.new_page()
        self.page.goto(f"{self.instance.address}/#t={self.instance.token}")
        shown = f"html[lang={self.language}][data-theme={self.theme}] .page"
        expect(self.page.locator(shown)).to_be_visible()

    def close(self) -> None:
        self.page.context.close()

    def go(self, where: str, ready: str) -> None:
        """Go to a place in the page, and wait for ``ready`` to be there."""
        self.page.evaluate("where => { location.hash = where; }", where)
        expect(self.page.locator(ready).first).to_be_visible()

    def said(self, key: str, **params: object) -> str:
        return words.said(self.language, key, **params)

    def press(self, key: str, **params: object) -> None:
        """Click the button that says this."""
        self.page.get_by_role("button", name=self.said(key, **params), exact=True).last.click()

    def command(self, key: str) -> None:
        """Do something by the list of all that one can do, which is there at any width."""
        self.page.keyboard.press("Control+k")
        self.page.keyboard.type(self.said(key))
        self.page.keyboard.press("Enter")

    def dialog(self, name: str) -> None:
        """Take the dialog that is open, and leave it."""
        expect(self.page.get_by_role("dialog")).to_be_visible()
        self.take(f"dialog-{name}")
        self.page.keyboard.press("Escape")
        expect(self.page.get_by_role("dialog")).to_have_count(0)

    def channel(self, name: str) -> str:
        listed = self.instance.json("channels", "list")
        return next(str(one["id"]) for one in listed if name in (one["name"], one["direct"]))

    def take(self, name: str, *, at_rest: bool = True) -> None:
        self.page.mouse.move(0, 0)
        self.page.evaluate("document.fonts.ready.then(() => true)")
        if at_rest:
            self.page.evaluate(_AT_REST)
        mark = "" if self.language == "en" else f"-{self.language}"
        path = self.into / f"{name}-{self.width}-{self.theme}{mark}.png"
        self.page.screenshot(path=path, animations="disabled", caret="hide")
        print(path.name, flush=True)


def prepare(instance: TestInstance) -> None:
    """What there is to see: a conversation with everything in it, a request, a queue, an error."""
    instance.config.with_name("carol.svg").write_text(FACE)
    there = instance.home / "work.yaml"
    there.write_text("agents: []\n")
    recent = [str(instance.config), str(there), str(instance.home / "gone.yaml")]
    (instance.paths.state.parent / "recent").write_text(json.dumps(recent))
    instance.cli("agents", "start", "dan", check=False)
    for name in ("review", "ideas", "design", "outage", "stopped", "queue"):
        about = {"review": "Code review with two agents"}.get(name, "")
        instance.cli("channels", "create", name, "-d", about, "-m", "alice", "-m", "bob")
    for text in ("@alice think", "@bob tool", "@bob diff", "@alice table", "@alice code"):
        instance.cli("send", "review", text, "--wait")
    instance.cli("send", "design", "which of the two?", "--wait", check=False)
    instance.cli("send", "outage", "@carol crash", "--wait", check=False)
    instance.cli("send", "@alice", "plan", "--wait")
    instance.cli("send", "@alice", "long 300", "--wait")
    instance.cli("send", "@carol", "hello", "--wait")
    instance.cli("send", "review", "@bob permission")
    instance.cli("send", "stopped", "@bob tool")
    instance.cli("send", "stopped", "@alice and then you, please")
    instance.cli("stop", "stopped")
    instance.cli("send", "queue", "@bob tool")
    instance.cli("send", "queue", "@alice and then you, please")


def _conversation(album: Album) -> None:
    album.go(f"#/c/{album.channel('review')}", ".ask")
    album.take("permission")
    album.page.locator(".list").evaluate("list => { list.scrollTop = 0; }")
    expect(album.page.locator(".beginning, .list-note").first).to_be_in_viewport()
    album.take("conversation")
    diff = album.page.locator(".diff-box").first
    album.page.locator(".tool summary").filter(has_text="greet").nth(2).click()
    expect(diff).to_be_visible()
    diff.scroll_into_view_if_needed()
    album.take("diff")
    album.page.locator(".composer-field").fill("@")
    album.page.locator(".composer-field").press("End")
    album.take("composer")
    album.page.locator(".composer-field").fill("")
    album.go(f"#/c/{album.channel('alice')}", ".plan")
    album.take("direct")


def _answering(album: Album) -> None:
    """An answer that is being written, by a plan."""
    album.go(f"#/c/{album.channel('carol')}", ".composer-field")
    album.page.locator(".composer-field").fill("plan")
    album.page.keyboard.press("Enter")
    expect(album.page.locator(".turn-plan")).to_be_visible()
    album.take("answering", at_rest=False)
    expect(album.page.locator(".turn")).to_have_count(0)


def _states(album: Album) -> None:
    """What a conversation says when it is empty, waits, was stopped, or lost its agent."""
    for name, ready in (
        ("ideas", ".composer-field"),
        ("design", ".list .link, .list .button"),
        ("outage", ".agent-error"),
        ("stopped", ".end .link"),
        ("queue", ".turn"),
    ):
        album.go(f"#/c/{album.channel(name)}", ready)
        album.take(f"channel-{name}")


def _welcome(album: Album) -> None:
    album.go("#/", ".welcome-agents" if album.width > 760 else ".sidebar")
    album.take("welcome")


def _agents(album: Album) -> None:
    album.go(f"#/c/{album.channel('review')}", ".ask")
    album.command("members.open")
    expect(album.page.locator(".members")).to_be_visible()
    album.take("members")
    album.press("channel.renameDo")
    album.dialog("rename")
    album.press("channel.deleteDo")
    album.dialog("delete")
    album.page.locator(".pane-tab").last.click()
    expect(album.page.locator(".agent").first).to_be_visible()
    album.take("agents")
    album.press("agent.logs", agent="Dan")
    expect(album.page.locator(".logs")).to_be_visible()
    album.take("logs")
    album.press("pane.close")


def _dialogs(album: Album) -> None:
    album.go(f"#/c/{album.channel('review')}", ".list")
    for name, keys in (("switcher", "Control+k"), ("keys", "?")):
        album.page.locator(".list").focus()
        album.page.keyboard.press(keys)
        album.dialog(name)
    album.command("channel.create")
    album.dialog("create")
    album.go("#/", ".sidebar")
    album.page.locator(".sidebar button").filter(
        has_text=album.said("sidebar.waiting", count=1)
    ).first.click()
    album.dialog("permissions")


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
    album.press("settings.compare")
    album.take("settings-conflict")
    album.press("settings.reload")
    album.instance.config.write_text(text)
    album.press("settings.choose")
    expect(album.page.locator(".folder-list .row").first).to_be_visible()
    album.take("settings-file-dialog")
    album.page.locator(".folder-list .row").filter(has_text=album.instance.config.name).click()
    already = album.said("settings.already", path=album.instance.config)
    expect(album.page.get_by_text(already)).to_be_visible()
    album.page.locator(".settings-recent .link").first.click()
    expect(album.page.locator(".settings-ask")).to_be_visible()
    album.take("settings-open")
    album.press("component.cancel")


def _bus(album: Album) -> None:
    album.go("#/bus", ".event")
    expect(album.page.locator(".bus-components tbody tr")).to_have_count(6)
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
    album.press("config.show")
    album.take("config-invalid")
    album.instance.config.write_text(text)
    expect(album.page.locator(".strip-bad")).to_have_count(0)
    album.instance.supervisor.call("stopProcess", "history")
    expect(album.page.locator(".strip-bad")).to_be_visible()
    album.take("component-down")
    album.instance.supervisor.start("history")
    expect(album.page.locator(".strip-bad")).to_have_count(0)
    album.command("members.open")
    album.instance.supervisor.stop("router")
    expect(album.page.locator(".strip-bad")).to_be_visible()
    album.take("router-down")
    album.instance.supervisor.start("router")
    expect(album.page.locator(".strip-bad")).to_have_count(0)
    album.press("pane.close")


def _outside(album: Album) -> None:
    """What is seen without a key, without the connection that was, and before there was one."""
    page = album.page
    album.page = _stranger(album)
    album.page.goto(album.instance.address)
    expect(album.page.locator(".token")).to_be_visible()
    album.take("token")
    lines: list[WebSocketRoute] = []
    album.page.route_web_socket("**/ws", lambda line: _through(line, lines))
    there = f"t={album.instance.token}&c={album.channel('review')}"
    album.page.goto(f"{album.instance.address}/#{there}")
    album.page.reload()
    expect(album.page.locator(".ask").first).to_be_visible()
    album.page.route_web_socket("**/ws", lambda _: None)
    lines[-1].close()
    for name in ("reconnecting", "connecting"):
        expect(album.page.locator(".strip-warn")).to_be_visible()
        album.take(name)
        album.page.reload()
    album.page.context.close()
    album.page = page


def _stranger(album: Album) -> Page:
    """A page in a browser that was never here, whose own language and colours are the look's."""
    context = album.browser.new_context(
        viewport={"width": album.width, "height": WIDTHS[album.width]},
        color_scheme="dark" if album.theme == "dark" else "light",
        locale={"en": "en-GB", "fr": "fr-FR"}[album.language],
        reduced_motion="reduce",
    )
    return context.new_page()


def _through(line: WebSocketRoute, lines: list[WebSocketRoute]) -> None:
    line.connect_to_server()
    lines.append(line)


def _first(album: Album) -> None:
    """Where nobody configured anything yet; then a file without an agent."""
    page, shared = album.page, album.instance
    with TestInstance(config=None) as album.instance:
        album.instance.up()
        album.page = _stranger(album)
        album.page.goto(f"{album.instance.address}/#t={album.instance.token}")
        expect(album.page.locator(".welcome-steps")).to_be_attached()
        album.take("first-start")
        configure(album.instance, f"theme: {album.theme}\nlanguage: {album.language}\n")
        expect(album.page.locator(".welcome-example")).to_be_attached()
        album.take("no-agent")
        album.page.context.close()
    album.page, album.instance = page, shared


SHOTS: dict[str, Shot] = {
    "welcome": _welcome,
    "conversation": _conversation,
    "answering": _answering,
    "states": _states,
    "agents": _agents,
    "dialogs": _dialogs,
    "settings": _settings,
    "bus": _bus,
    "search": _search,
    "errors": _errors,
    "outside": _outside,
    "first": _first,
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
        for look in LOOKS:
            language, theme, width = look
            if theme not in asked.theme or width not in asked.width:
                continue
            instance.config.write_text(f"theme: {theme}\nlanguage: {language}\n{CONFIG}")
            album = Album(browser, instance, asked.into, look)
            album.open()
            for name in asked.only:
                SHOTS[name](album)
            album.close()
        browser.close()
    print(f"{len(list(asked.into.glob('*.png')))} pictures in {asked.into}")


if __name__ == "__main__":
    main()
