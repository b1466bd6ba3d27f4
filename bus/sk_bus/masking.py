"""Secrets of a definition, and their removal from what is shown. Pure.

Secrets are the values of ``env`` and of the MCP servers' env and headers, of 8 characters and more:
shorter ones stand everywhere by chance. Of ``Bearer abc…`` the token counts as well. Not masked is
what an agent answers: that is its own.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from sk_bus.model import Problem

SHORTEST = 8
MASK = "•••"


def secrets(definition: dict[str, Any]) -> frozenset[str]:
    """What must not be shown of a definition."""
    values = list(_values(definition.get("env", {})))
    for server in definition.get("mcpServers", []):
        values += _values(server.get("env", {}))
        values += _values(server.get("headers", {}))
    return frozenset(part for value in values for part in secret_parts(value))


def secret_parts(value: str) -> Iterator[str]:
    """``value`` and its words, as far as they are long enough to be told apart."""
    for part in {value, value.strip(), *value.split()}:
        if len(part) >= SHORTEST:
            yield part


def masker(hidden: frozenset[str]) -> Callable[[str], str]:
    """A function that masks each of ``hidden`` in a text, the longest first.

    Also as it stands in JSON: an agent's log lines often are, and its frames always.
    """
    if not hidden:
        return lambda text: text
    forms = hidden | {
        json.dumps(one, ensure_ascii=ascii_)[1:-1] for one in hidden for ascii_ in (True, False)
    }
    pattern = re.compile("|".join(re.escape(one) for one in sorted(forms, key=len, reverse=True)))
    return lambda text: pattern.sub(MASK, text)


def masked_problem(made: Problem, mask: Callable[[str], str]) -> Problem:
    """``made`` with what :func:`masker` made taken to its message and its params."""
    return replace(
        made,
        message=mask(made.message),
        params={
            key: mask(value) if isinstance(value, str) else value
            for key, value in made.params.items()
        },
    )


def _values(pairs: Any) -> list[str]:
    """The values of a map, or of a list of ``{name, value}`` as ACP has it."""
    if isinstance(pairs, dict):
        return [str(value) for value in pairs.values()]
    return [str(pair.get("value", "")) for pair in pairs]
