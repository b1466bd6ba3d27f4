"""How deep JSON from outside may be: what we keep of it is packed and copied level by level."""

from typing import Any

DEEPEST = 100
TOO_DEEP = f"nested more than {DEEPEST} levels deep"


def shallow(data: Any) -> Any:
    """``data`` (parsed JSON) itself, or, where it is nested too deeply, its top with a word inside.

    So a request keeps the id by which it is answered, and an answer tells which request it ends.
    """
    if not deeper(data, DEEPEST):
        return data
    if not isinstance(data, dict):
        return TOO_DEEP
    return {
        key: TOO_DEEP if isinstance(item, dict | list) and deeper(item, 1) else item
        for key, item in data.items()
    }


def deeper(data: Any, levels: int) -> bool:
    """Whether ``data`` has more levels than so many."""
    level = [data]
    for _ in range(levels):
        level = [
            item
            for value in level
            if isinstance(value, dict | list)
            for item in (value.values() if isinstance(value, dict) else value)
        ]
    return bool(level)
