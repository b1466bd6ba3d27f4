"""Going on with another configuration file from the page, in mid answer, and back."""

from playwright.sync_api import BrowserContext, expect

from tests.e2e.screen import Screen
from tests.support.instance import TestInstance


def open_file(screen: Screen, path: str) -> None:
    page, said = screen.page, screen.said
    page.get_by_role("button", name=said("settings.title"), exact=True).click()
    page.get_by_role("combobox", name=said("settings.path")).fill(path)
    page.get_by_role("combobox", name=said("settings.path")).press("Enter")
    question = page.get_by_role("group", name=said("settings.openAsk", path=path))
    question.get_by_role("button", name=said("settings.open"), exact=True).click()


def is_answering(screen: Screen) -> None:
    """Behind the answer there may stand a word on the memory of its agent."""
    expect(screen.log.get_by_text("30:kelp").last).to_be_visible()


def test_the_page_goes_on_with_the_other_files_channels_and_comes_back(
    screen: Screen, context: BrowserContext, instance: TestInstance
) -> None:
    other = instance.directory / "other.yaml"
    other.write_text("agents: [{name: zoe, title: Zoë, command: sk-demo-agent}]")
    screen.talk_to("Demo")
    screen.send("long 20000")
    is_answering(screen)
    second = Screen(context.new_page(), instance, screen.look)
    second.open()

    open_file(screen, str(other))
    for one in (screen, second):
        expect(one.row("Zoë")).to_be_visible()
        expect(one.row("Demo")).to_have_count(0)
    screen.talk_to("Zoë")
    screen.send("hello")
    expect(screen.last).to_contain_text("demo agent of Sidekicks")

    open_file(screen, str(instance.config))
    for one in (screen, second):
        expect(one.row("Demo")).to_be_visible()
        expect(one.row("Zoë")).to_have_count(0)
    screen.talk_to("Demo")
    expect(screen.last).to_contain_text("long 20000")


def test_a_file_that_cant_be_opened_is_said_and_nothing_stops(
    screen: Screen, instance: TestInstance
) -> None:
    screen.talk_to("Demo")
    screen.send("long 20000")
    is_answering(screen)
    none = str(instance.directory / "none.yaml")
    open_file(screen, none)
    alert = screen.page.get_by_role("alert")
    expect(alert.filter(has_text=none)).to_be_visible()
    path = screen.page.get_by_role("combobox", name=screen.said("settings.path"))
    path.fill(str(instance.config))
    path.press("Enter")
    already = screen.said("settings.already", path=instance.config)
    expect(screen.page.get_by_role("status").filter(has_text=already)).to_be_visible()
    screen.talk_to("Demo")
    screen.stop.click()
    expect(screen.stop).to_have_count(0)
