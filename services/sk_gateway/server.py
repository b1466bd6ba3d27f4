"""uvicorn, as the gateway runs it: on a socket of ours, in a loop of ours, without its signals."""

import asyncio
import contextlib
import errno
import logging
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from sk_bus.paths import Instance
from sk_bus.seconds import until_next

if TYPE_CHECKING:
    from starlette.types import ASGIApp

FIRST_PORT = 8765
LONGEST_FRAME = 1_000_000
_TRIES = 100
_LAST_WORDS = 10.0


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: to end at once is always right."""
        yield

    async def main_loop(self) -> None:
        """Renew the date in headers each second, and nothing ten times a second."""
        while True:
            await self.on_tick(0)
            await asyncio.sleep(until_next(asyncio.get_running_loop().time()))


class _Connection(WebSocketsSansIOProtocol):
    """A WebSocket that can be closed although its browser reads nothing."""

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close":
            self.writable.set()
            self.loop.call_later(_LAST_WORDS, self.transport.abort)
        await super().send(message)


async def serve(app: "ASGIApp", listener: socket.socket) -> None:
    """Serve ``app`` for ever."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws=_Connection,
        ws_max_size=LONGEST_FRAME,
        ws_per_message_deflate=False,
        # The page pings by itself: a browser's silence is no reason to end it.
        ws_ping_interval=None,
        lifespan="off",
        loop="none",
        interface="asgi3",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )
    logging.getLogger("uvicorn.error").addFilter(is_failure)
    await _Server(config).serve(sockets=[listener])


def is_failure(record: logging.LogRecord) -> bool:
    """Whether a record of uvicorn's is one. That our own end cuts connections off is none."""
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)


def listening(instance: Instance) -> socket.socket:
    """A socket on the instance's own port, on loopback; if that is taken, on the next free one."""
    wanted = _port(instance)
    for port in range(wanted, wanted + _TRIES):
        # By its number: asyncio sets TCP_NODELAY on sockets of this protocol alone, and Nagle's
        # algorithm holds the second of two small frames back for 40 ms.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            listener.close()
            if error.errno != errno.EADDRINUSE:
                raise
            continue
        listener.listen(128)
        listener.settimeout(0)
        taken = listener.getsockname()[1]
        if taken != wanted or not instance.port.exists():
            _write(instance.port, f"{taken}\n")
        return listener
    raise OSError(
        errno.EADDRINUSE, f"no port from {wanted} to {wanted + _TRIES - 1} is free; set SK_PORT"
    )


def token(instance: Instance) -> str:
    """The instance's token, made the first time."""
    with contextlib.suppress(FileNotFoundError):
        return instance.token.read_text(encoding="ascii").strip()
    _write(instance.token, secrets.token_urlsafe(32))
    return instance.token.read_text(encoding="ascii").strip()


def _port(instance: Instance) -> int:
    with contextlib.suppress(FileNotFoundError, ValueError):
        return int(instance.port.read_text(encoding="ascii"))
    given = os.environ.get("SK_PORT", "")
    return int(given) if given.isdecimal() else FIRST_PORT


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="ascii")
    draft.replace(path)
