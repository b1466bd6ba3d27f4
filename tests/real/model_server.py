"""The scripted model on a free port of loopback: HTTP around ``asking``, ``script`` and
``speaking``, and a log of what it was asked and what it answered.

``python -m tests.real.model_server [--port N] [--log FILE]`` runs it by itself, for a look at an
agent by hand; the first line of its output says where it is.
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.real.asking import Asked, Json, asked
from tests.real.script import Call, Fail, Say, SayUntil, answer, prompt, say
from tests.real.speaking import Event, Piece, writer

_MOST_WORDS = 9000  # of an answer that nobody ends: three minutes


@dataclass(slots=True)
class Entry:
    """One request. ``text`` is what has been sent so far; ``ended``: all of it was."""

    asked: Asked
    prompt: str
    text: str = ""
    calls: list[Call] = field(default_factory=list)
    ended: bool = False
    hung_up: bool = False

    @property
    def everything(self) -> str:
        """All that the model was told."""
        return "\n".join((self.asked.system, *(one.text for one in self.asked.said)))


class ModelServer:
    """Listens from its making on; use it as a context manager."""

    def __init__(self, *, port: int = 0, log: Path | None = None) -> None:
        self.log: list[Entry] = []
        self.unknown: list[str] = []  # paths that nothing here answers
        self._file = log
        self._lock = threading.Lock()
        self._released: set[str] = set()
        self._http = _Server(("127.0.0.1", port), _Handler)
        self._http.model = self
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def release(self, key: str) -> None:
        """Let the answer that goes on until then come to its end."""
        self._released.add(key)

    def about(self, words: str) -> list[Entry]:
        """The requests in whose prompt these words stand, in order, those for titles not."""
        with self._lock:
            return [one for one in self.log if words in one.prompt and one.asked.tools]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- for the handler ------------------------------------------------------------------------

    def entered(self, asked: Asked) -> tuple[int, Entry]:
        entry = Entry(asked, prompt(asked))
        with self._lock:
            self.log.append(entry)
            return len(self.log), entry

    def pieces(self, entry: Entry) -> Iterator[Piece]:
        """What is to be said, at the pace at which it is."""
        for step in answer(entry.asked):
            match step:
                case Say(words, apart):
                    for word in words:
                        time.sleep(apart)
                        yield word
                case SayUntil(key, apart):
                    for n in range(1, _MOST_WORDS):
                        if key in self._released:
                            break
                        time.sleep(apart)
                        yield f"word{n} "
                    yield from say("the end.").words
                case Call():
                    yield step
                case Fail():
                    raise AssertionError("an error is no piece of an answer")

    def noted(self, entry: Entry) -> None:
        """Write an entry that is over into the file, where there is one."""
        if self._file is None:
            return
        line = {
            "dialect": entry.asked.dialect,
            "model": entry.asked.model,
            "prompt": entry.prompt,
            "tools": [tool.name for tool in entry.asked.tools],
            "text": entry.text,
            "calls": [call.name for call in entry.calls],
            "ended": entry.ended,
            "hung_up": entry.hung_up,
        }
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ModelServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Nothing on stderr: the log is ours."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].rstrip("/")
        if path.endswith("/models"):
            self._reply({"object": "list", "data": [_model("scripted")], "has_more": False})
        elif "/models/" in path:
            self._reply(_model(path.rpartition("/")[2]))
        else:
            self._unknown()

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0].rstrip("/")
        tokens = max(1, len(raw) // 4)
        if path.endswith(("/count_tokens", ":countTokens")):
            self._reply({"input_tokens": tokens, "totalTokens": tokens})
            return
        try:
            question = asked(path, json.loads(raw or b"{}"))
        except ValueError as error:
            self._reply(_error(f"no JSON: {error}"), 400)
            return
        if question is None:
            self._unknown()
            return
        n, entry = self.server.model.entered(question)
        match answer(question):
            case (Fail(status), *_):
                self._reply(_error("a scripted failure"), status)
            case _:
                self._answer(n, entry, tokens)
        self.server.model.noted(entry)

    def _answer(self, n: int, entry: Entry, tokens: int) -> None:
        made = writer(n, entry.asked, tokens)
        try:
            if entry.asked.stream:
                self._head(200, {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
            self._send(entry, made.begin())
            for piece in self.server.model.pieces(entry):
                if isinstance(piece, Call):
                    entry.calls.append(piece)
                else:
                    entry.text += piece
                self._send(entry, made.piece(piece))
            self._send(entry, made.end())
            if not entry.asked.stream:
                self._reply(made.whole())
            entry.ended = True
        except OSError:
            entry.hung_up = True

    def _send(self, entry: Entry, events: list[Event]) -> None:
        if not entry.asked.stream:
            return
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {text}\n\n".encode())
            self.wfile.flush()

    def _unknown(self) -> None:
        self.server.model.unknown.append(self.path)
        self._reply(_error("no such page"), 404)

    def _reply(self, body: Json, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self._head(status, {"Content-Type": "application/json", "Content-Length": str(len(data))})
        self.wfile.write(data)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (headers | {"Connection": "close"}).items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True


def _model(name: str) -> Json:
    return {
        "id": name,
        "object": "model",
        "type": "model",
        "created": 0,
        "created_at": "2026-01-01T00:00:00Z",
        "owned_by": "scripted",
        "display_name": name,
        "context_length": 200_000,
        "max_model_len": 200_000,
    }


def _error(message: str) -> Json:
    return {"type": "error", "error": {"type": "api_error", "message": message}}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.real.model_server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    arguments = parser.parse_args()
    with ModelServer(port=arguments.port, log=arguments.log) as server:
        print(json.dumps({"address": server.address}), flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
