"""What people read: the same keys in both languages, each used, each written as its language is."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sk_bus.errors import problem
from sk_cli import words
from sk_cli.language import asked_for, configured, of_login
from sk_cli.words import CATALOGUES, Entry, Language, grouped, number, problem_text, t

SOURCES = Path(__file__).resolve().parents[3] / "cli" / "sk_cli"
EN, FR = CATALOGUES["en"], CATALOGUES["fr"]


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    words.speak("en")


def forms(entry: Entry) -> tuple[str, ...]:
    return (entry,) if isinstance(entry, str) else entry


def names(entry: Entry) -> set[str]:
    return {name for form in forms(entry) for name in re.findall(r"\{(\w+)\}", form)}


def test_both_languages_have_the_same_keys() -> None:
    assert sorted(EN) == sorted(FR)


@pytest.mark.parametrize("key", EN)
def test_both_languages_fill_in_the_same(key: str) -> None:
    assert names(EN[key]) == names(FR[key])
    assert isinstance(EN[key], str) == isinstance(FR[key], str)


@pytest.mark.parametrize("key", FR)
def test_french_is_written_as_french_is(key: str) -> None:
    for form in forms(FR[key]):
        assert re.findall(r"[^\u202f\w/|:]([:;!?])(?=\s|$)", form) == [], form
        assert re.findall(r"[a-zà-ÿ]'[a-zà-ÿ]", form) == [], "the apostrophe is ’"


def _used() -> tuple[set[str], set[str]]:
    """The texts that stand in our code, and the beginnings of those that are put together."""
    whole, begun = set(), set()
    for path in SOURCES.rglob("*.py"):
        if path.parent.name == "catalogue":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
                    begun.add(text)
                case ast.Constant(value=str(text)):
                    whole.add(text)
    return whole, {text for text in begun if text.endswith(".")}


def test_no_text_stands_in_a_catalogue_that_nothing_says() -> None:
    whole, begun = _used()
    families = {key: key.rpartition(".")[0] + "." for key in EN}
    assert [key for key in EN if key not in whole and families[key] not in begun] == []


def test_every_key_that_is_said_stands_in_the_catalogues() -> None:
    said = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="t"), args=[ast.Constant(value=str(key)), *_]):
                    said.add(key)
                case ast.keyword(arg="help", value=ast.Constant(value=str(key))):
                    said.add(key)
    assert sorted(said - {*EN}) == []


@pytest.mark.parametrize(
    ("language", "count", "said"),
    [
        ("en", 0, "0 messages"),
        ("en", 1, "1 message"),
        ("en", 2, "2 messages"),
        ("fr", 0, "0 message"),
        ("fr", 1, "1 message"),
        ("fr", 2, "2 messages"),
    ],
)
def test_a_count_chooses_the_form(language: Language, count: int, said: str) -> None:
    words.speak(language)
    assert t("n.messages", count=count) == said


def test_a_number_is_written_as_the_language_does() -> None:
    assert number(1.25, 1) == "1.2"
    words.speak("fr")
    assert number(1.25, 1) == "1,2"


def test_a_large_count_is_written_in_groups() -> None:
    assert [grouped(count) for count in (0, 999, 1_234_567)] == ["0", "999", "1,234,567"]
    words.speak("fr")
    assert grouped(1_234_567) == "1\u202f234\u202f567"


def test_a_problem_is_worded_in_the_language_in_force() -> None:
    ended = problem("agent-ended", "{agent} ended", agent="Al", how="exit 1")
    assert problem_text(ended) == "Al ended"
    words.speak("fr")
    assert problem_text(ended) == "Al s’est arrêté de lui-même (exit 1)."
    assert problem_text(problem("of-another-version", "as it came")) == "as it came"


@pytest.mark.parametrize(
    ("arguments", "language"),
    [
        (["status", "--lang", "fr"], "fr"),
        (["--lang=en", "status"], "en"),
        (["send", "@bob", "--", "--lang", "fr"], None),
        (["status", "--lang"], None),
        (["status", "--lang", "de"], None),
    ],
)
def test_the_flag_is_found_wherever_it_stands(arguments: list[str], language: str | None) -> None:
    assert asked_for(arguments) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("language: fr\n", "fr"),
        ("agents: []\nlanguage:   'en'   # mine\n", "en"),
        ("language: fr\r\nagents: []\r\n", "fr"),
        ('"language": "fr"\n', "fr"),
        ("language: system\n", None),
        ("agents:\n  - name: a\n    language: fr\n", None),
        ("# language: fr\n", None),
        ("", None),
    ],
)
def test_the_configuration_says_the_language(text: str, language: str | None) -> None:
    assert configured(text) == language


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({"LANG": "fr_FR.UTF-8"}, "fr"),
        ({"LANG": "fr_FR.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "C", "LC_MESSAGES": "fr_CA"}, "fr"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_else_the_login_says_it(variables: dict[str, str], language: str) -> None:
    assert of_login(variables) == language


def test_the_start_imports_nothing_heavy() -> None:
    heavy = "{'pydantic','rich','prompt_toolkit','zmq','asyncio','xmlrpc','rocksdict','yaml'}"
    code = f"import sys, sk_cli.main; print(sorted({heavy} & {{*sys.modules}}))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_what_is_recommended_reaches_the_instance_that_the_call_is_about() -> None:
    words.address("my files/one.yaml")
    try:
        assert t("failure.next", then="sk-cli status   |   sk-cli stop ops").endswith(
            "sk-cli --config 'my files/one.yaml' status   |   "
            "sk-cli --config 'my files/one.yaml' stop ops"
        )
        assert "sk-cli --config 'my files/one.yaml' config edit" in t("agents.none")
        assert t("words.is", what="alice", how="sk-cli up") == "alice: sk-cli up", "hers"
    finally:
        words.address("")
    assert t("failure.next", then="sk-cli up").endswith("  sk-cli up")
