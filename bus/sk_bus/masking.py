"""Secrets of a definition, and their removal from what is shown. Pure.

Secrets are the values of ``env`` and of the MCP servers' env and headers, of 8 characters and more.
Not masked is what an agent answers: that is its own.
"""

import json
import re
from collections.abc import Callable
from typing import Any

SHORTEST = 8
MASK = "•••"


def secrets(definition: dict[str, Any]) -> frozenset[str]:
    """What must not be shown of a definition: values, and the words in them (``Bearer abc…``)."""
    values = list(_values(definition.get("env", {})))
    for server in definition.get("mcpServers", []):
        values += _values(server.get("env", {}))
        values += _values(server.get("headers", {}))
    parts = {part for value in values for part in (value, value.strip(), *value.split())}
    return frozenset(part for part in parts if len(part) >= SHORTEST)


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


def _values(pairs: Any) -> list[str]:
    """The values of a map, or of a list of ``{name, value}`` as ACP has it."""
    if isinstance(pairs, dict):
        return [str(value) for value in pairs.values()]
    return [str(pair.get("value", "")) for pair in pairs]
