"""What an agent itself received and wrote, read from the recorder's files."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PROMPT = "session/prompt"
_OPENING = ("session/new", "session/load", "session/resume")


@dataclass(slots=True)
class Turn:
    """One prompt, and what was said until its response; ``ended`` is false when none came."""

    prompt: str
    said: str = ""
    ended: bool = False


@dataclass(slots=True)
class Life:
    """One process of an agent: its lines, and its turns in order."""

    agent: str
    pid: int
    lines_in: list[str] = field(default_factory=list)
    lines_out: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)


def lives(directory: Path) -> list[Life]:
    """Every life on record."""
    made = []
    for file in sorted(directory.glob("*.in")):
        agent, pid = file.stem.rsplit(".", 1)
        life = Life(agent, int(pid), _lines(file), _lines(file.with_suffix(".out")))
        life.turns = _turns(life)
        made.append(life)
    return made


def _lines(file: Path) -> list[str]:
    if not file.exists():
        return []
    # A line that was cut by the process's end is none.
    return file.read_bytes().decode().split("\n")[:-1]


def _turns(life: Life) -> list[Turn]:
    """The turns: an agent answers one prompt after the other, so the order of its lines tells."""
    asked: dict[Any, tuple[str, Any]] = {}
    for line in life.lines_in:
        message = json.loads(line)
        if "method" in message and "id" in message:
            asked[message["id"]] = (message["method"], message.get("params", {}))
    turns = {
        id_: Turn("\n\n".join(block.get("text", "") for block in params["prompt"]))
        for id_, (method, params) in asked.items()
        if method == _PROMPT
    }
    said = ""
    waiting = list(turns)
    for line in life.lines_out:
        message = json.loads(line)
        if message.get("method") == "session/update":
            update = message["params"]["update"]
            if update["sessionUpdate"] == "agent_message_chunk":
                said += update["content"].get("text", "")
        elif "method" not in message and message.get("id") in asked:
            method, _ = asked[message["id"]]
            if method == _PROMPT:
                turns[message["id"]].said = said
                turns[message["id"]].ended = True
                waiting.remove(message["id"])
            if method == _PROMPT or method in _OPENING:
                said = ""
    if waiting:
        turns[waiting[0]].said = said
    return list(turns.values())


def asked_in(prompt: str, texts: list[str]) -> str | None:
    """Which of the people's texts a prompt asks: the last one in it, alone in its words."""
    found = [
        (match.start(), text)
        for text in texts
        for match in re.finditer(rf"(?<!\S){re.escape(text)}(?!\S)", prompt)
    ]
    return max(found)[1] if found else None
