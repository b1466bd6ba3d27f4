"""A page without a browser: the WebSocket's client, with a page's habits and a page's memory.

It keeps what it was told and where it stands, so that a test can compare two of them.
"""

import uuid
from collections.abc import Callable
from typing import Any, Self

import orjson
from websockets.sync.client import ClientConnection, connect

from tests.support.patience import PATIENCE

WANT = ("public", "delta", "log", "result")


class PageClient:
    """One connection. ``resume`` is the (epoch, seq) where another one stopped."""

    def __init__(
        self,
        port: int,
        token: str,
        *,
        resume: tuple[int, int] | None = None,
        want: tuple[str, ...] = WANT,
    ) -> None:
        self._connecting = connect(
            f"ws://127.0.0.1:{port}/ws",
            origin=f"http://127.0.0.1:{port}",  # type: ignore[arg-type]
            max_size=None,
            compression=None,
            ping_interval=None,
        )
        self.socket: ClientConnection = self._connecting.__enter__()
        self.events: list[dict[str, Any]] = []
        self.results: dict[int, dict[str, Any]] = {}
        self.frames: list[dict[str, Any]] = []
        self._calls = 0
        self.say(
            t="hello",
            v=1,
            token=token,
            resume=None if resume is None else {"epoch": resume[0], "seq": resume[1]},
            want=list(want),
        )
        self.welcome = self.hear()
        self.epoch = self.welcome["epoch"]
        resumed = resume is not None and self.welcome["resumed"]
        self.seq: int = resume[1] if resumed and resume else self.welcome["seq"]

    def say(self, **frame: Any) -> None:
        self.socket.send(orjson.dumps(frame).decode())

    def hear(self, timeout: float = PATIENCE) -> dict[str, Any]:
        """The next frame, kept as a page keeps it."""
        frame: dict[str, Any] = orjson.loads(self.socket.recv(timeout))
        match frame["t"]:
            case "ev":
                self.events += frame["e"]
                self.seq = frame["e"][-1]["seq"]
            case "at" | "pong":
                self.seq = frame["seq"]
            case "resync":
                self.epoch, self.seq = frame["epoch"], frame["seq"]
            case "result" if frame["id"] is not None:
                self.results[frame["id"]] = frame
        self.frames.append(frame)
        return frame

    def until(self, enough: Callable[[Self], bool], timeout: float = PATIENCE) -> None:
        """Hear frames until ``enough`` says so."""
        while not enough(self):
            self.hear(timeout)

    def call(
        self, name: str, /, *, command: str | None = None, after: int = 0, **args: Any
    ) -> dict[str, Any]:
        """A call and its result; events that come meanwhile are kept."""
        self._calls += 1
        number = self._calls
        self.say(
            t="call",
            id=number,
            name=name,
            args=args,
            command=command or str(uuid.uuid4()),
            **({"after": after} if after else {}),
        )
        self.until(lambda page: number in page.results)
        return self.results[number]

    def of(self, type_: str) -> list[dict[str, Any]]:
        """The data of the events of one type."""
        return [event["data"] for event in self.events if event["type"] == type_]

    @property
    def seqs(self) -> list[int]:
        return [event["seq"] for event in self.events]

    @property
    def place(self) -> tuple[int, int]:
        return self.epoch, self.seq

    def close(self) -> None:
        self._connecting.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
