"""What a scene may do, one value a step, and the updates of ACP that it is made of.

A scene is a generator: it yields steps, is sent the answer to an :class:`Ask`, and returns the stop
reason. It knows nothing of sessions, request ids, time or pipes.
"""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from sk_demo.hearing import Said

_CHUNKS = re.compile(r"\s*\S+\s*")


@dataclass(frozen=True, slots=True)
class Update:
    """Send one ``session/update``; ``beats`` pass after it."""

    body: dict[str, Any]
    beats: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """Say nothing for a while: ``beats`` follow the pace, ``ms`` are real milliseconds."""

    beats: int = 0
    ms: int = 0


@dataclass(frozen=True, slots=True)
class Ask:
    """Request permission; the scene goes on with the chosen option's id, ``None`` if cancelled."""

    tool: dict[str, Any]
    options: tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer the prompt with an error of JSON-RPC. The scene ends here."""

    message: str
    details: str


@dataclass(frozen=True, slots=True)
class Crash:
    """End the whole process with ``code``, after ``lines`` on stderr."""

    code: int
    lines: tuple[str, ...]


Step = Update | Pause | Ask | Fail | Crash
Scene = Generator[Step, str | None, str]
Part = Generator[Step, str | None, None]


@dataclass(slots=True)
class Memory:
    """What the agent remembers of one session; ``used`` tokens, the instructions of a model too.

    ``heard``: everything that it was told, oldest first.
    """

    turns: int = 0
    tools: int = 0
    used: int = 850
    allowed: set[str] = field(default_factory=set)
    heard: list[Said] = field(default_factory=list)

    def tool_id(self) -> str:
        self.tools += 1
        return f"call-{self.tools}"


def chunks(text: str) -> Iterator[str]:
    """``text`` word by word, its spaces and line ends kept: joined it is ``text`` again."""
    if not text.strip():
        if text:
            yield text
        return
    # A word takes the white space after it; white space at the very beginning goes with the first.
    yield from _CHUNKS.findall(text)


def said(text: str) -> Part:
    """Stream ``text`` as the answer."""
    for chunk in chunks(text):
        yield Update(_chunk("agent_message_chunk", chunk), beats=1)


def thought(text: str) -> Part:
    """Stream ``text`` as thinking."""
    for chunk in chunks(text):
        yield Update(_chunk("agent_thought_chunk", chunk), beats=1)


def _chunk(kind: str, text: str) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def planned(*steps: tuple[str, str, str]) -> Update:
    """The whole plan: (content, priority, status) a step."""
    return Update(
        {
            "sessionUpdate": "plan",
            "entries": [
                {"content": content, "priority": priority, "status": status}
                for content, priority, status in steps
            ],
        }
    )


def called(tool: str, title: str, kind: str, **rest: Any) -> Update:
    """A tool call begins."""
    return Update(
        {
            "sessionUpdate": "tool_call",
            "toolCallId": tool,
            "title": title,
            "kind": kind,
            "status": "pending",
            **rest,
        },
        beats=10,
    )


def progressed(tool: str, status: str, **rest: Any) -> Update:
    """A tool call goes on, or ends."""
    return Update(
        {"sessionUpdate": "tool_call_update", "toolCallId": tool, "status": status, **rest},
        beats=20,
    )


def shown(text: str) -> list[dict[str, Any]]:
    """A tool call's content of one text."""
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def unreachable(step: object) -> NoReturn:
    raise AssertionError(f"a scene yielded {step!r}, which is no step")
