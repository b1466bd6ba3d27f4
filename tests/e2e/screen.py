"""The page as a person sees it: by roles and names, never by classes."""

import re
import time
from collections.abc import Callable
from contextlib import suppress

from playwright.sync_api import ConsoleMessage, Locator, Page, expect
from playwright.sync_api import TimeoutError as PageTimeoutError

from tests.e2e import words
from tests.e2e.looks import Look
from tests.support import patience
from tests.support.instance import TestInstance

PATIENCE = 1000 * patience.PATIENCE  # Playwright counts milliseconds
expect.set_options(timeout=PATIENCE)

# What the browser itself says while the gateway is away; the page says "reconnecting".
_EXPECTED = re.compile(
    r"WebSocket connection to .* failed|net::ERR_(CONNECTION_\w+|EMPTY_RESPONSE)\b"
)


class Screen:
    """One tab."""

    def __init__(self, page: Page, instance: TestInstance, look: Look) -> None:
        self.page = page
        self.instance = instance
        self.look = look
        self.errors: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _EXPECTED.search(message.text):
            self.errors.append(message.text)

    def open(self) -> None:
        self.page.goto(f"{self.instance.address}/#t={self.instance.token}")
        self._await_list()

    def reload(self) -> None:
        self.page.reload()
        self._await_list()

    def _await_list(self) -> None:
        expect(self.live).to_be_visible(timeout=PATIENCE)
        # Whoever presses while channels come in presses what moves away below the pointer.
        expect(self.sidebar).to_have_attribute("aria-busy", "false", timeout=PATIENCE)

    def violations(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.violations")
        return found

    def said(self, key: str, **params: object) -> str:
        """What the page says there, in its language."""
        return words.said(self.look.language, key, **params)

    def saying(self, key: str, **params: object) -> re.Pattern[str]:
        """The same where each param that isn't given may be anything."""
        return words.pattern(self.look.language, key, **params)

    # --- parts of it ------------------------------------------------------------------------

    @property
    def live(self) -> Locator:
        """That the page hears the bus."""
        return self.page.get_by_text(self.said("link.live"), exact=True)

    @property
    def sidebar(self) -> Locator:
        return self.page.get_by_role("navigation", name=self.said("sidebar.label"))

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log", name=self.said("channel.messages"))

    @property
    def messages(self) -> Locator:
        """Those that the server has: the stand-in of one on its way may be there beside it."""
        return self.log.locator("article[data-message]")

    @property
    def own(self) -> Locator:
        """Those that the person wrote."""
        you = re.compile(rf"^{self.said('message.you')}$")
        author = self.page.locator("header strong", has_text=you)
        return self.messages.filter(has=author)

    @property
    def last(self) -> Locator:
        return self.messages.last

    @property
    def composer(self) -> Locator:
        return self.page.get_by_role("textbox", name=self.said("composer.label", name=""))

    @property
    def question(self) -> Locator:
        """The permission card where the agent asked."""
        return self.log.get_by_role("group", name=self.said("permission.execute", agent=""))

    @property
    def stop(self) -> Locator:
        main = self.page.get_by_role("main")
        return main.get_by_role("button", name=self.said("turn.stop"), exact=True)

    @property
    def who(self) -> Locator:
        """Under the composer: who will answer."""
        return self.page.get_by_role("main").locator(".who")

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    def row(self, name: str) -> Locator:
        """A conversation in the list."""
        return self.sidebar.get_by_role("button", name=name)

    # --- what a person does -----------------------------------------------------------------

    def talk_to(self, title: str) -> None:
        self.sidebar.get_by_role("listitem").filter(has_text=title).get_by_role("button").click()
        # Not those of where one comes from.
        expect(self.page.get_by_role("heading", name=title).first).to_be_visible(timeout=PATIENCE)
        expect(self.composer).to_be_visible(timeout=PATIENCE)
        # Its messages are there, too: before that, they can't be counted.
        expect(self.log).to_be_visible(timeout=PATIENCE)

    def create(self, name: str, *members: str) -> None:
        """Make a channel with these agents (by title) and go there."""
        self.sidebar.get_by_role("button", name=self.said("channel.create")).first.click()
        self.dialog.get_by_label(self.said("channel.name")).fill(name)
        for title in members:
            self.dialog.get_by_role("checkbox", name=title).check()
        self.dialog.get_by_role("button", name=self.said("channel.createDo"), exact=True).click()
        expect(self.dialog).to_have_count(0, timeout=PATIENCE)
        expect(self.page.get_by_role("heading", name=f"# {name}").first).to_be_visible()
        expect(self.log).to_be_visible(timeout=PATIENCE)

    def go_by_keys(self, letter: str, where: str) -> None:
        """Go to a screen by the keys that lead there."""
        self.pair(letter, lambda: bool(self.page.evaluate("location.hash") == f"#/{where}"))

    def pair(self, letter: str, done: Callable[[], bool]) -> None:
        """Press G and the letter, again where a busy machine took too long for a pair of keys."""
        for _ in range(20):
            self.page.keyboard.press("g")
            self.page.keyboard.press(letter)
            if done():
                return
        raise AssertionError(f"G {letter.upper()} leads nowhere")

    def until(self, there: Locator, act: Callable[[], object]) -> None:
        """Do this until that is there."""
        deadline = time.monotonic() + patience.PATIENCE
        while there.count() == 0:
            if time.monotonic() > deadline:
                raise AssertionError(f"{there} doesn't come")
            act()

    def send(self, text: str) -> None:
        """Send a message and wait until it stands in the conversation."""
        before = self.own.count()
        self.composer.fill(text)
        self.composer.press("Enter")
        # By the person's own: of others there may be more at any time.
        expect(self.own.nth(before)).to_be_visible(timeout=PATIENCE)

    def answer(self, option: str) -> None:
        """Click an option until the card is gone: just after it appeared it ignores clicks."""
        button = self.question.get_by_role("button", name=option)
        self.answered(lambda: button.click(timeout=1_000))

    def answered(self, act: Callable[[], None]) -> None:
        """Do this until the card is gone."""
        for _ in range(90):
            with suppress(
                PageTimeoutError
            ):  # what was done before was heard, and the card is going
                act()
            with suppress(AssertionError):
                return expect(self.question).to_have_count(0, timeout=1_000)
        raise AssertionError("the card ignores it")

    def await_words(self, count: int) -> None:
        """Wait until the last message holds at least ``count`` numbered words."""
        expect(self.last).to_contain_text(re.compile(rf"\b{count}:[a-z]+"), timeout=PATIENCE)

    def await_end(self) -> None:
        """Wait until what was said last is answered, and nobody is answering any more."""
        # Just after it was sent nobody answers yet.
        expect(self.own.and_(self.last)).to_have_count(0, timeout=PATIENCE)
        expect(self.stop).to_have_count(0, timeout=PATIENCE)
        # A long one is drawn for the last time in pieces: until then some of it may be away.
        expect(self.last.locator("[aria-busy=true]")).to_have_count(0, timeout=PATIENCE)

    def words(self) -> list[str]:
        """The numbered words of the last message, in order, doubles and all."""
        return re.findall(r"\d+:[a-z]+", self.last.inner_text())
