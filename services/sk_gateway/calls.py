"""What a browser may call: the commands and the queries, checked at this edge.

What comes in is JSON from outside: a name that doesn't exist, a field too many or of the wrong type
ends here, with words that say which. Knows no socket and no bus.
"""

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import orjson

from sk_bus.codec import members, plain
from sk_bus.commands import AnyCommand, Shutdown
from sk_bus.errors import RefusedError, problem
from sk_bus.model import ComponentName
from sk_bus.queries import QUERIES, SERVICES, AnyQuery

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LONGEST_COMMAND_ID = 64
BY = "page"

# Closing the whole is for who can also stop supervisord, which is the command line.
COMMANDS: dict[str, type] = {
    tag.removeprefix("cmd:"): kind
    for tag, kind in members(AnyCommand).items()
    if kind is not Shutdown
}


@dataclasses.dataclass(frozen=True, slots=True)
class RestartComponent:
    """Restart one process of Sidekicks, through supervisord."""

    component: ComponentName


@dataclasses.dataclass(frozen=True, slots=True)
class Pulse:
    """How each component does at this moment: :class:`sk_gateway.pulse.ComponentPulse`."""


OwnCall = RestartComponent | Pulse


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """One call of a browser: ``id`` goes back with its result."""

    id: int
    what: AnyCommand | AnyQuery | OwnCall
    after: int = 0


def is_whole(value: Any) -> bool:
    """Whether ``value`` is a whole number that every program reads as the same."""
    return type(value) is int and abs(value) < 2**53  # ``True`` is an int, and no number


def call_of(frame: dict[str, Any]) -> Call:
    """The call that a frame of a browser stands for.

    Raises:
        RefusedError: there is no such call, or its arguments are wrong.
    """
    name, args = frame.get("name"), frame.get("args", {})
    if not isinstance(name, str) or not isinstance(args, dict):
        raise RefusedError(
            problem("malformed-call", "a call needs a name (text) and args (an object)")
        )
    after = frame.get("after", 0)
    if not is_whole(after) or after < 0:
        raise RefusedError(problem("malformed-call", "after must be a seq, a whole number"))
    return Call(id=frame["id"], what=_what(name, args, frame.get("command")), after=after)


def _what(name: str, args: dict[str, Any], command: object) -> AnyCommand | AnyQuery | OwnCall:
    if name in COMMANDS:
        if not isinstance(command, str) or not 0 < len(command) <= LONGEST_COMMAND_ID:
            raise RefusedError(
                problem(
                    "malformed-call",
                    "{name} needs a command id of its own: a text of 1 to 64 characters",
                    name=name,
                )
            )
        fields = {**args, "id": command, "by": BY}
        return cast("AnyCommand", _checked(COMMANDS[name], name, args, fields))
    if name in QUERIES:
        return cast("AnyQuery", _checked(QUERIES[name], name, args, args))
    if name == Pulse.__name__:
        return cast("Pulse", _checked(Pulse, name, args, args))
    if name == RestartComponent.__name__:
        made = cast("RestartComponent", _checked(RestartComponent, name, args, args))
        if made.component not in SERVICES:
            raise RefusedError(
                problem(
                    "no-such-component",
                    "there is no component {component}; there are {known}",
                    component=made.component,
                    known=", ".join(SERVICES),
                )
            )
        return made
    raise RefusedError(problem("no-such-call", "there is no call named {name}", name=name))


def _checked(kind: type, name: str, args: dict[str, Any], fields: dict[str, Any]) -> Any:
    """``fields`` as a value of ``kind``; ``args`` are those that came from outside."""
    # With the first call: a page that only goes on listening needn't wait for 70 ms of imports.
    from pydantic import ValidationError  # noqa: PLC0415

    known = {field.name for field in dataclasses.fields(kind)} - {"id", "by", "type"}
    unknown = sorted(set(args) - known)
    if unknown:
        raise RefusedError(
            problem(
                "malformed-call",
                "{name} has no argument {unknown}; it has: {known}",
                name=name,
                unknown=", ".join(unknown),
                known=", ".join(sorted(known)) or "none",
            )
        )
    if isinstance(fields.get("text"), dict):
        # A text may be a reference on the bus, but nobody outside may name a blob as his own text.
        raise RefusedError(problem("malformed-call", "{name}: text: must be a text", name=name))
    try:
        return _adapter(kind).validate_json(orjson.dumps(fields), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "args"
        raise RefusedError(
            problem(
                "malformed-call",
                "{name}: {where}: {why}",
                name=name,
                where=where,
                why=first["msg"],
            )
        ) from error


@cache
def _adapter(kind: type) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter  # noqa: PLC0415

    return TypeAdapter(kind)


def shown(value: Any) -> Any:
    """A result's value as JSON can hold it; the bytes of a blob as text, cut at a character."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "ignore")
    return plain(value)
