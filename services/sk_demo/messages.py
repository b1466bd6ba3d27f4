"""The messages of JSON-RPC 2.0 that the agent sends, as values ready for JSON."""

from typing import Any

Message = dict[str, Any]


def update(session: str, body: dict[str, Any]) -> Message:
    return {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": session, "update": body},
    }


def result(request: Any, value: dict[str, Any]) -> Message:
    return {"jsonrpc": "2.0", "id": request, "result": value}


def refusal(request: Any, code: int, message: str, data: Any = None) -> Message:
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request, "error": error}
