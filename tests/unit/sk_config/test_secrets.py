"""Secrets are found where they stand, and taken out of what is said."""

from hypothesis import given
from hypothesis import strategies as st

from sk_bus.masking import MASK, masked_problem, masker
from sk_bus.model import Problem
from sk_config.secrets import secrets_in


def test_values_of_env_and_headers_are_secret_from_eight_characters_on() -> None:
    data = {
        "agents": [
            {"title": "not-a-secret", "env": {"A": "12345678", "B": "1234567", "C": 123456789}},
            {"mcpServers": [{"headers": [{"name": "H", "value": "Bearer abcdefgh"}]}]},
        ]
    }
    assert secrets_in(data) == {"12345678", "123456789", "Bearer abcdefgh", "abcdefgh"}


def test_the_longest_secret_goes_first() -> None:
    mask = masker(frozenset({"abcdefgh", "abcdefgh-long"}))
    assert mask("x abcdefgh-long y abcdefgh") == f"x {MASK} y {MASK}"


def test_a_secret_is_masked_as_it_stands_in_json_as_well() -> None:
    mask = masker(frozenset({'say "é" here'}))
    written = (r"{'k': 'say \"é\" here'}", r"{'k': 'say \"\u00e9\" here'}", 'say "é" here')
    assert [MASK in mask(text) for text in written] == [True] * 3


def test_a_problem_is_masked_in_its_params_as_well() -> None:
    made = Problem(id="x", message="no s3cr3t-s3cr3t", params={"p": "s3cr3t-s3cr3t", "n": 3})
    assert masked_problem(made, masker(frozenset({"s3cr3t-s3cr3t"}))) == Problem(
        id="x", message=f"no {MASK}", params={"p": MASK, "n": 3}
    )


@given(st.lists(st.text("ab", min_size=8, max_size=10)), st.text("ab", max_size=60))
def test_no_secret_survives(secrets: list[str], text: str) -> None:
    left = masker(frozenset(secrets))(text)
    assert not any(secret in left for secret in secrets)
