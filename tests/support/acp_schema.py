"""The stable v1 schema of ACP, as the npm package carries it, held against frames that we send.

The package is a development dependency of the page. Where it isn't installed nothing is checked,
and the test that asks for it says so (and fails in CI).
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

_PATH = (
    Path(__file__).parents[2] / "ui-web/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"
)
_PARAMS = {
    "initialize": "InitializeRequest",
    "authenticate": "AuthenticateRequest",
    "logout": "LogoutRequest",
    "session/new": "NewSessionRequest",
    "session/load": "LoadSessionRequest",
    "session/resume": "ResumeSessionRequest",
    "session/close": "CloseSessionRequest",
    "session/set_mode": "SetSessionModeRequest",
    "session/set_config_option": "SetSessionConfigOptionRequest",
    "session/prompt": "PromptRequest",
    "session/cancel": "CancelNotification",
    "$/cancel_request": "CancelRequestNotification",
}
_NOTIFICATIONS = ("session/cancel", "$/cancel_request")


def available() -> bool:
    return _PATH.exists()


@cache
def _schema() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(_PATH.read_text())
    return made


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": _schema()["$defs"]})


def check(line: str) -> None:
    """Fail if a line of ours isn't a frame of the protocol."""
    if available():
        frame = filled(json.loads(line))
        frame.pop("id", None)  # an id of any type is right: it is the agent's own
        _check(json.dumps(frame, sort_keys=True), has_id='"id":' in line)


def filled(value: Any) -> Any:
    """The frame with its placeholders filled in, as the executor writes it."""
    match value:
        case {"$def": str(place)}:
            server = {"name": "files", "command": "/bin/files", "args": [], "env": []}
            return [server] if place.endswith("/mcpServers") else server
        case {"$blob": str()}:
            return "a long text"
        case dict():
            return {key: filled(item) for key, item in value.items()}
        case list():
            return [filled(item) for item in value]
        case _:
            return value


@cache
def _check(text: str, *, has_id: bool) -> None:
    frame = json.loads(text)
    assert frame.pop("jsonrpc") == "2.0"
    if "method" in frame:
        method = frame["method"]
        assert has_id is (method not in _NOTIFICATIONS), f"{method}: a request has an id"
        assert set(frame) == {"method", "params"}
        _valid(_PARAMS[method], frame["params"])
        known = _schema()["$defs"][_PARAMS[method]]["properties"]
        assert set(frame["params"]) <= set(known), f"{method}: params that nobody knows"
    else:
        assert has_id, "an answer without an id"
        (kind,) = frame
        _valid("RequestPermissionResponse" if kind == "result" else "Error", frame[kind])


def _valid(name: str, value: Any) -> None:
    errors = [error.message for error in _validator(name).iter_errors(value)]
    assert not errors, f"{name}: {errors}"
