"""Which strings of a configuration's file are secret, whatever else is wrong with it. Pure."""

from typing import Any

from sk_bus.masking import secret_parts


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
