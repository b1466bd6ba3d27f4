"""The first configuration file."""

from datetime import date
from importlib import resources

import pytest
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


def test_the_agents_that_most_people_have_are_known() -> None:
    names = {known.name for known in CATALOGUE}
    assert names >= {
        "opencode",
        "claude",
        "codex",
        "gemini",
        "copilot",
        "qwen",
        "goose",
        "vibe",
        "kimi",
        "fast-agent",
    }


@pytest.mark.parametrize("known", CATALOGUE, ids=lambda known: known.program)
def test_each_known_agent_says_what_was_seen_of_it_and_when(known: KnownAgent) -> None:
    text = starter((known,), lambda _: True)
    if known.verified is None:
        assert "not tried by us" in text
    else:
        date.fromisoformat(known.verified.on)
        assert f"version {known.verified.version}, on {known.verified.on}" in text
    assert all(len(line) <= 100 for line in text.splitlines())


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
