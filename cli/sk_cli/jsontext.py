"""JSON for scripts, of any value that the bus can carry."""

import json
from typing import Any

import orjson


def json_text(value: Any, *, indented: bool = False) -> str:
    """``value`` as JSON. What UTF-8 can't hold (half of a surrogate pair) is escaped."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indented else 0).decode()
    except TypeError:
        separators = None if indented else (",", ":")
        return json.dumps(value, separators=separators, indent=2 if indented else None)
