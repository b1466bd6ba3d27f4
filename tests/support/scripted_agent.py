"""An ACP agent that misbehaves on demand, and knows nothing of Sidekicks.

Standard library only: ``python scripted_agent.py``. The text of a prompt says what it does, one
command after the other, separated by blanks or lines; a word that is no command is said back.
:mod:`scripted_turn` lists what it does when all is well, :mod:`scripted_faults` what it does
otherwise; here is the rest, chosen by the environment.

    SA_RECORD=FILE         append "<pid> <line>" for every line it receives
    SA_CHILDREN=FILE       append the pids of what it starts
    SA_LEAVES=1            start two processes that ignore SIGTERM before anything else

    SA_EXIT_ON_START=CODE  say why on stderr, and exit
    SA_BANNER=TEXT         a line on stdout first
    SA_STDERR=N            N bytes on stderr first, in one line
    SA_STDERR_LINES=N      N lines on stderr first
    SA_BINARY=N            N random bytes on stderr first
    SA_CHATTER=SECONDS     a line on stderr again and again
    SA_IGNORE_EOF=1        stay when stdin ends
    SA_IGNORE_TERM=1       stay when asked by SIGTERM

    SA_INIT_DELAY=SECONDS, SA_INIT_ERROR=TEXT, SA_INIT_SILENT=1
    SA_INIT_ID=wrong       answer initialize under an id that nobody used; ``string``: as a string
    SA_VERSION=N           the protocol version it answers; ``echo``: the one it was asked for;
                           ``error``: none, it refuses; anything else as it is

    SA_NEW_DELAY=SECONDS, SA_NEW_ERROR=TEXT, SA_NEW_SILENT=1
    SA_NEW_EMPTY=1         session/new without a sessionId
    SA_SAME_SESSION=1      the same sessionId every time
    SA_EARLY=1             updates of a session before the answer to session/new
    SA_MODES=1             sessions have modes
    SA_CONFIG=1            sessions have options; ``boolean``: one of a kind that the client didn't
                           advertise; ``partial``: setting one answers with that one alone

    SA_SESSIONS=FOLDER     keep what is said in each session, over one's own end
    SA_LOAD=HOW            advertise session/load; SA_RESUME=HOW session/resume. HOW: ``yes``;
                           ``null`` answers null; ``nothing`` knows it and replays nothing;
                           ``after`` replays after the answer; ``replays`` replays before it (load
                           does anyhow); a number refuses with it as the code; ``silent``
    SA_CLOSE=1             advertise session/close
    SA_AUTH=HOW            session/new (load, resume) needs a login. ``yes``: it has a method;
                           ``terminal``: one that needs a terminal; ``none``: it names none;
                           ``refuses`` and ``silent`` say how authenticate ends; ``optional``: it
                           has a method and needs none; ``expires``: each prompt needs it anew

    SA_LATE_CANCEL=SECONDS between a cancel and its effect
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

# Run by its path, it is no part of a package yet.
sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.scripted_faults import Turn
from tests.support.scripted_sessions import Sessions

STUBBORN = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
NOT_FOUND = -32601
LOGIN = -32000

Message = dict[str, Any]


def chosen(name: str) -> str:
    return os.environ.get(f"SA_{name}", "")


class Scripted:
    """The agent. Lines come in on the main thread; each turn runs on one of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._record = chosen("RECORD")
        self._answers: dict[str, queue.Queue[Message]] = {}
        self._requests = 0
        self._cancelled: dict[str, threading.Event] = {}
        self._deaf = False
        self._sessions = Sessions(self)
        self.last_id: Any = None
        self.string_ids = False
        self.logged_in = False

    # --- in and out -------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        with self._lock:
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]

    def send(self, message: Message) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        self.write(text.encode() + b"\n")

    def answer(self, request_id: Any, result: Any) -> None:
        self.send({"id": request_id, "result": result})

    def refuse(self, request_id: Any, code: int, message: str, **more: Any) -> None:
        self.send({"id": request_id, "error": {"code": code, "message": message, **more}})

    def update(self, session: str, kind: str, /, **fields: Any) -> None:
        self._sessions.keep(session, kind, fields)
        self.send(
            {
                "method": "session/update",
                "params": {"sessionId": session, "update": {"sessionUpdate": kind, **fields}},
            }
        )

    def say(self, session: str, text: str) -> None:
        self.update(session, "agent_message_chunk", content={"type": "text", "text": text})

    def request(self, method: str, params: Message, **given: Any) -> "queue.Queue[Message]":
        """Ask the client; ``id`` may be given. The answer comes in the queue."""
        self._requests += 1
        request_id: Any = f"r-{self._requests}" if self.string_ids else self._requests
        self.last_id = request_id = given.get("id", request_id)
        answer: queue.Queue[Message] = queue.Queue()
        self._answers[json.dumps(request_id)] = answer
        self.send({"id": request_id, "method": method, "params": params})
        return answer

    def run(self) -> None:
        for line in sys.stdin.buffer:
            while self._deaf:
                time.sleep(3600)
            if self._record:
                with Path(self._record).open("ab") as file:
                    file.write(b"%d %s\n" % (os.getpid(), line.rstrip(b"\n")))
            message = json.loads(line)
            if "method" in message:
                self.called(message)
            else:
                # Told apart by type as well: 0, "0" and null are three ids.
                waiting = self._answers.pop(json.dumps(message["id"]), None)
                if waiting is not None:
                    waiting.put(message)
        if chosen("IGNORE_EOF"):
            while True:
                time.sleep(3600)

    def called(self, message: Message) -> None:
        params = message.get("params", {})
        match message["method"]:
            case "initialize":
                self.initialize(message["id"], params)
            case "authenticate":
                self.authenticate(message["id"])
            case "logout":
                self.logged_in = False
                self.answer(message["id"], {})
            case "session/prompt":
                self.prompted(message)
            case "session/cancel":
                time.sleep(float(chosen("LATE_CANCEL") or "0"))
                self.cancel(params["sessionId"])
            case str(method) if method.startswith("session/"):
                self._sessions.called(method, message["id"], params)
            case method if "id" in message:
                self.refuse(message["id"], NOT_FOUND, f"no method {method}")

    def initialize(self, request_id: Any, params: Message) -> None:
        time.sleep(float(chosen("INIT_DELAY") or "0"))
        if chosen("INIT_SILENT"):
            return
        if error := chosen("INIT_ERROR"):
            self.refuse(request_id, -32603, error)
            return
        version: Any = chosen("VERSION") or "1"
        match version:
            case "error":
                asked = params["protocolVersion"]
                self.refuse(request_id, -32602, f"unsupported protocol version {asked}")
                return
            case "echo":
                version = params["protocolVersion"]
            case _ if version.lstrip("-").isdigit():
                version = int(version)
        request_id = {"wrong": 4711, "string": str(request_id)}.get(chosen("INIT_ID"), request_id)
        sessions: Message = {
            name: {} for name in ("resume", "close") if chosen(name.upper()) not in ("", "0")
        }
        result: Message = {
            "protocolVersion": version,
            "agentCapabilities": {
                "loadSession": bool(chosen("LOAD")),
                "sessionCapabilities": sessions,
                "promptCapabilities": {},
                "mcpCapabilities": {"http": bool(chosen("HTTP")), "sse": bool(chosen("SSE"))},
            },
            "agentInfo": {"name": "scripted", "version": "1"},
        }
        if methods := self.methods():
            result["authMethods"] = methods
        self.answer(request_id, result)

    # --- login ------------------------------------------------------------------------------

    def methods(self) -> list[Message]:
        match chosen("AUTH"):
            case "" | "none":
                return []
            case "terminal":
                return [{"type": "terminal", "id": "tty", "name": "In a terminal", "args": ["-l"]}]
            case _:
                return [{"id": "login", "name": "Log in", "description": "With a browser"}]

    def authenticate(self, request_id: Any) -> None:
        match chosen("AUTH"):
            case "refuses":
                self.refuse(request_id, LOGIN, "Login failed")
            case "silent":
                return
            case _:
                self.logged_in = True
                self.answer(request_id, {})

    def gated(self, request_id: Any) -> bool:
        """Whether a login is missing; then the request is refused."""
        if chosen("AUTH") in ("", "optional") or self.logged_in:
            return False
        self.refuse(request_id, LOGIN, "Authentication required")
        return True

    # --- turns ------------------------------------------------------------------------------

    def prompted(self, message: Message) -> None:
        if self.gated(message["id"]):
            return
        if chosen("AUTH") == "expires":
            self.logged_in = False
        session = message["params"]["sessionId"]
        self._cancelled[session] = threading.Event()
        for block in message["params"]["prompt"]:
            self._sessions.keep(session, "user_message_chunk", {"content": block})
        threading.Thread(target=self.turn, args=(message,), daemon=True).start()

    def turn(self, message: Message) -> None:
        params = message["params"]
        turn = Turn(self, params["sessionId"], message["id"], params["prompt"])
        try:
            turn.perform()
        except Exception:
            # A mistake in a script must be seen in the answer: silence is a command of its own.
            self.refuse(message["id"], -32603, "the script failed", data=traceback.format_exc())
            raise

    def cancel(self, session: str) -> None:
        event = self._cancelled.get(session)
        if event:
            event.set()

    def cancelled(self, session: str) -> threading.Event:
        return self._cancelled[session]

    def be_deaf(self) -> None:
        self._deaf = True

    def start(self, *, apart: bool) -> None:
        start(apart=apart)


# --- what it starts, and how it starts ------------------------------------------------------------


def start(*, apart: bool) -> None:
    """Start a process that ignores SIGTERM: it holds our pipes, or it is ``apart``."""
    pipe = subprocess.DEVNULL if apart else None
    child = subprocess.Popen(
        [sys.executable, "-c", STUBBORN],
        start_new_session=apart,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    if path := chosen("CHILDREN"):
        with Path(path).open("a", encoding="ascii") as file:
            file.write(f"{child.pid}\n")


def complain(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(2, view) :]


def chatter(pause: float) -> None:
    while True:
        complain(b"still here\n")
        time.sleep(pause)


def main() -> None:
    if chosen("LEAVES"):
        start(apart=False)
        start(apart=True)
    if chosen("IGNORE_TERM"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if banner := chosen("BANNER"):
        os.write(1, banner.encode() + b"\n")
    if length := chosen("STDERR"):
        complain(b"e" * int(length) + b"\n")
    for k in range(int(chosen("STDERR_LINES") or "0")):
        complain(b"stderr line %d\n" % k)
    if length := chosen("BINARY"):
        complain(os.urandom(int(length)) + b"\n")
    if code := chosen("EXIT_ON_START"):
        complain(b"can't start: no licence\n")
        os._exit(int(code))
    if pause := chosen("CHATTER"):
        threading.Thread(target=chatter, args=(float(pause),), daemon=True).start()
    Scripted().run()


if __name__ == "__main__":
    main()
