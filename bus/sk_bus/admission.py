"""What a command must look like before it may stand in the log.

Pure, and without pydantic, which the bus can't afford: names and types of the fields, from the
very dataclasses. What the fields mean (whether a channel exists, whether a text is empty) is the
router's to judge.
"""

import dataclasses
import hashlib
import typing
from typing import Any

from sk_bus.codec import members
from sk_bus.commands import AnyCommand
from sk_bus.errors import problem
from sk_bus.model import Problem, Text
from sk_bus.wire import packed

COMMANDS: dict[str, type] = members(AnyCommand)
_LONGEST_ID = 64
_LARGEST = 256 * 1024


@dataclasses.dataclass(frozen=True, slots=True)
class _Shape:
    required: frozenset[str]
    texts: frozenset[str]  # these may be blobs; all others are strings
    fields: frozenset[str]


def _shape(kind: type) -> _Shape:
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    return _Shape(
        required=frozenset(field.name for field in fields if field.default is dataclasses.MISSING),
        texts=frozenset(field.name for field in fields if hints[field.name] == Text),
        fields=frozenset(field.name for field in fields),
    )


_SHAPES = {tag: _shape(kind) for tag, kind in COMMANDS.items()}


def objection(command: Any) -> Problem | None:
    """Why ``command``, as it came over the wire, can't be taken; ``None`` if it can."""
    if not isinstance(command, dict) or not isinstance(command.get("type"), str):
        return problem("malformed-command", "A command is a map with a type.")
    tag = command["type"]
    shape = _SHAPES.get(tag)
    if shape is None:
        return problem(
            "unknown-command",
            "There is no command {command}; the commands are: {known}.",
            command=tag[:64],
            known=", ".join(sorted(_SHAPES)),
        )
    for name in sorted(shape.required - command.keys()):
        return _wrong(tag, f"it lacks the field {name}")
    for name, value in command.items():
        if name not in shape.fields:
            return _wrong(tag, f"it has no field {str(name)[:64]}")
        if not isinstance(value, str) and not (name in shape.texts and _is_blob(value)):
            return _wrong(tag, f"its field {name} is no text")
    if not 0 < len(command["id"]) <= _LONGEST_ID:
        return _wrong(tag, f"its id must have 1 to {_LONGEST_ID} characters")
    if len(packed(command)) > _LARGEST:
        return _wrong(tag, "it is larger than 256 KB; a long text travels as a blob")
    return None


def digest(command: dict[str, Any]) -> bytes:
    """Stands for a command's content, whatever the order of its fields."""
    return hashlib.sha256(packed(sorted(command.items()))).digest()[:16]


def _is_blob(value: Any) -> bool:
    match value:
        case {"sha256": str(sha256), "length": int(), "head": str()} if len(value) == 3:
            return len(sha256) == 64 and set(sha256) <= set("0123456789abcdef")
        case _:
            return False


def _wrong(tag: str, why: str) -> Problem:
    return problem(
        "malformed-command", "The command {command} was not taken: {why}.", command=tag, why=why
    )
