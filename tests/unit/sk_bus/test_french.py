"""Problems in French: every kind that a service can say has a sentence, which can be filled."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sk_bus.errors import problem
from sk_bus.french import PROBLEMS, in_french

ROOT = Path(__file__).resolve().parents[3]
# sk_config's own stand in its tests.
SOURCES = ("bus", *(f"services/sk_{name}" for name in ("agents", "gateway", "history", "router")))
# Said by one component to another, or to a program whose author reads English.
UNREAD = {"epoch", "position", "malformed-frame", "unknown-verb"}
SENTENCES = [
    (id_, sentence)
    for id_, known in PROBLEMS.items()
    for sentence in ([known] if isinstance(known, str) else known)
]


def _produced() -> Iterator[str]:
    for source in SOURCES:
        for path in (ROOT / source).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                match node:
                    case ast.Call(
                        func=ast.Name(id="problem" | "_problem" | "_refused"),
                        args=[ast.Constant(value=str(id_)), *_],
                    ):
                        yield id_


def test_every_kind_of_problem_has_its_french() -> None:
    assert sorted({*_produced()} - {*PROBLEMS} - UNREAD) == []


@pytest.mark.parametrize(("id_", "sentence"), SENTENCES)
def test_a_french_sentence_is_written_as_french_is(id_: str, sentence: str) -> None:
    assert re.findall(r"[^\u202f][:;!?]", sentence) == [], id_
    assert "'" not in sentence, "the apostrophe is ’"


def test_the_first_sentence_that_the_params_fill_is_said() -> None:
    known = problem("malformed-command", "", command="cmd:Sing", why="no such thing")
    assert in_french(known) == "La demande cmd:Sing n’a pas été prise\u202f: no such thing."
    assert in_french(problem("malformed-command", "")) == "Une demande est un objet avec un type."


def test_a_problem_that_is_unknown_here_has_no_french() -> None:
    assert in_french(problem("of-another-version", "")) is None
    assert in_french(problem("agent-ended", "")) is None


def test_a_number_is_written_as_french_does() -> None:
    assert "en 1,5 s" in (in_french(problem("start-late", "", agent="Al", seconds=1.5)) or "")


def test_how_an_agent_ended_is_said_in_french_too() -> None:
    ended = problem("agent-ended", "", agent="Al", how="exit code 3")
    assert in_french(ended) == "Al s’est arrêté de lui-même (code de sortie 3)."
