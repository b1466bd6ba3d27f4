"""The first configuration file."""

from importlib import resources

import yaml

from sk_config.check import check
from sk_config.starter import KnownAgent, catalogue, starter
from tests.unit.sk_config.test_check import HERE

CATALOGUE = catalogue(resources.files("sk_config").joinpath("known_agents.json").read_text())


def test_it_is_valid_and_lists_the_demo_agent_first() -> None:
    verdict = check(starter(CATALOGUE, lambda _: False), HERE)
    assert (verdict.problems, verdict.warnings) == ((), ())
    assert verdict.config is not None
    assert [agent.name for agent in verdict.config.agents] == ["demo"]


def test_it_lists_each_known_agent_that_is_installed_once() -> None:
    verdict = check(starter(CATALOGUE, lambda _: True), HERE)
    assert verdict.problems == ()
    assert verdict.config is not None
    names = [agent.name for agent in verdict.config.agents]
    assert names == ["demo", *dict.fromkeys(known.name for known in CATALOGUE)]


def test_its_commented_example_is_valid_too() -> None:
    text = starter((), lambda _: False)
    shown = text.replace("  # - ", "  - ").replace("  #   ", "    ")
    config = yaml.safe_load(shown)
    assert [agent["name"] for agent in config["agents"]] == ["demo", "mine"]
    assert {made.id for made in check(shown, HERE).problems} == {"unset-variable"}


def test_whatever_a_catalogue_says_stays_text() -> None:
    odd = KnownAgent(
        name="odd", title='a: "b"', description="# no comment", program="agent", args=("-x: y",)
    )
    config = check(starter((odd,), lambda _: True), HERE).config
    assert config is not None
    assert [(a.title, a.description) for a in config.agents[1:]] == [('a: "b"', "# no comment")]
