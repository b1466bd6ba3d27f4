"""What an agent said of itself in the handshake, and what follows for what we may ask of it.

Only what is asked for later is kept. An absent capability is none; ``{}`` is one, ``null`` is not.
"""

from typing import Any

from sk_router.acp.messages import string
from sk_router.records import AuthMethod, Life
from sk_router.texts import head

_SESSIONS = ("resume", "close")
_TRANSPORTS = ("http", "sse")
_MOST_METHODS = 20
_LONGEST_NAME = 100
_LONGEST_DESCRIPTION = 300


def kept(result: dict[str, Any]) -> dict[str, Any]:
    """The capabilities among the result of ``initialize``, in ACP's own shape."""
    said = _object(result.get("agentCapabilities"))
    sessions = _object(said.get("sessionCapabilities"))
    mcp = _object(said.get("mcpCapabilities"))
    return {
        "loadSession": said.get("loadSession") is True,
        "sessionCapabilities": {name: {} for name in _SESSIONS if _marks(sessions.get(name))},
        "mcpCapabilities": {name: True for name in _TRANSPORTS if mcp.get(name) is True},
    }


def methods(result: dict[str, Any]) -> tuple[AuthMethod, ...]:
    """The ways to log in among the result of ``initialize``."""
    listed = result.get("authMethods")
    if not isinstance(listed, list):
        return ()
    return tuple(
        AuthMethod(
            id=string(one["id"])[:_LONGEST_NAME],
            name=(string(one.get("name")) or string(one["id"]))[:_LONGEST_NAME],
            description=string(one.get("description"))[:_LONGEST_DESCRIPTION],
        )
        for one in listed[:_MOST_METHODS]
        if isinstance(one, dict) and isinstance(one.get("id"), str) and head(one["id"])
    )


def can_load(life: Life) -> bool:
    return life.capabilities.get("loadSession") is True


def can(life: Life, what: str) -> bool:
    """Whether the agent offers ``session/<what>``."""
    return _marks(_object(life.capabilities.get("sessionCapabilities")).get(what))


def mcp_servers(life: Life) -> tuple[Any, list[str]]:
    """The ``mcpServers`` of a session, and the transports of those that the agent can't take.

    They hold secrets, so only their place in the definition is named.
    """
    if not life.servers:
        return [], []
    taken = _object(life.capabilities.get("mcpCapabilities"))
    whole = f"{life.digest}#/mcpServers"
    out = [one for one in life.transports if one != "stdio" and taken.get(one) is not True]
    if not out:
        return {"$def": whole}, []
    places = [
        {"$def": f"{whole}/{index}"}
        for index, one in enumerate(life.transports)
        if one == "stdio" or taken.get(one) is True
    ]
    return places, out


def _marks(value: Any) -> bool:
    return value is True or isinstance(value, dict)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
