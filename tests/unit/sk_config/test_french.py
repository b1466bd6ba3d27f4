"""Whatever sk-config can say is worded in French as well."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sk_config
from sk_bus.errors import problem
from sk_bus.french import PROBLEMS, WORDS, in_french
from sk_config.check import _NOUNS
from sk_config.syntax import _SAYS

_SAYING = ("problem", "PydanticCustomError", "_say", "_unreadable")


def _said() -> Iterator[str]:
    yield from (id_ for _, id_, _ in _SAYS)
    for path in Path(sk_config.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name(id=name) | ast.Attribute(attr=name),
                    args=[ast.Constant(value=str(id_)), *_],
                ) if name in _SAYING and re.fullmatch(r"[a-z0-9-]+", id_):
                    yield id_


def test_every_problem_has_its_french() -> None:
    said = {*_said()}
    assert {"yaml-tab", "unknown-tag", "bad-duration", "file-changed", "odd-number"} <= said
    assert sorted(said - {*PROBLEMS}) == []


def test_every_type_has_its_french() -> None:
    assert sorted({*_NOUNS.values()} - {*WORDS}) == []


@pytest.mark.parametrize(
    ("id_", "params", "expected"),
    [
        ("out-of-range", {"field": "x", "least": 1}, "x vaut au moins 1."),
        ("out-of-range", {"field": "x", "most": 3, "unit": "entries"}, "x a au plus 3 éléments."),
        ("out-of-range", {"field": "x", "most": 3}, "x vaut au plus 3."),
        ("out-of-range", {"low": "1s", "high": "30d", "never": "never"}, "De 1s à 30d, ou never."),
        ("out-of-range", {"low": "1s", "high": "1h"}, "De 1s à 1h."),
        ("out-of-range", {"field": "x"}, "x ne peut pas être vide."),
        (
            "wrong-type",
            {
                "field": "args",
                "entry": 2,
                "expected": "text",
                "given": "empty",
            },
            "L’entrée 2 de args doit être du texte, mais est vide.",
        ),
        (
            "unreadable",
            {"path": "/x", "reason": "Permission denied"},
            "/x ne peut pas être lu\u202f: accès refusé.",
        ),
        # Only where a notion stands: an agent may well be called so.
        ("duplicate-name", {"name": "text", "first": "text"}, None),
    ],
)
def test_each_case_has_its_sentence(id_: str, params: dict[str, object], expected: str) -> None:
    french = in_french(problem(id_, "", **params))
    if expected is None:
        assert "nommé text" in (french or "")
    else:
        assert french == expected
