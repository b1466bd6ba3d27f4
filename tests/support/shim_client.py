"""A manager for tests: starts the real holder and speaks its frames; our service has no part."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sk_agents import frames
from tests.support import rooms
from tests.support.patience import PATIENCE

SHIM = Path(frames.__file__).with_name("shim.py")
AGENT = Path(__file__).with_name("scripted_agent.py")
FAR = 1 << 62


class Manager:
    """One connection to a holder. What comes is collected; :meth:`until` reads on."""

    def __init__(self, path: Path, *, out: int = 0, err: int = 0, want: int = FAR) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(path))
        self._frames = frames.Frames()
        self.out = b""
        self.err = b""
        self.out_at = out
        self.took: list[int] = []
        self.refused: list[tuple[int, int]] = []
        self.exit: dict[str, str] | None = None
        self.hello: frames.Hello | None = None
        self.closed = False
        self.until(lambda: self.hello is not None)
        self.send(frames.two(frames.ATTACH, out, err))
        self.want(want)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def want(self, out: int) -> None:
        self.send(frames.two(frames.WANT, out, FAR))

    def line(self, n: int, text: str) -> None:
        self.send(frames.one(frames.IN, n, text.encode() + b"\n"))

    def stop(self) -> None:
        self.send(frames.frame(frames.STOP))

    def done(self) -> None:
        self.send(frames.frame(frames.DONE))

    def turn(self, *, is_open: bool) -> None:
        self.send(frames.frame(frames.TURN, bytes((is_open,))))

    def close(self) -> None:
        self.socket.close()

    def until(self, true: Callable[[], bool]) -> None:
        """Read until ``true``."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert not self.closed, "the holder closed the connection"
            assert time.monotonic() < deadline, "the holder never said it"
            self.read()

    def read(self) -> None:
        data = self.socket.recv(1 << 18)
        if not data:
            self.closed = True
        for kind, payload in self._frames.feed(data):
            match kind:
                case frames.HELLO:
                    self.hello = frames.hello_from(payload)
                case frames.OUT:
                    offset, piece = frames.one_from(payload)
                    assert offset == self.out_at, "a hole in stdout"
                    self.out += piece
                    self.out_at += len(piece)
                case frames.ERR:
                    self.err += frames.one_from(payload)[1]
                case frames.TOOK:
                    self.took.append(frames.one_from(payload)[0])
                case frames.REFUSED:
                    self.refused.append(frames.two_from(payload))
                case frames.EXIT:
                    self.exit = frames.record_from(payload)

    def until_exit(self) -> dict[str, str]:
        self.until(lambda: self.exit is not None)
        assert self.exit is not None
        return self.exit


class Held:
    """One life's folder, and the holders started on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "alice.7"
        self.folder.mkdir(mode=0o700)
        self.socket = root / "s"
        self.shims: list[subprocess.Popen[bytes]] = []

    def start(
        self,
        *command: str,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        **settings: Any,
    ) -> "subprocess.Popen[bytes]":
        """Start a holder; settings are its times and caps."""
        arguments = list(command) or [sys.executable, str(AGENT)]
        names = ("PATH", "OF_TEST_RUN")
        kept = {name: os.environ[name] for name in names if name in os.environ}
        environment = kept | (env or {})
        description = frames.description(
            path=arguments[0].encode(),
            cwd=str(cwd or self.root).encode(),
            umask=0o022,
            arguments=[one.encode() for one in arguments],
            environment=[f"{name}={value}".encode() for name, value in environment.items()],
        )
        shim = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SHIM), str(self.folder), str(self.socket)]
            + [f"{name}={value}" for name, value in settings.items()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert shim.stdin is not None
        shim.stdin.write(description)
        shim.stdin.close()
        self.shims.append(shim)
        return shim

    def attach(self, **offsets: int) -> Manager:
        stdout = self.shims[-1].stdout
        assert stdout is not None
        stdout.read(1)  # the word that it listens; at the end of file, it did
        return Manager(self.socket, **offsets)

    def agent(self) -> int:
        """The agent's pid, once it is written down."""
        eventually((self.folder / "agent").exists)
        return int(frames.record_from((self.folder / "agent").read_bytes())["pid"])

    def text(self, name: str) -> str:
        return (self.root / name).read_text()


@contextmanager
def held() -> Iterator[Held]:
    """A folder for one life; whatever holds it at the end is killed, with its agent's session."""
    with rooms.folder("skh") as root:
        life = Held(root)
        try:
            yield life
        finally:
            for shim in life.shims:
                if shim.poll() is None:
                    shim.kill()
                shim.wait()
                assert shim.stdout is not None
                shim.stdout.close()
            record = life.folder / "agent"
            if record.exists():
                pid = int(frames.record_from(record.read_bytes())["pid"])
                if alive(pid):
                    os.killpg(pid, signal.SIGKILL)


def alive(pid: int) -> bool:
    """Whether the process runs (a zombie doesn't)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def there(pid: int) -> bool:
    """Whether the system still knows the process, be it a zombie."""
    return Path(f"/proc/{pid}").exists()


def eventually(true: Callable[[], object], timeout: float = PATIENCE) -> None:
    """Wait for something that no descriptor announces."""
    deadline = time.monotonic() + timeout
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)
