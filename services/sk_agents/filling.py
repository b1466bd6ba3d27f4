"""Placeholders in a line that goes to an agent, filled in while it is written.

``{"$def": "<digest>#/pointer"}`` stands for a part of a definition, so that secrets pass by the
log; ``{"$blob": …}`` for a text too big for it. Pure: what they stand for is looked up by others.
"""

import json
from collections.abc import Callable
from typing import Any


class UnfillableError(Exception):
    """A line names something that isn't there."""


def filled(line: str, *, definition: Callable[[str], Any], blob: Callable[[str], str]) -> bytes:
    """``line`` as it goes to stdin, with its line end.

    ``definition`` gives the content of a digest, ``blob`` the text of a SHA-256.

    Raises:
        UnfillableError: the line is no JSON, or names a part that isn't there.
    """
    if '"$def"' not in line and '"$blob"' not in line and "\n" not in line:
        return line.encode() + b"\n"

    def fill(value: Any) -> Any:
        match value:
            case {"$def": str(reference)} if len(value) == 1:
                return _part(reference, definition)
            case {"$blob": {"sha256": str(sha256)}} | {"$blob": str(sha256)} if len(value) == 1:
                return blob(sha256)
            case dict():
                return {key: fill(item) for key, item in value.items()}
            case list():
                return [fill(item) for item in value]
            case _:
                return value

    try:
        value = json.loads(line)
    except ValueError as error:
        raise UnfillableError(f"a line that is no JSON: {error}") from error
    text = json.dumps(fill(value), ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair has no UTF-8; as an escape it passes.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _part(reference: str, definition: Callable[[str], Any]) -> Any:
    digest, _, pointer = reference.partition("#")
    part = definition(digest)
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        try:
            part = part[int(key)] if isinstance(part, list) else part[key]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise UnfillableError(f"the definition has no {pointer}") from error
    return part
