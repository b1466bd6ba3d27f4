"""What the page connects to."""

import asyncio
import logging
import socket
from pathlib import Path

import pytest

from sk_bus import paths
from sk_gateway.server import is_failure, listening


def test_small_frames_go_out_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG_HOME", "STATE_HOME", "RUNTIME_DIR"):
        monkeypatch.setenv(f"XDG_{name}", str(tmp_path / name[:1].lower()))
    instance = paths.instance()
    instance.port.parent.mkdir(parents=True, exist_ok=True)

    async def accepted() -> int:
        options: asyncio.Queue[int] = asyncio.Queue()

        async def served(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            ours: socket.socket = writer.get_extra_info("socket")
            options.put_nowait(ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = listening(instance)
        async with await asyncio.start_server(served, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            option = await options.get()
            writer.close()
        return option

    assert asyncio.run(accepted()) != 0


@pytest.mark.parametrize(
    ("raised", "failure"),
    [(asyncio.CancelledError(), False), (ValueError("x"), True), (None, True)],
)
def test_connections_that_our_own_end_cuts_off_are_no_failure(
    raised: BaseException | None, *, failure: bool
) -> None:
    info = None if raised is None else (type(raised), raised, None)
    record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "said", None, info)
    assert is_failure(record) is failure
