"""JSON-RPC frames of ACP version 1: building ours, reading theirs leniently.

A frame is told by what it has: ``method`` and ``id`` make a request, ``method`` alone a
notification, anything else with an ``id`` an answer. The two directions number their requests
apart, so ids are compared only with those of the same direction, and echoed exactly as they came.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import orjson

from sk_bus.model import BlobRef, Text
from sk_bus.nesting import DEEPEST, TOO_DEEP, deeper
from sk_router.texts import head, whole_characters

VERSION = 1
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
AUTHENTICATION_REQUIRED = -32000

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[][{}]')

INITIALIZE: dict[str, Any] = {
    "protocolVersion": VERSION,
    # Neither files nor terminals: agents then use their own tools.
    "clientCapabilities": {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    },
    "clientInfo": {"name": "sidekicks", "title": "Sidekicks", "version": "0.1.0"},
}


@dataclass(frozen=True, slots=True)
class Request:
    id: Any
    method: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    method: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """``error`` wins where an answer has both."""

    id: Any
    result: Any = None
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """JSON that is no frame of the protocol."""

    why: str


Frame = Request | Notification | Answer | Noise


class TooDeepError(ValueError):
    """A line with more levels than we take; ``top`` is what stands on its first."""

    def __init__(self, top: Any) -> None:
        super().__init__(TOO_DEEP)
        self.top = top


def loaded(line: str) -> Any:
    """The JSON of a line.

    Raises:
        TooDeepError: it has more than 100 levels.
        ValueError: it is none.
    """
    try:
        data = orjson.loads(line)
    except ValueError:
        # Half of a surrogate pair, NaN, or a number of any size: rare, and no reason to lose it.
        try:
            data = _mended(json.loads(line))
        except RecursionError:
            raise TooDeepError(_top(line)) from None
    if line.count("{") + line.count("[") > DEEPEST and deeper(data, DEEPEST):
        raise TooDeepError(_top(line))
    return data


def _top(line: str) -> Any:
    """The first level of a line of any depth, with an empty list for whatever lies below.

    Raises:
        ValueError: not even that is JSON.
    """
    kept: list[str] = []
    depth = since = 0
    for token in _TOKEN.finditer(line):
        if token[0] in ("{", "["):
            depth += 1
            if depth == 2:
                kept.append(line[since : token.start()] + "[")
        elif token[0] in ("}", "]"):
            if depth == 2:
                kept.append("]")
                since = token.end()
            depth -= 1
    kept.append(line[since:])
    return _mended(json.loads("".join(kept)))


def _mended(value: Any) -> Any:
    match value:
        case str():
            return whole_characters(value)
        case int() if not -(2**63) <= value < 2**64:
            return float(value) if abs(value) < 1e300 else None
        case float() if not isfinite(value):
            return None
        case dict():
            return {whole_characters(key): _mended(item) for key, item in value.items()}
        case list():
            return [_mended(item) for item in value]
        case _:
            return value


def frame(data: Any) -> Frame:
    """What a line's JSON says."""
    if not isinstance(data, dict):
        return Noise("no object")
    method = data.get("method")
    if isinstance(data.get("id"), dict | list):
        # It would have to be sent back, and the executor fills in objects of some shapes.
        return Noise("an id that is neither text nor number")
    if isinstance(method, str):
        params = data.get("params")
        params = params if isinstance(params, dict) else {}
        if "id" in data:
            return Request(data["id"], method, params)
        return Notification(method, params)
    if "id" not in data:
        return Noise("neither method nor id")
    error = data.get("error")
    if error is not None:
        return Answer(data["id"], error=error if isinstance(error, dict) else {"message": error})
    return Answer(data["id"], result=data.get("result"))


def same_id(ours: int, theirs: Any) -> bool:
    """Whether an answer's id is that of our request; some peers turn numbers into strings."""
    if isinstance(theirs, bool):
        return False
    return bool(theirs == ours) or theirs == str(ours)


def _line(data: dict[str, Any]) -> str:
    whole = {"jsonrpc": "2.0", **data}
    try:
        return orjson.dumps(whole).decode()
    except TypeError:
        # Half of a surrogate pair in what a client or an old message holds; see `loaded`.
        return orjson.dumps(_mended(whole)).decode()


def request(n: int, method: str, params: dict[str, Any]) -> str:
    return _line({"id": n, "method": method, "params": params})


def notification(method: str, params: dict[str, Any]) -> str:
    return _line({"method": method, "params": params})


def result(request_id: Any, value: Any) -> str:
    return _line({"id": request_id, "result": value})


def error(request_id: Any, code: int, message: str) -> str:
    return _line({"id": request_id, "error": {"code": code, "message": message}})


def cancel(session: str) -> str:
    return notification("session/cancel", {"sessionId": session})


def selected(request_id: Any, option: str) -> str:
    return result(request_id, {"outcome": {"outcome": "selected", "optionId": option}})


def cancelled(request_id: Any) -> str:
    return result(request_id, {"outcome": {"outcome": "cancelled"}})


def prompt(session: str, texts: Iterable[Text]) -> dict[str, Any]:
    """The params of a prompt of these texts."""
    said: list[Any] = [
        {"$blob": text.sha256} if isinstance(text, BlobRef) else text for text in texts
    ]
    return {"sessionId": session, "prompt": [{"type": "text", "text": one} for one in said]}


def text(value: Any) -> Text | None:
    """A string, or what stands for a long one; ``None`` for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and isinstance(value.get("$blob"), dict):
        blob = value["$blob"]
        match blob.get("sha256"), blob.get("length"), blob.get("head"):
            case str(sha256), int(length), str(begin):
                return BlobRef(sha256=sha256, length=length, head=begin)
    return None


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; what else is in it is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: Any, default: str = "") -> str:
    """A string that is short by its nature, or its beginning."""
    found = text(value)
    return default if found is None else head(found)


def short(value: Any, most: int, default: str = "") -> str:
    """A string of a list or a label, cut to ``most`` bytes."""
    found = string(value, default)
    data = found.encode("utf-8", "surrogatepass")
    if len(data) <= most:
        return found
    return data[: most - 3].decode("utf-8", "ignore") + "…"


def code(error_: dict[str, Any]) -> int | str | None:
    """An error's code; some agents send other things than JSON-RPC's."""
    found = error_.get("code")
    return found if isinstance(found, int | str) else None


def worded(error_: dict[str, Any]) -> str:
    """An error in the agent's words, with the details that some hide in ``data``."""
    message = string(error_.get("message")) or "an error without a message"
    data = error_.get("data")
    details = data.get("details") if isinstance(data, dict) else data
    if details is None and isinstance(data, dict) and data:
        details = orjson.dumps(data).decode()
    said = string(details)
    return f"{message}: {said}" if said and said not in message else message
