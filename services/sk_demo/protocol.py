"""The agent's side of ACP v1, as a machine: messages and time in, messages out.

It knows sessions, requests and turns, and plays the scene that a prompt asks for. It reads no
clock and no pipe: the shell hands in both.
"""

from dataclasses import dataclass, field
from typing import Any

from sk_demo.hearing import YOU, Said, heard
from sk_demo.messages import Message, refusal, result, update
from sk_demo.offers import SCENES, scene_for
from sk_demo.steps import Ask, Crash, Fail, Memory, Pause, Scene, Update, unreachable

VERSION = 1
_WINDOW = 32_000


class Ended(Exception):  # noqa: N818  it is no error of ours: a scene asked for it
    """The process is to end with ``code``, after ``lines`` on stderr."""

    def __init__(self, code: int, lines: tuple[str, ...]) -> None:
        self.code = code
        self.lines = lines
        super().__init__(f"asked to end with {code}")


@dataclass(slots=True)
class _Turn:
    """One prompt being answered. ``asked`` is our request that it waits for."""

    session: str
    request: Any
    scene: Scene
    due: float
    asked: str | None = None
    answer: str | None = None
    open_tools: dict[str, None] = field(default_factory=dict)


class Agent:
    """The whole agent. ``pace`` is the length of a beat in milliseconds."""

    def __init__(self, *, pace: float, version: str = "0") -> None:
        self._pace = pace
        self._version = version
        self._initialized = False
        self._sessions: dict[str, Memory] = {}
        self._turns: dict[str, _Turn] = {}
        self._opened = 0
        self._asks = 0

    def due(self) -> float | None:
        """When :meth:`step` has something to do, in the shell's milliseconds."""
        times = [turn.due for turn in self._turns.values() if turn.asked is None]
        return min(times) if times else None

    def handle(self, message: Any, now: float) -> list[Message]:
        """What is to be sent because ``message`` came."""
        if not isinstance(message, dict):
            return [refusal(None, -32600, "a message must be an object")]
        request = message.get("id")
        if "method" not in message:
            return self._answered(message, now)
        method = message["method"]
        params = message.get("params")
        if not isinstance(params, dict):
            params = {}
        if "id" not in message:
            return self._notified(method, params)
        if method == "initialize":
            return self._initialize(request)
        if not self._initialized:
            return [refusal(request, -32600, "initialize comes first")]
        match method:
            case "session/new":
                return self._new(request, params)
            case "session/prompt":
                return self._prompt(request, params, now)
            case "session/close":
                session = str(params.get("sessionId"))
                ended = self._cancel(session)
                self._sessions.pop(session, None)
                return [*ended, result(request, {})]
            case "authenticate":
                return [result(request, {})]
            case _:
                return [refusal(request, -32601, f"no such method: {method}")]

    def step(self, now: float) -> list[Message]:
        """What is to be sent because it is ``now``.

        Raises:
            Ended: a scene asked for the end of the process.
        """
        sent: list[Message] = []
        for turn in list(self._turns.values()):
            if turn.asked is None and turn.due <= now:
                sent += self._advance(turn, now)
        return sent

    # --- requests and notifications ---------------------------------------------------------

    def _initialize(self, request: Any) -> list[Message]:
        self._initialized = True
        return [
            result(
                request,
                {
                    "protocolVersion": VERSION,
                    "agentCapabilities": {
                        "loadSession": False,
                        "promptCapabilities": {
                            "image": False,
                            "audio": False,
                            "embeddedContext": True,
                        },
                        "sessionCapabilities": {"close": {}},
                    },
                    "agentInfo": {
                        "name": "sk-demo-agent",
                        "title": "Demo agent",
                        "version": self._version,
                    },
                    "authMethods": [],
                },
            )
        ]

    def _new(self, request: Any, params: dict[str, Any]) -> list[Message]:
        cwd = params.get("cwd")
        if not isinstance(cwd, str) or not cwd.startswith("/"):
            return [refusal(request, -32602, "cwd must be an absolute path")]
        self._opened += 1
        session = f"demo-{self._opened}"
        self._sessions[session] = Memory()
        announced = [
            {
                "name": offer.word,
                "description": offer.shows,
                **({"input": {"hint": offer.hint}} if offer.hint else {}),
            }
            for offer in SCENES.values()
        ]
        return [
            result(request, {"sessionId": session}),
            update(
                session,
                {"sessionUpdate": "available_commands_update", "availableCommands": announced},
            ),
        ]

    def _prompt(self, request: Any, params: dict[str, Any], now: float) -> list[Message]:
        session = str(params.get("sessionId"))
        memory = self._sessions.get(session)
        if memory is None:
            return [refusal(request, -32602, f"no such session: {session}")]
        if session in self._turns:
            return [refusal(request, -32600, "a prompt of this session is being answered")]
        before, message = heard(params.get("prompt"))
        memory.turns += 1
        memory.heard += before
        memory.used += sum(len(said.text) for said in (*before, Said(message))) // 4
        scene = scene_for(message, memory)
        memory.heard.append(Said(message, YOU))
        self._turns[session] = _Turn(session, request, scene, now)
        return []

    def _notified(self, method: Any, params: dict[str, Any]) -> list[Message]:
        if method == "session/cancel":
            return self._cancel(str(params.get("sessionId")))
        if method == "$/cancel_request":
            for turn in self._turns.values():
                if turn.request == params.get("requestId"):
                    withdrawn = _withdrawn(turn)
                    return [
                        *withdrawn,
                        *self._end(turn, refusal(turn.request, -32800, "cancelled")),
                    ]
        return []

    def _cancel(self, session: str) -> list[Message]:
        turn = self._turns.get(session)
        if turn is None:
            return []
        # A pending permission is answered with "cancelled" by the client; that answer comes too
        # late to be of use, and is ignored.
        return self._end(turn, result(turn.request, {"stopReason": "cancelled"}))

    def _answered(self, message: Message, now: float) -> list[Message]:
        """The client's answer to one of our permission requests."""
        for turn in self._turns.values():
            if turn.asked is not None and turn.asked == message.get("id"):
                turn.asked = None
                turn.answer = _option_of(message)
                turn.due = now
                return []
        return []

    # --- turns ------------------------------------------------------------------------------

    def _advance(self, turn: _Turn, now: float) -> list[Message]:
        answer, turn.answer = turn.answer, None
        memory = self._sessions[turn.session]
        try:
            step = turn.scene.send(answer)
        except StopIteration as end:
            usage = update(
                turn.session,
                {
                    "sessionUpdate": "usage_update",
                    "used": min(memory.used, _WINDOW),
                    "size": _WINDOW,
                },
            )
            return [usage, *self._end(turn, result(turn.request, {"stopReason": end.value}))]
        match step:
            case Update(body, beats):
                # Late by less than a beat is made up for; a longer delay moves everything.
                turn.due = max(turn.due, now - self._pace) + beats * self._pace
                memory.used += _tokens(body)
                _keep_tools(turn, body)
                return [update(turn.session, body)]
            case Pause(beats, ms):
                turn.due = now + beats * self._pace + ms
                return []
            case Ask(tool, options):
                self._asks += 1
                turn.asked = f"ask-{self._asks}"
                return [
                    {
                        "jsonrpc": "2.0",
                        "id": turn.asked,
                        "method": "session/request_permission",
                        "params": {
                            "sessionId": turn.session,
                            "toolCall": tool,
                            "options": list(options),
                        },
                    }
                ]
            case Fail(text, details):
                why = refusal(turn.request, -32603, text, {"details": details})
                return self._end(turn, why)
            case Crash(code, lines):
                raise Ended(code, lines)
        return unreachable(step)

    def _end(self, turn: _Turn, response: Message) -> list[Message]:
        del self._turns[turn.session]
        turn.scene.close()
        unfinished = [
            update(
                turn.session,
                {"sessionUpdate": "tool_call_update", "toolCallId": tool, "status": "failed"},
            )
            for tool in turn.open_tools
        ]
        return [*unfinished, response]


def _withdrawn(turn: _Turn) -> list[Message]:
    if turn.asked is None:
        return []
    return [{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": turn.asked}}]


def _keep_tools(turn: _Turn, body: dict[str, Any]) -> None:
    tool = body.get("toolCallId")
    if tool is None:
        return
    if body.get("status") in ("completed", "failed"):
        turn.open_tools.pop(tool, None)
    else:
        turn.open_tools[tool] = None


def _tokens(body: dict[str, Any]) -> int:
    """About as many tokens as a model would have spent on an update."""
    return 1 + len(str(body.get("content", ""))) // 60


def _option_of(message: Message) -> str | None:
    match message.get("result"):
        case {"outcome": {"outcome": "selected", "optionId": str(option)}}:
            return option
        case _:
            return None
