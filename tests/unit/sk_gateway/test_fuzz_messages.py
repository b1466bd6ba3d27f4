"""HTTP requests and WebSocket frames of anybody: an answer with the policy on it, never a failure.

The whole application is driven as uvicorn drives it, on a bus in memory.
"""

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sk_bus.errors import RefusedError
from sk_bus.events import Kind
from sk_bus.memory import MemoryBus
from sk_bus.model import Cursor
from sk_bus.queries import QUERIES
from sk_bus.supervisor import Supervisor
from sk_gateway.browser import BAD_TOKEN, House
from sk_gateway.calls import COMMANDS, Pulse, call_of
from sk_gateway.desk import Desk
from sk_gateway.guard import HEADERS, Guard
from sk_gateway.hub import Hub
from sk_gateway.incoming import cursor_of, wanted
from sk_gateway.static import Pages
from sk_gateway.web import application
from tests.support.patience import PATIENCE
from tests.support.strange import TEXTS, altered, briefly, spoilt, values

PORT, TOKEN = 8765, "the-token"
OURS = [(b"host", b"127.0.0.1:8765"), (b"origin", b"http://127.0.0.1:8765")]
BEARER = (b"authorization", b"Bearer the-token")
WORDS = ("t", "id", "name", "args", "command", "call", "ping", "channel", "text", "after")
HELLO = {"t": "hello", "v": 1, "token": TOKEN, "resume": None, "want": ["public"]}
CALL = {
    "t": "call",
    "id": 1,
    "name": "Send",
    "args": {"channel": "c1", "text": "x"},
    "command": "u",
}
FRAMES = st.one_of(
    altered(CALL, *WORDS),
    altered({"t": "ping", "id": 1}, *WORDS),
    altered({"t": "call", "id": 2, "name": "Blob", "args": {"sha256": "a", "offset": 0}}, *WORDS),
    st.builds(
        lambda name, args: {"t": "call", "id": 3, "name": name, "args": args, "command": "u-3"},
        st.sampled_from([*QUERIES, *COMMANDS, "Pulse", "RestartComponent", "Shutdown"]),
        st.dictionaries(st.sampled_from(["channel", "agent", "id", "text"]), values(), max_size=3),
    ),
    values(*WORDS),
).map(lambda frame: json.dumps(frame).encode("utf-8", "replace"))


def house() -> House:
    """A gateway's house on a bus in memory, on which nobody answers."""
    bus = MemoryBus(directory=Path("/nowhere"))
    client = bus.client()
    start = Cursor(epoch=bus.hello.epoch, seq=bus.hello.head)
    hub = Hub(client, start, moved=lambda _: None, heard=lambda _: None)
    return House(
        hub=hub,
        desk=Desk(client, Supervisor(Path("/nowhere/s.sock")), hub),
        guard=Guard(port=PORT, token=TOKEN),
        version="0",
        instance="test",
        config="/c",
    )


@contextmanager
def no_failure_logged() -> Iterator[None]:
    """What a call could not bear is logged with its trace, and hidden from the browser."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = records.append  # type: ignore[method-assign]
    logger = logging.getLogger("sk.gateway")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
    assert [record.getMessage() for record in records] == []


# --- the WebSocket --------------------------------------------------------------------------


def spoken(*frames: bytes | str, hello: bytes | None = None) -> list[dict[str, Any]]:
    """What the gateway sends to one who says ``frames`` behind its hello, then goes."""
    sent: list[dict[str, Any]] = []
    greeting = json.dumps(HELLO) if hello is None else hello
    said: list[Any] = [{"type": "websocket.connect"}]
    for frame in (greeting, *frames):
        kind = "text" if isinstance(frame, str) else "bytes"
        said.append({"type": "websocket.receive", kind: frame})

    async def serve() -> None:
        gone = asyncio.Event()

        async def receive() -> Any:
            await asyncio.sleep(0)
            if said:
                return said.pop(0)
            await asyncio.sleep(0)
            gone.set()
            return {"type": "websocket.disconnect", "code": 1006}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "websocket",
            "path": "/ws",
            "raw_path": b"/ws",
            "query_string": b"",
            "headers": OURS,
            "subprotocols": [],
        }
        app = application(house(), Pages(Path("/nowhere")))
        async with asyncio.timeout(PATIENCE):
            await app(scope, receive, send)

    asyncio.run(serve())
    return sent


@briefly
@given(
    st.lists(
        FRAMES | spoilt(FRAMES) | TEXTS.map(lambda one: one.encode("utf-8", "replace")), max_size=5
    )
)
@example([b'{"t":"ping","id":true}'])
@example([b'{"t":"call","id":true,"name":"Pulse","args":{}}'])
@example([b'{"t":"call","id":1,"name":"ListAgents","after":99999999999999999999}'])
@example([b'{"t":"ping","id":99999999999999999999}'])
def test_any_frames_get_results_that_are_json_and_the_connection_stays(frames: list[bytes]) -> None:
    last = b'{"t":"ping","id":424242}'
    with no_failure_logged():
        sent = spoken(*frames, last)
    closed = [one for one in sent if one["type"] == "websocket.close"]
    assert closed == []
    said = [orjson.loads(one["text"]) for one in sent if one["type"] == "websocket.send"]
    assert said[0]["t"] == "welcome"
    assert {one["t"] for one in said} <= {"welcome", "result", "pong", "ev", "at", "resync"}
    ids = [one.get("id") for one in said if one["t"] in ("result", "pong")]
    assert all(id_ is None or type(id_) is int for id_ in ids)


@briefly
@given(altered(HELLO, *HELLO).map(lambda one: json.dumps(one).encode()) | st.binary(max_size=60))
def test_no_hello_without_the_token_is_let_in(hello: bytes) -> None:
    with no_failure_logged():
        sent = spoken(hello=hello)
    try:
        value = orjson.loads(hello)
    except orjson.JSONDecodeError:
        value = None
    known = isinstance(value, dict) and value.get("t") == "hello" and value.get("token") == TOKEN
    codes = [one["code"] for one in sent if one["type"] == "websocket.close"]
    if not known:
        assert codes == [BAD_TOKEN]
        assert not [one for one in sent if one["type"] == "websocket.send"]


def arrived(value: Any) -> Any:
    """The value as it comes off the wire: a number beyond 64 bits is a float there."""
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(json.dumps(value))
    return None


@briefly
@given(altered(CALL, *WORDS, *COMMANDS, *QUERIES) | values(*WORDS))
def test_a_call_is_known_or_refused(frame: Any) -> None:
    frame = arrived(frame)
    if isinstance(frame, dict) and type(frame.get("id")) is int:
        with suppress(RefusedError):
            what = call_of(frame).what
            assert isinstance(what, (*COMMANDS.values(), *QUERIES.values(), Pulse))


@briefly
@given(values("epoch", "seq", "public", "delta", "internal"))
def test_wishes_are_read_leniently(value: Any) -> None:
    assert isinstance(wanted(value), Kind)
    assert isinstance(cursor_of(value), Cursor | None)


# --- HTTP -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    root = tmp_path_factory.mktemp("site")
    (root / "secret.txt").write_text("a secret beside the page")
    (root / "static").mkdir()
    (root / "static" / "index.html").write_text("<!doctype html>")
    (root / "static" / "link").symlink_to(root / "secret.txt")
    return Pages(root / "static")


def requested(
    pages: Pages, method: str, path: str, query: bytes, headers: Any
) -> tuple[int, Any, bytes]:
    """Status, headers and the beginning of the body."""
    heard: list[Any] = []

    async def serve() -> None:
        begun = asyncio.Event()
        asked = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Any:
            if asked:
                return asked.pop(0)
            await begun.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            heard.append(message)
            begun.set()

        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode("utf-8", "replace"),
            "query_string": query,
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", PORT),
        }
        async with asyncio.timeout(PATIENCE):
            await application(house(), pages)(scope, receive, send)

    asyncio.run(serve())
    body = b"".join(one.get("body", b"") for one in heard[1:])
    return heard[0]["status"], dict(heard[0]["headers"]), body


PATHS = st.one_of(
    st.sampled_from(["/", "/index.html", "/link", "/events", "/ws", "/import", "/assets/x.js"]),
    st.lists(
        st.sampled_from(
            ["..", ".", "", "secret.txt", "static", "link", "~root", "%2e%2e", "\\..", "a\0"]
        )
        | TEXTS,
        max_size=5,
    ).map(lambda steps: "/" + "/".join(steps)),
)
HEADER = st.tuples(
    st.sampled_from([b"host", b"origin", b"Host", b"authorization", b"accept-encoding", b"x"]),
    spoilt(st.sampled_from([OURS[0][1], OURS[1][1], BEARER[1], b"gzip", b"null", b"Bearer "])),
)
SINCE = st.sampled_from([b"", b"since=1", b"since=", b"since=" + b"9" * 30, b"all=1"])
# h11 lets nothing else through.
_VISIBLE = bytes(range(0x21, 0x7F))
QUERY = SINCE | spoilt(
    st.sampled_from([b"since=12&all=1", b"format=jsonl&channel=c1&language=en"])
).map(lambda query: bytes(one for one in query if one in _VISIBLE))


@briefly
@given(
    st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "X"]),
    PATHS,
    QUERY,
    st.lists(HEADER, max_size=3) | st.lists(HEADER, max_size=1).map(lambda more: [*OURS, *more]),
)
@example("GET", "/events", b"", OURS)
def test_any_request_is_answered_under_the_policy_and_shows_nothing(
    pages: Pages, method: str, path: str, query: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    tokens = [value for name, value in headers if name.lower() == b"authorization"]
    if tokens == [BEARER[1]]:
        return  # what the holder of the token may ask has tests of its own
    status, said, body = requested(pages, method, path, query, headers)
    assert status in (200, 400, 401, 403, 404, 405)
    for name, value in HEADERS:
        assert said[name.encode()] == value.encode()
    assert b"a secret" not in body
    if status == 200:
        assert method in ("GET", "HEAD")
        assert body in (b"<!doctype html>", b"")


@pytest.mark.parametrize(
    "since",
    [
        "9" * 20,
        "9" * 5000,
        "٣",
        "²",
        "-1",
        "1e3",
        "0x1",
        " 1",
        "+1",
        "1_000",
        str(2**63),
        str(2**64),
    ],
)
def test_a_place_that_no_log_can_have_is_answered(pages: Pages, since: str) -> None:
    query = b"since=" + since.encode()
    status, _, body = requested(pages, "HEAD", "/events", query, [*OURS, BEARER])
    assert status in (200, 400), body
