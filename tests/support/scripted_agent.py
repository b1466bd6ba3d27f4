"""An ACP agent that misbehaves on demand, and knows nothing of Sidekicks.

Standard library only: ``python scripted_agent.py``. The text of a prompt says what it does, one
command after the other, separated by blanks or lines; a word that is no command is said back.

    !say WORD          one chunk with that word
    !count N US        N chunks, the words "0 " … "N-1 ", US microseconds apart
    !stream N MS       as !count, in milliseconds (``1ms`` or ``1``)
    !permission [K]    ask K (1) times for permission, all at once, and wait for the answers
    !tool [ID]         a tool call and its completion
    !orphan ID         a tool_call_update for a call that was never announced
    !plan              a plan of two steps
    !thought WORD      one chunk of thought
    !usage             a usage_update
    !commands          an available_commands_update
    !unknown           an update, a content block and a request of kinds that nobody knows
    !image             an image block
    !noise             lines on stdout that are no ACP
    !bigline N         one chunk of N characters "x"
    !overlong N        one line of N bytes that is no JSON
    !split             one chunk whose line is written byte by byte, in UTF-8
    !stderr N          N lines on stderr
    !flood N           N bytes on stderr without a line end
    !late MS           answer the prompt, then send one more chunk after MS milliseconds
    !early             answer the prompt before its chunks
    !twice             answer the prompt twice
    !error             answer the prompt with an error
    !reason WORD       answer with that stopReason
    !string-ids        use strings as ids of requests from now on
    !exit N            exit with N in the middle of the turn
    !kill              SIGKILL oneself in the middle of the turn
    !half              write half a line, then exit 0
    !close             close stdout and stay
    !deaf              never read stdin again
    !silent            never answer the prompt, not even after a cancel
    !hang              do nothing until a cancel, then answer it
    !hang-cancel       do nothing until a cancel, and then neither
    !grandchild        start a process that ignores SIGTERM and holds stdout
    !daemon            start a process in a session of its own that ignores SIGTERM
    !env NAME          say the value of an environment variable
    !cwd               say the working directory
    !echo              say the whole prompt, block by block
    !wait MS           do nothing for a while

Environment: SA_RECORD (a file to which "<pid> <line>" is appended for every line it receives),
SA_CHILDREN (a file for the pids of what it starts), SA_INIT_DELAY (seconds), SA_VERSION (protocol
version to answer), SA_EXIT_ON_START (exit code), SA_INIT_ERROR, SA_INIT_SILENT, SA_NEW_DELAY
(seconds), SA_NEW_ERROR, SA_BANNER (a line on stdout first), SA_STDERR (bytes on stderr first),
SA_IGNORE_EOF and SA_IGNORE_TERM (stay on), SA_LOAD (advertise loadSession), SA_RESUME (advertise
resume), SA_LATE_CANCEL (seconds between a cancel and its effect), SA_AUTH (session/new wants a
login).
"""

import inspect
import json
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

STUBBORN = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"

Message = dict[str, Any]


class Scripted:
    """The agent. Lines come in on the main thread; each turn runs on one of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._record = os.environ.get("SA_RECORD")
        self._answers: dict[Any, queue.Queue[Message]] = {}
        self._requests = 0
        self._string_ids = False
        self._cancelled: dict[str, threading.Event] = {}
        self._sessions = 0
        self._deaf = False

    # --- in and out -------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        with self._lock:
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]

    def send(self, message: Message) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        self.write(text.encode() + b"\n")

    def update(self, session: str, kind: str, **fields: Any) -> None:
        self.send(
            {
                "method": "session/update",
                "params": {"sessionId": session, "update": {"sessionUpdate": kind, **fields}},
            }
        )

    def say(self, session: str, text: str) -> None:
        self.update(session, "agent_message_chunk", content={"type": "text", "text": text})

    def request(self, method: str, params: Message) -> queue.Queue[Message]:
        self._requests += 1
        request_id: Any = f"r-{self._requests}" if self._string_ids else self._requests
        answer: queue.Queue[Message] = queue.Queue()
        self._answers[request_id] = answer
        self.send({"id": request_id, "method": method, "params": params})
        return answer

    def run(self) -> None:
        for line in sys.stdin.buffer:
            if self._record:
                with Path(self._record).open("ab") as file:
                    file.write(b"%d %s\n" % (os.getpid(), line.rstrip(b"\n")))
            message = json.loads(line)
            if "method" in message:
                self.called(message)
            elif message.get("id") in self._answers:
                self._answers.pop(message["id"]).put(message)
            while self._deaf:
                time.sleep(3600)
        if os.environ.get("SA_IGNORE_EOF"):
            while True:
                time.sleep(3600)

    def called(self, message: Message) -> None:
        params = message.get("params", {})
        match message["method"]:
            case "initialize":
                self.initialize(message["id"])
            case "session/new":
                self.new(message["id"])
            case "session/load" | "session/resume":
                if message["method"] == "session/load":
                    self.say(params["sessionId"], "replayed ")
                self.send({"id": message["id"], "result": {}})
            case "session/prompt":
                self._cancelled[params["sessionId"]] = threading.Event()
                threading.Thread(target=self.turn, args=(message,), daemon=True).start()
            case "session/cancel":
                time.sleep(float(os.environ.get("SA_LATE_CANCEL", "0")))
                event = self._cancelled.get(params["sessionId"])
                if event:
                    event.set()
            case method if "id" in message:
                error = {"code": -32601, "message": f"no method {method}"}
                self.send({"id": message["id"], "error": error})

    def initialize(self, request_id: Any) -> None:
        time.sleep(float(os.environ.get("SA_INIT_DELAY", "0")))
        if os.environ.get("SA_INIT_SILENT"):
            return
        if error := os.environ.get("SA_INIT_ERROR"):
            self.send({"id": request_id, "error": {"code": -32603, "message": error}})
            return
        sessions: Message = {"resume": {}} if os.environ.get("SA_RESUME") else {}
        self.send(
            {
                "id": request_id,
                "result": {
                    "protocolVersion": int(os.environ.get("SA_VERSION", "1")),
                    "agentCapabilities": {
                        "loadSession": bool(os.environ.get("SA_LOAD")),
                        "sessionCapabilities": sessions,
                    },
                    "agentInfo": {"name": "scripted", "version": "1"},
                },
            }
        )

    def new(self, request_id: Any) -> None:
        time.sleep(float(os.environ.get("SA_NEW_DELAY", "0")))
        if os.environ.get("SA_AUTH"):
            error = {"code": -32000, "message": "Authentication required"}
            self.send({"id": request_id, "error": error})
        elif message := os.environ.get("SA_NEW_ERROR"):
            self.send({"id": request_id, "error": {"code": -32603, "message": message}})
        else:
            self._sessions += 1
            session = f"s-{os.getpid()}-{self._sessions}"
            self.send({"id": request_id, "result": {"sessionId": session}})

    # --- a turn -----------------------------------------------------------------------------

    def turn(self, message: Message) -> None:
        params = message["params"]
        session: str = params["sessionId"]
        text = "\n".join(block.get("text", "") for block in params["prompt"])
        turn = Turn(self, session, message["id"], params["prompt"])
        try:
            words = shlex.split(text, comments=False)
        except ValueError:
            words = text.split()
        turn.perform(words)
        turn.end()

    def cancelled(self, session: str) -> threading.Event:
        return self._cancelled[session]

    def be_deaf(self) -> None:
        self._deaf = True

    def use_string_ids(self) -> None:
        self._string_ids = True


class Turn:
    """One prompt, performed word by word."""

    def __init__(self, agent: Scripted, session: str, request_id: Any, prompt: list[Any]) -> None:
        self._agent = agent
        self._session = session
        self._id = request_id
        self._prompt = prompt
        self._reason = "end_turn"
        self._answered = False
        self._mute = False
        self._after: list[Callable[[], None]] = []

    def perform(self, words: list[str]) -> None:
        rest = list(words)
        while rest and not self._cancelled.is_set():
            word = rest.pop(0)
            name = word[1:].replace("-", "_")
            action = getattr(self, f"do_{name}", None) if word.startswith("!") else None
            if action is None:
                self._say(word + " ")
                continue
            parameters = list(inspect.signature(action).parameters.values())
            given = []
            for parameter in parameters:
                # What may be left out is a number: any other word is the next thing to say.
                optional = parameter.default is not parameter.empty
                if not rest or (optional and not rest[0][:1].isdigit()):
                    break
                given.append(rest.pop(0))
            action(*given)

    def end(self) -> None:
        if self._cancelled.is_set() and self._reason == "end_turn":
            self._reason = "cancelled"
        if not self._mute and not self._answered:
            self._answer()
        for action in self._after:
            action()

    @property
    def _cancelled(self) -> threading.Event:
        return self._agent.cancelled(self._session)

    def _answer(self) -> None:
        self._answered = True
        self._agent.send({"id": self._id, "result": {"stopReason": self._reason}})

    def _say(self, text: str) -> None:
        self._agent.say(self._session, text)

    # --- what it does when all is well ------------------------------------------------------

    def do_say(self, word: str) -> None:
        self._say(word)

    def do_count(self, number: str, pause: str = "0") -> None:
        for k in range(int(number)):
            if self._cancelled.is_set():
                return
            self._say(f"{k} ")
            if pause != "0":
                time.sleep(int(pause.removesuffix("us")) / 1e6)

    def do_stream(self, number: str, pause: str = "0") -> None:
        self.do_count(number, str(int(float(pause.removesuffix("ms")) * 1000)))

    def do_permission(self, times: str = "1") -> None:
        answers = []
        for k in range(int(times)):
            call = {
                "toolCallId": f"call-{self._id}-{k}",
                "title": f"Write file {k}",
                "kind": "edit",
            }
            options = [
                {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
                {"optionId": "always", "name": "Always", "kind": "allow_always"},
                {"optionId": "no", "name": "Reject", "kind": "reject_once"},
            ]
            params = {"sessionId": self._session, "toolCall": call, "options": options}
            answers.append(self._agent.request("session/request_permission", params))
        for answer in answers:
            outcome = answer.get().get("result", {}).get("outcome", {})
            self._say(f"[{outcome.get('optionId') or outcome.get('outcome')}] ")

    def do_tool(self, call: str = "tool-1") -> None:
        self._agent.update(
            self._session, "tool_call", toolCallId=call, title="Read", kind="read", status="pending"
        )
        block = {"type": "content", "content": {"type": "text", "text": "forty-two"}}
        self._agent.update(
            self._session, "tool_call_update", toolCallId=call, status="completed", content=[block]
        )

    def do_orphan(self, call: str = "orphan") -> None:
        self._agent.update(
            self._session, "tool_call_update", toolCallId=call, status="in_progress", title="Late"
        )

    def do_plan(self) -> None:
        steps = [
            {"content": "one", "priority": "high", "status": "completed"},
            {"content": "two", "priority": "low", "status": "pending"},
        ]
        self._agent.update(self._session, "plan", entries=steps)

    def do_thought(self, word: str) -> None:
        self._agent.update(
            self._session, "agent_thought_chunk", content={"type": "text", "text": word}
        )

    def do_usage(self) -> None:
        self._agent.update(self._session, "usage_update", used=1000, size=200000)

    def do_commands(self) -> None:
        commands = [{"name": "review", "description": "Review it", "input": {"hint": "what"}}]
        self._agent.update(self._session, "available_commands_update", availableCommands=commands)

    def do_image(self) -> None:
        block = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
        self._agent.update(self._session, "agent_message_chunk", content=block)

    def do_env(self, name: str) -> None:
        self._say(f"{name}={os.environ.get(name)} ")

    def do_cwd(self) -> None:
        self._say(str(Path.cwd()))

    def do_echo(self) -> None:
        self._say(json.dumps(self._prompt, ensure_ascii=False))

    def do_wait(self, pause: str) -> None:
        self._cancelled.wait(float(pause.removesuffix("ms")) / 1000)

    # --- and when it isn't ------------------------------------------------------------------

    def do_unknown(self) -> None:
        self._agent.update(self._session, "mood_changed", mood="fine")
        block = {"type": "hologram", "data": [1, 2]}
        self._agent.update(self._session, "agent_message_chunk", content=block)
        answer = self._agent.request("craft/drain", {"sessionId": self._session}).get()
        self._say(f"[{answer.get('error', {}).get('code')}] ")

    def do_noise(self) -> None:
        for line in (
            b"Starting\xe2\x80\xa6",
            b'"x"',
            b"12",
            b"null",
            b"[1]",
            b"{}",
            b'{"level":"info","id":1}',
            b"\x1b[31mred\x1b[0m",
            b"",
            b"\xff\xfe bad",
            b"with CR\r",
        ):
            self._agent.write(line + b"\n")

    def do_bigline(self, length: str) -> None:
        self._say("x" * int(length))

    def do_overlong(self, length: str) -> None:
        self._agent.write(b"y" * int(length) + b"\n")

    def do_split(self) -> None:
        block = {"type": "text", "text": "häppchen🍰 "}
        update = {"sessionUpdate": "agent_message_chunk", "content": block}
        params = {"sessionId": self._session, "update": update}
        message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        for byte in json.dumps(message, ensure_ascii=False).encode() + b"\r\n":
            self._agent.write(bytes((byte,)))
            time.sleep(0.0005)

    def do_stderr(self, number: str) -> None:
        for k in range(int(number)):
            os.write(2, b"stderr line %d\n" % k)

    def do_flood(self, length: str) -> None:
        view = memoryview(b"z" * int(length) + b"\n")
        while view:
            view = view[os.write(2, view) :]

    def do_late(self, pause: str) -> None:
        def late() -> None:
            time.sleep(float(pause.removesuffix("ms")) / 1000)
            self._say("late ")

        self._after.append(late)

    def do_early(self) -> None:
        self._answer()

    def do_twice(self) -> None:
        self._after.append(self._answer)

    def do_error(self) -> None:
        self._answered = True
        error = {"code": -32603, "message": "Internal error", "data": {"details": "no tokens"}}
        self._agent.send({"id": self._id, "error": error})

    def do_reason(self, word: str) -> None:
        self._reason = word

    def do_string_ids(self) -> None:
        self._agent.use_string_ids()

    def do_exit(self, code: str) -> None:
        os._exit(int(code))

    def do_kill(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_half(self) -> None:
        self._agent.write(b'{"jsonrpc": "2.0", "method": "session/upd')
        os._exit(0)

    def do_close(self) -> None:
        os.close(1)
        self._mute = True

    def do_deaf(self) -> None:
        self._agent.be_deaf()

    def do_silent(self) -> None:
        self._mute = True

    def do_hang(self) -> None:
        self._cancelled.wait()

    def do_hang_cancel(self) -> None:
        self._mute = True
        self._cancelled.wait()

    def do_grandchild(self) -> None:
        self._started(subprocess.Popen([sys.executable, "-c", STUBBORN]))

    def do_daemon(self) -> None:
        self._started(
            subprocess.Popen(
                [sys.executable, "-c", STUBBORN],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    def _started(self, child: "subprocess.Popen[bytes]") -> None:
        if path := os.environ.get("SA_CHILDREN"):
            with Path(path).open("a", encoding="ascii") as file:
                file.write(f"{child.pid}\n")


def main() -> None:
    if code := os.environ.get("SA_EXIT_ON_START"):
        os.write(2, b"can't start: no licence\n")
        os._exit(int(code))
    if os.environ.get("SA_IGNORE_TERM"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if banner := os.environ.get("SA_BANNER"):
        os.write(1, banner.encode() + b"\n")
    if length := os.environ.get("SA_STDERR"):
        view = memoryview(b"e" * int(length) + b"\n")
        while view:
            view = view[os.write(2, view) :]
    Scripted().run()


if __name__ == "__main__":
    main()
