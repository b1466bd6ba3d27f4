"""Which strings of a configuration are secret, and their removal from what is said aloud.

Secret are the values of ``env`` and ``headers``, of agents and of MCP servers, from 8 characters
on: shorter ones stand everywhere by chance. Of ``Bearer abc…`` the token counts as well.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sk_bus.model import Problem

SHORTEST = 8
MASK = "•••"


def secret_parts(value: str) -> Iterator[str]:
    """``value`` and its words, as far as they are long enough to be told apart."""
    for part in {value, value.strip(), *value.split()}:
        if len(part) >= SHORTEST:
            yield part


def secrets_in(data: Any, *, secret: bool = False) -> frozenset[str]:
    """The secrets of a file as written (``${VAR}`` unexpanded), whatever else is wrong with it."""
    match data:
        case str():
            return frozenset(secret_parts(data)) if secret else frozenset()
        case dict():
            found = (
                secrets_in(value, secret=secret or key in ("env", "headers"))
                for key, value in data.items()
            )
        case list():
            found = (secrets_in(item, secret=secret) for item in data)
        case bool() | None:
            return frozenset()
        case int() | float():
            return secrets_in(str(data), secret=secret)
        case _:
            return frozenset()
    return frozenset().union(*found)


def masked(text: str, secrets: Iterable[str]) -> str:
    """``text`` with each secret replaced, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def masked_problem(made: Problem, secrets: Iterable[str]) -> Problem:
    known = tuple(secrets)
    return replace(
        made,
        message=masked(made.message, known),
        params={
            key: masked(value, known) if isinstance(value, str) else value
            for key, value in made.params.items()
        },
    )
