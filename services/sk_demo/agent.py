"""``sk-demo-agent``: reads stdin, keeps time, writes stdout; the rest is :mod:`sk_demo.protocol`.

Standard library only and no asyncio, so that it starts in a few hundredths of a second. It ends
when stdin ends.
"""

import json
import os
import select
import sys
import time
from typing import Any

from sk_demo.messages import Message
from sk_demo.protocol import Agent, Ended

VERSION = "1.0"
_PACE = 15.0
_LONGEST_LINE = 64 * 1024 * 1024
# Without a pace, stdin is looked at once in so many steps, so that Stop still works.
_STEPS_A_LOOK = 32


def main() -> None:
    if "--version" in sys.argv[1:]:
        sys.stdout.write(f"sk-demo-agent {VERSION}\n")
        return
    if sys.stdin.isatty():
        sys.stderr.write(
            "sk-demo-agent speaks the Agent Client Protocol on stdin and stdout; a client starts "
            'it.\nTalk with it in Sidekicks: sk-cli send @demo "hello" --wait\n'
        )
        sys.exit(2)
    try:
        sys.exit(_served(Agent(pace=_pace(), version=VERSION)))
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)  # the client is gone: there is nobody to say anything to


def _served(agent: Agent) -> int:
    """Serve until stdin ends; the exit code."""
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    lines = _Lines()
    while True:
        if poll.poll(_wait(agent.due())):
            data = os.read(0, 65536)
            if not data:
                return 0
            for line in lines.fed(data):
                _send(_handled(agent, line))
        try:
            for _ in range(_STEPS_A_LOOK):
                due = agent.due()
                if due is None or due > _now():
                    break
                _send(agent.step(_now()))
        except Ended as ended:
            for word in ended.lines:
                sys.stderr.write(f"{word}\n")
            return ended.code


def _handled(agent: Agent, line: bytes) -> list[Message]:
    if not line.strip():
        return []
    try:
        message: Any = json.loads(line)
    except ValueError as error:
        problem = {"code": -32700, "message": f"not JSON: {error}"}
        return [{"jsonrpc": "2.0", "id": None, "error": problem}]
    return agent.handle(message, _now())


def _send(messages: list[Message]) -> None:
    if not messages:
        return
    data = b"".join(
        json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        for message in messages
    )
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def _wait(due: float | None) -> float | None:
    """Milliseconds to wait for stdin."""
    return None if due is None else max(0.0, due - _now())


def _now() -> float:
    return time.monotonic() * 1000


def _pace() -> float:
    """Milliseconds a beat: one word of an answer."""
    given = os.environ.get("SK_DEMO_PACE", "")
    try:
        return max(0.0, float(given)) if given else _PACE
    except ValueError:
        sys.stderr.write(f"SK_DEMO_PACE={given!r} is no number of milliseconds; using {_PACE}\n")
        return _PACE


class _Lines:
    """Cuts stdin into lines without copying a long one again and again."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def fed(self, data: bytes) -> list[bytes]:
        *complete, rest = data.split(b"\n")
        lines = []
        for piece in complete:
            lines.append(b"".join([*self._parts, piece]))
            self._parts, self._length = [], 0
        if rest:
            self._parts.append(rest)
            self._length += len(rest)
        if self._length > _LONGEST_LINE:
            sys.stderr.write("a line of more than 64 MiB on stdin; giving up\n")
            sys.exit(1)
        return lines


if __name__ == "__main__":
    main()
