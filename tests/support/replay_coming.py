"""How much of what an agent says has come to a person at the bus: so each step can wait for it."""

import itertools
import json
from pathlib import Path
from typing import Any

from sk_bus.internal import DoSend, FactFrame
from sk_bus.model import AgentName
from tests.support.conversing import Person
from tests.support.replay_script import Await, Say, Scene, Script


class Coming:
    """The agent's own record of what it said, held against the frames that came of it."""

    def __init__(self, me: Person, agent: AgentName, script: Script, record: Path) -> None:
        self._me = me
        self._agent = agent
        self._script = script
        self._record = record
        self._offset = 0
        self._noted: list[dict[str, Any]] = []
        self._read = 0  # events that were looked at
        self._frames = 0  # frames of the agent among them
        self._sent: dict[str, int] = {}  # prompts among them, by the session

    def noted(self) -> list[dict[str, Any]]:
        """What the agent wrote down so far: before it says a thing."""
        if self._record.exists():
            with self._record.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            self._offset += len(whole)
            self._noted += [json.loads(line) for line in whole.splitlines()]
        return self._noted

    def said(self) -> list[int]:
        """The lines of the recording that the agent has said, and that have come."""
        self._look()
        said = [one["said"] for one in self.noted() if "said" in one]
        return [line for line in said[: self._frames] if line is not None]

    def arrived(self, scene: Scene, count: int, lines: set[int]) -> bool:
        """Whether the session's ``count``-th prompt was sent, and all of ``lines`` has come."""
        self._look()
        return self._sent.get(str(scene.session), 0) >= count and lines <= set(self.said())

    def begun(self) -> list[Scene]:
        """The scenes that the agent has begun to play."""
        begun = [one["begun"] for one in self.noted() if "begun" in one]
        return [self._script.scenes[index] for index in dict.fromkeys(begun)]

    def where(self) -> str:
        """How far it came, for the message of a failure."""
        said, begun = set(self.said()), self.begun()
        unfinished = [
            f"{one.method} {one.id}: {[step for step in one.steps if isinstance(step, Await)]}"
            for one in begun
            if not said.issuperset(lines(one))
        ]
        waiting = [one.method for one in self._script.scenes if one not in begun]
        return f"{len(begun)} scenes begun, unfinished {unfinished}, not begun {waiting}"

    def _look(self) -> None:
        """Count what came since the last look."""
        for event in self._me.events[self._read :]:
            match event:
                case FactFrame() if event.agent == self._agent:
                    self._frames += 1
                case DoSend() if event.agent == self._agent and '"session/prompt"' in event.line:
                    session = json.loads(event.line)["params"]["sessionId"]
                    self._sent[session] = self._sent.get(session, 0) + 1
        self._read = len(self._me.events)


def lines(scene: Scene) -> list[int]:
    """What the agent must say of a scene: after the end of its stdin, it may be gone."""
    steps = itertools.takewhile(lambda step: step != Await("eof"), scene.steps)
    return [step.line for step in steps if isinstance(step, Say)]
