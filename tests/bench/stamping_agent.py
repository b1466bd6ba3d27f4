"""An ACP agent for measurements: each chunk says when it was written. Standard library only.

A prompt ``stamp N MS`` sends N chunks, MS milliseconds apart, each the time on CLOCK_MONOTONIC in
nanoseconds and a blank; ``flood N`` sends N numbered chunks as fast as the pipe takes them.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any


def send(message: dict[str, Any]) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def chunk(session: str) -> Callable[[str], bytes]:
    """What makes the line of a chunk out of its text."""
    before, after = (
        json.dumps(
            {
                "jsonrpc": "2.0",
                "method": "session/update",
                "params": {
                    "sessionId": session,
                    "update": {
                        "sessionUpdate": "agent_message_chunk",
                        "content": {"type": "text", "text": "|"},
                    },
                },
            }
        )
        .encode()
        .split(b"|")
    )
    return lambda text: before + text.encode() + after + b"\n"


def stamp(session: str, count: int, pause: float) -> None:
    line = chunk(session)
    for _ in range(count):
        os.write(1, line(f"{time.monotonic_ns()} "))
        time.sleep(pause)


def flood(session: str, count: int) -> None:
    line = chunk(session)
    for first in range(0, count, 50):
        data = b"".join(line(f"{n} ") for n in range(first, min(first + 50, count)))
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            return {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
        case "session/new":
            return {"sessionId": "s1"}
        case "session/prompt":
            match params["prompt"][-1]["text"].split():
                case ["stamp", count, pause]:
                    stamp(params["sessionId"], int(count), float(pause) / 1000)
                case ["flood", count]:
                    flood(params["sessionId"], int(count))
            return {"stopReason": "end_turn"}
        case _:
            return {}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params", {}))
            send({"id": message["id"], "result": result})


if __name__ == "__main__":
    main()
