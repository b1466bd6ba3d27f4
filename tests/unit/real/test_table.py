"""What is known of the real agents: data, docs and catalogue agree."""

from importlib import resources
from pathlib import Path

import pytest

from sk_config.starter import catalogue
from tests.real.agents import AGENTS, RealAgent, Step
from tests.real.table import BEGIN, END, Found, Outcome, embedded, expected, table

PAGE = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")
KNOWN = {
    one.program: one
    for one in catalogue(resources.files("sk_config").joinpath("known_agents.json").read_text())
}


def ids(agent: RealAgent) -> str:
    return agent.name


def test_the_table_of_the_docs_is_what_a_run_finds() -> None:
    results = {agent.name: expected(agent) for agent in AGENTS}
    assert embedded(PAGE, table(results)) == PAGE, "make test-real writes it"


@pytest.mark.parametrize("agent", [one for one in AGENTS if one.catalogue], ids=ids)
def test_the_catalogue_agrees(agent: RealAgent) -> None:
    known = KNOWN[agent.catalogue]
    assert known.verified is not None
    assert known.verified.version == agent.version
    given = iter(agent.command)
    assert all(word in given for word in known.args), "the same arguments, in this order"


@pytest.mark.parametrize("agent", AGENTS, ids=ids)
def test_each_agent_is_pinned(agent: RealAgent) -> None:
    first, *others = (*agent.npm, *agent.pip)
    assert first.endswith(agent.version)
    assert all("@" in one[1:] or "==" in one for one in others)


def test_they_are_of_different_makers_and_of_every_kind() -> None:
    assert len({agent.maker for agent in AGENTS}) >= 5
    assert {agent.runtime for agent in AGENTS} == {"Node", "native", "Python"}


def test_a_failed_step_stands_in_the_table_with_its_reason() -> None:
    agent = AGENTS[0]
    results = dict(expected(agent)) | {Step.STOP: Outcome(Found.FAILED, "it stays")}
    made = table({agent.name: results})
    assert made.splitlines()[2].endswith("| ✗ |")
    assert f"- {agent.title}, stop: it stays." in made


def test_only_what_stands_between_the_marks_is_replaced() -> None:
    page = f"before\n{BEGIN}\n\nold\n\n{END}\nafter\n"
    assert embedded(page, "new") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
