"""Exports and imports over HTTP: a file out of the history, and one into it.

``GET /export`` streams an export as it is made. ``POST /import`` takes one into a file of its own
in the data directory (0600, gone afterwards), because the history reads files.
"""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from sk_bus.codec import plain
from sk_bus.contract import Bus
from sk_bus.errors import RefusedError, SidekicksError
from sk_bus.model import ChannelId
from sk_bus.queries import Export, ExportPage, Import

LARGEST = 2 * 2**30
_PIECE_TIMEOUT = 60.0
_IMPORT_TIMEOUT = 3600.0
_KINDS = {
    "jsonl": ("application/x-ndjson; charset=utf-8", "jsonl"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
}


async def export(request: Request, bus: Bus) -> Response:
    """The channels that ``channel`` names (all, when there is none), as a file."""
    asked = request.query_params
    form, language = asked.get("format", "jsonl"), asked.get("language", "en")
    if form not in _KINDS or language not in ("en", "fr"):
        return PlainTextResponse("format is jsonl or markdown, language en or fr\n", 400)
    query = Export(
        format=form,  # type: ignore[arg-type]  # it is one of the two
        channels=tuple(ChannelId(id_) for id_ in asked.getlist("channel")),
        language=language,  # type: ignore[arg-type]
    )
    try:
        first = (await bus.query(query, timeout=_PIECE_TIMEOUT)).value
    except SidekicksError as error:
        return _failed(error)
    kind, ending = _KINDS[form]
    headers = {"content-disposition": f'attachment; filename="sidekicks.{ending}"'}
    return StreamingResponse(_pieces(bus, query, first), media_type=kind, headers=headers)


async def _pieces(bus: Bus, query: Export, page: ExportPage) -> AsyncIterator[bytes]:
    """The pieces. One that can't be had breaks the stream off: nobody is to take it for whole."""
    while True:
        yield page.text.encode()
        if page.next is None:
            return
        following = Export(
            format=query.format,
            channels=query.channels,
            language=query.language,
            after=page.next,
        )
        page = (await bus.query(following, timeout=_PIECE_TIMEOUT)).value


async def bring(request: Request, bus: Bus) -> Response:
    """Import the body; it answers what came of it, or the problem."""
    directory = Path((await bus.hello()).directory)
    path = directory / f"import.{secrets.token_hex(8)}.draft"
    try:
        if not await _saved(request, path):
            return PlainTextResponse(f"An import has at most {LARGEST} bytes.\n", 413)
        answer = await bus.query(Import(path=str(path)), timeout=_IMPORT_TIMEOUT)
        return JSONResponse(plain(answer.value))
    except SidekicksError as error:
        return _failed(error)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody reads it
    finally:
        path.unlink(missing_ok=True)


def clear(directory: Path) -> None:
    """Remove what imports left whose gateway was killed."""
    for path in directory.glob("import.*.draft"):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


async def _saved(request: Request, path: Path) -> bool:
    """Whether the body is in the file; it isn't when there is too much of it."""
    size = 0
    with await asyncio.to_thread(_created, path) as file:
        async for piece in request.stream():
            size += len(piece)
            if size > LARGEST:
                return False
            await asyncio.to_thread(file.write, piece)
    return True


def _created(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _failed(error: SidekicksError) -> Response:
    status = 422 if isinstance(error, RefusedError) else 503
    return JSONResponse({"problem": plain(error.problem)}, status)
