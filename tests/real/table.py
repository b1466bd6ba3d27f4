"""The table of agents in docs/agents.md, made from what a run found. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.real.agents import AGENTS, RealAgent, Step

BEGIN = "<!-- Made by `make test-real`; don't edit. -->"
END = "<!-- Until here. -->"


class Found(StrEnum):
    """How a step went."""

    WORKS = "✓"
    LACKS = "–"
    FAILED = "✗"
    LEFT_OUT = "·"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found of a step; ``words`` say what the agent lacks, or what went wrong."""

    found: Found
    words: str = ""
    seconds: float = 0.0


Results = Mapping[Step, Outcome]


def expected(agent: RealAgent) -> Results:
    """What a run finds when all is as it is known to be."""
    return {
        step: Outcome(Found.LACKS, agent.lacks[step])
        if step in agent.lacks
        else Outcome(Found.WORKS)
        for step in Step
    }


def table(results: Mapping[str, Results]) -> str:
    """The table in Markdown, with what each agent doesn't offer below it."""
    tried = [agent for agent in AGENTS if agent.name in results]
    rows = [
        ["agent", "version", "of", "runs on", *(str(step) for step in Step)],
        ["---"] * 4 + [":-:"] * len(Step),
    ]
    for agent in tried:
        marks = [results[agent.name][step].found.value for step in Step]
        rows.append([agent.title, agent.version, agent.maker, agent.runtime, *marks])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", *_lacking(tried, results)]).rstrip()


def embedded(page: str, table: str) -> str:
    """The page with the table in its place."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


def _lacking(tried: Sequence[RealAgent], results: Mapping[str, Results]) -> list[str]:
    return [
        f"- {agent.title}, {step}: {outcome.words}."
        for agent in tried
        for step, outcome in results[agent.name].items()
        if outcome.found is not Found.WORKS
    ]
