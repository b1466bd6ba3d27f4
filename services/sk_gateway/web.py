"""The gateway's HTTP: the guard before all, the page, the WebSocket, and events for programs.

``GET /events?since=SEQ`` streams events as lines of JSON to who shows the token, for ``curl``.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from sk_bus.contract import Bus, Resync
from sk_bus.events import Kind
from sk_bus.model import Cursor
from sk_bus.wire import Batch
from sk_gateway import frames, transfer
from sk_gateway.browser import Browser, House
from sk_gateway.frames import EVERYTHING, Bundle
from sk_gateway.guard import HEADERS, Guard, Refusal
from sk_gateway.static import Pages

_SEQ = re.compile("[0-9]{1,18}")
_PUBLIC = Kind.PUBLIC | Kind.DELTA | Kind.LOG | Kind.RESULT
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS]


def application(house: House, pages: Pages) -> ASGIApp:
    """Everything that answers on the gateway's port."""

    async def page(request: Request) -> Response:
        packed = "gzip" in request.headers.get("accept-encoding", "")
        file = pages.file(request.url.path, packed=packed)
        return Response(file.body, file.status, dict(file.headers))

    async def socket(websocket: WebSocket) -> None:
        await Browser(websocket, house).serve()

    async def events(request: Request) -> Response:
        refused = house.guard.bearer(_headers(request.scope))
        if refused is not None:
            return PlainTextResponse(refused.text, refused.status)
        since = request.query_params.get("since", "")
        if since and not _SEQ.fullmatch(since):
            return PlainTextResponse("since must be a seq, a whole number\n", 400)
        head = house.hub.head
        start = Cursor(epoch=head.epoch, seq=int(since)) if since else head
        want = EVERYTHING if request.query_params.get("all") == "1" else _PUBLIC
        return StreamingResponse(
            _lines(house.desk.bus, start, want), media_type="application/x-ndjson"
        )

    async def export(request: Request) -> Response:
        refused = house.guard.bearer(_headers(request.scope))
        if refused is not None:
            return PlainTextResponse(refused.text, refused.status)
        return await transfer.export(request, house.desk.bus)

    async def bring(request: Request) -> Response:
        return await transfer.bring(request, house.desk.bus)  # the guard let nobody else write

    routes = [
        WebSocketRoute("/ws", socket),
        Route("/events", events),
        Route("/export", export),
        Route("/import", bring, methods=["POST"]),
        Route("/{path:path}", page),
    ]
    return _guarded(Starlette(routes=routes), house.guard)


async def _lines(bus: Bus, start: Cursor, want: Kind) -> AsyncIterator[bytes]:
    """Events as lines of JSON, each batch when it comes."""
    async with aclosing(bus.follow(start)) as follow:
        async for item in follow:
            match item:
                case Resync(epoch=epoch, head=head):
                    yield frames.encoded({"epoch": epoch, "seq": head, "type": "resync"}) + b"\n"
                case Batch():
                    found = frames.lines(item.epoch, Bundle(item).pieces(want))
                    if found:
                        yield found


def _guarded(app: ASGIApp, guard: Guard) -> ASGIApp:
    """``app``, but for nobody whom ``guard`` refuses, and with its headers on every answer."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http" if scope["method"] in ("GET", "HEAD"):
                refused = guard.request(_headers(scope))
            case "http":
                refused = guard.writing(_headers(scope))
            case "websocket":
                refused = guard.upgrade(_headers(scope))
            case _:
                refused = None
        if refused is not None:
            await _refuse(scope, send, refused)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        await app(scope, receive, send_with_headers)

    return guarded


async def _refuse(scope: Scope, send: Send, refused: Refusal) -> None:
    prefix = "websocket.http" if scope["type"] == "websocket" else "http"
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS]
    await send({"type": f"{prefix}.response.start", "status": refused.status, "headers": headers})
    await send({"type": f"{prefix}.response.body", "body": refused.text.encode()})


def _headers(scope: Scope) -> Mapping[str, str]:
    """The headers by lower-case names; one that comes twice is joined, and so fits nothing."""
    found: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found
