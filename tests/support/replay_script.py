"""What a recording of an agent comes to, as something that can be played again. Nothing here plays.

A recording is what passed between an agent and another client, line by line. Played against us the
requests come when we make them: so it is cut into *scenes*, each a request of the client with all
that the agent sent because of it, and the places where it waited for the client. Standard library
only, as the agent that plays it runs by its path.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Frame = dict[str, Any]

TAKING_UP = ("session/load", "session/resume")
# A message that is sent to open a session to which the other client said nothing.
UNRECORDED = "a message that wasn't recorded"
OPENING = ("session/new", *TAKING_UP)


@dataclass(frozen=True)
class Say:
    """A frame of the agent, and its line in the recording."""

    line: int
    frame: Frame


@dataclass(frozen=True)
class Await:
    """The agent goes on when this came: ``reply`` (to its request ``id``), ``cancel`` or ``eof``.

    ``chosen`` is the option that a permission request was answered with in the recording, if any.
    """

    what: str
    id: Any = None
    chosen: str | None = None


@dataclass(eq=False)
class Scene:
    """A request of the client, and what the agent did then."""

    method: str
    id: Any
    params: Frame
    session: str | None = None
    meanwhile: bool = False
    """Whether another prompt was without an answer when this one came."""
    steps: list[Say | Await] = field(default_factory=list)

    @property
    def response(self) -> Frame | None:
        """The agent's answer to the request, if the recording has one."""
        for step in self.steps:
            if isinstance(step, Say) and is_answer(step.frame) and step.frame["id"] == self.id:
                return step.frame
        return None

    @property
    def text(self) -> str:
        """What the client's prompt said."""
        blocks = self.params.get("prompt") or []
        said = [block["text"] for block in blocks if block.get("type") == "text"]
        return "\n".join(said) or "something that is no text"


@dataclass
class Script:
    """A whole recording: its scenes in the order of the client's requests."""

    scenes: list[Scene] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)
    left_out: list[int] = field(default_factory=list)
    """Lines of the agent that answer what we never ask: other methods, broken frames."""

    def of(self, *methods: str) -> list[Scene]:
        return [scene for scene in self.scenes if scene.method in methods]

    def lines(self) -> list[int]:
        """The lines that the agent says, if everything is asked."""
        said = [step.line for one in self.scenes for step in one.steps if isinstance(step, Say)]
        return sorted(said)

    def earlier(self) -> list[str]:
        """The sessions that are taken up: an earlier life of the agent had opened them."""
        opened = {scene.session for scene in self.of("session/new")}
        taken = [one.session for one in self.of(*TAKING_UP) if one.session not in opened]
        return list(dict.fromkeys(one for one in taken if one is not None))


def is_answer(frame: Frame) -> bool:
    return "method" not in frame and "id" in frame


def read(path: Path, *, take_up: str = "session/load") -> Script:
    """The script of a recording.

    Where it takes one session up in both ways, only ``take_up`` is kept; with ``session/load`` the
    agent doesn't say that it could do the other, as we would rather be told nothing of the past.
    """
    with path.open(encoding="utf-8") as file:
        return script([json.loads(line) for line in file], take_up=take_up)


def script(entries: list[Frame], *, take_up: str = "session/load") -> Script:
    """The script of a recording's lines."""
    return _Cutting(entries, take_up).cut()


class _Cutting:
    """Cuts a recording, once."""

    def __init__(self, entries: list[Frame], take_up: str) -> None:
        self._entries = entries
        self._take_up = take_up
        self._made = Script()
        self._asked: dict[str, Scene] = {}  # what the client asked, by the JSON of its id
        self._asking: dict[str, Scene] = {}  # what the agent asked
        self._opened = self._sessions()
        self._taken_up = self._ways()
        self._dropped: list[Scene] = []

    def _messages(self) -> list[tuple[int, str, Frame]]:
        return [
            (line, entry["dir"], entry["msg"])
            for line, entry in enumerate(self._entries)
            if isinstance(entry.get("msg"), dict)
        ]

    def _sessions(self) -> dict[str, str]:
        """The session that each ``session/new`` opened, by the JSON of its id."""
        asked = {
            json.dumps(message["id"])
            for _, way, message in self._messages()
            if way == "client->agent" and message.get("method") == "session/new"
        }
        return {
            json.dumps(message["id"]): message["result"]["sessionId"]
            for _, way, message in self._messages()
            if way == "agent->client" and is_answer(message) and "sessionId" in _result(message)
            if json.dumps(message["id"]) in asked
        }

    def _ways(self) -> dict[str, set[str]]:
        """The methods by which each earlier session is taken up."""
        ways: dict[str, set[str]] = {}
        for _, way, message in self._messages():
            if way == "client->agent" and message.get("method") in TAKING_UP:
                ways.setdefault(message["params"]["sessionId"], set()).add(message["method"])
        return ways

    def cut(self) -> Script:
        for line, entry in enumerate(self._entries):
            message = entry.get("msg")
            match entry["dir"]:
                case "stderr":
                    self._made.stderr.append(str(entry["raw"]))
                case "note" if entry.get("event") == "client closes stdin":
                    for scene in self._open():
                        scene.steps.append(Await("eof"))
                case "client->agent" if isinstance(message, dict):
                    self._client(message)
                case "agent->client" if isinstance(message, dict):
                    self._agent(line, message)
        for scene in self._dropped:
            if not self._works(scene.session):
                continue  # then we fall back on the other way
            self._made.scenes.remove(scene)
            self._made.left_out += [one.line for one in scene.steps if isinstance(one, Say)]
        return self._made

    def _works(self, session: str | None) -> bool:
        """Whether the agent takes the session up in the way that is kept."""
        those = [one for one in self._made.of(self._take_up) if one.session == session]
        return any("result" in (one.response or {}) for one in those)

    def _open(self) -> list[Scene]:
        """The prompts that have no answer yet."""
        return [one for one in self._made.of("session/prompt") if one.response is None]

    def _client(self, message: Frame) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            asking = self._asking.get(json.dumps(message["id"]))
            if asking is not None:
                outcome = _result(message).get("outcome")
                chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
                asking.steps.append(Await("reply", message["id"], chosen))
        elif method == "session/cancel":
            for scene in self._open():
                if scene.session == params.get("sessionId"):
                    scene.steps.append(Await("cancel"))
        elif method in ("initialize", *OPENING, "session/prompt"):
            scene = Scene(method, message["id"], params, meanwhile=bool(self._open()))
            scene.session = self._session(message)
            self._made.scenes.append(scene)
            self._asked[json.dumps(message["id"])] = scene
            both = len(self._taken_up.get(str(scene.session), ())) > 1
            if method in TAKING_UP and method != self._take_up and both:
                self._dropped.append(scene)

    def _session(self, message: Frame) -> str | None:
        if message["method"] == "session/new":
            return self._opened.get(json.dumps(message["id"]))
        named = (message.get("params") or {}).get("sessionId")
        if named in self._taken_up or named in self._opened.values():
            return str(named)
        if message["method"] == "initialize":
            return None
        # A prompt to a session that never was: we make it to the last one, and hear the same error.
        known = [one.session for one in self._made.of(*OPENING) if one.session is not None]
        return known[-1] if known else None

    def _last(self, session: Any) -> Scene | None:
        """The scene that what the agent says of a session belongs to now."""
        those = [one for one in self._made.scenes if one.session == session]
        unanswered = [one for one in those if one.response is None]
        return next(iter(unanswered or those[-1:]), None) if session is not None else None

    def _agent(self, line: int, message: Frame) -> None:
        if is_answer(message):
            scene = self._asked.get(json.dumps(message["id"]))
        elif message["method"] == "$/cancel_request":
            scene = self._asking.get(json.dumps(message["params"]["requestId"]))
        else:
            scene = self._last((message.get("params") or {}).get("sessionId"))
            scene = scene or (self._made.scenes[-1] if self._made.scenes else None)
        if scene is None:
            self._made.left_out.append(line)
            return
        if "method" in message and "id" in message:
            self._asking[json.dumps(message["id"])] = scene
        if scene.method == "initialize" and self._take_up == "session/load" and self._taken_up:
            message = without_resume(message)
        scene.steps.append(Say(line, message))


def _result(message: Frame) -> Frame:
    result = message.get("result")
    return result if isinstance(result, dict) else {}


def without_resume(frame: Frame) -> Frame:
    """An answer to ``initialize`` that doesn't offer to resume sessions."""
    made: Frame = json.loads(json.dumps(frame))
    offered = _result(made).get("agentCapabilities")
    if isinstance(offered, dict) and isinstance(offered.get("sessionCapabilities"), dict):
        offered["sessionCapabilities"].pop("resume", None)
    return made
