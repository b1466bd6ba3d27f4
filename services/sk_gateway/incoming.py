"""What a browser says, read leniently where a default does, and refused where none does."""

from typing import Any

import orjson
from starlette.websockets import WebSocketDisconnect

from sk_bus.errors import RefusedError, problem
from sk_bus.events import Kind
from sk_bus.model import Cursor
from sk_gateway.frames import WANTS


def object_of(message: Any) -> dict[str, Any]:
    """The JSON object that a WebSocket message holds.

    Raises:
        WebSocketDisconnect: it is the end of the connection.
        RefusedError: it holds something else.
    """
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1006))
    data = message.get("text") or message.get("bytes") or ""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise RefusedError(problem("malformed-frame", "a frame must be JSON")) from error
    if not isinstance(value, dict):
        raise RefusedError(problem("malformed-frame", "a frame must be a JSON object"))
    return value


def cursor_of(resume: Any) -> Cursor | None:
    match resume:
        case {"epoch": int(epoch), "seq": int(seq)}:
            return Cursor(epoch=epoch, seq=seq)
        case _:
            return None


def wanted(want: Any) -> Kind:
    if not isinstance(want, list):
        want = ["public", "delta", "result"]
    kinds = Kind(0)
    for name in want:
        kinds |= WANTS.get(name, Kind(0)) if isinstance(name, str) else Kind(0)
    return kinds
