"""The built page: its files, how long a browser may keep each, and what to say while it is missing.

What lies in ``assets`` has a hash in its name and never changes; the rest is asked for each time.
"""

import gzip
import mimetypes
from dataclasses import dataclass
from pathlib import Path

DIRECTORY = Path(__file__).parent / "static"

_FOREVER = "public, max-age=31536000, immutable"
_EACH_TIME = "no-cache"
_WORTH_PACKING = 1024
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".txt": "text/plain; charset=utf-8",
}
_PACKED = {".js", ".css", ".html", ".svg", ".json", ".webmanifest", ".txt"}

_NOT_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sidekicks</title></head>
<body><h1>The page is not built</h1>
<p>Sidekicks runs, but its web page is missing. In the folder of Sidekicks, run:</p>
<pre>make ui</pre>
<p>then reload this page. The command line works meanwhile: <code>sk-cli --help</code>.</p>
</body></html>
"""


@dataclass(frozen=True, slots=True)
class File:
    """An answer: what to send, and its headers."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


class Pages:
    """The files below ``directory``. They are read anew when they were built anew."""

    def __init__(self, directory: Path) -> None:
        self._root = directory.resolve()
        self._packed: dict[tuple[Path, int], bytes] = {}

    def file(self, path: str, *, packed: bool) -> File:
        """The answer to a GET of ``path``; gzip is welcome when ``packed``."""
        found = self._root / (path.lstrip("/") or "index.html")
        try:
            found = found.resolve()
            inside = found.is_relative_to(self._root) and found.is_file()
        except (OSError, ValueError):  # too long a name, or a zero byte in it
            inside = False
        if not inside:
            if path in ("/", "/index.html"):
                return File(404, _NOT_BUILT.encode(), _headers(".html", _EACH_TIME))
            return File(404, b"There is no such page.\n", _headers(".txt", _EACH_TIME))
        keep = _FOREVER if found.is_relative_to(self._root / "assets") else _EACH_TIME
        headers = _headers(found.suffix, keep)
        body = found.read_bytes()
        if packed and found.suffix in _PACKED and len(body) >= _WORTH_PACKING:
            return File(200, self._pack(found, body), (*headers, ("content-encoding", "gzip")))
        return File(200, body, headers)

    def _pack(self, path: Path, body: bytes) -> bytes:
        key = (path, path.stat().st_mtime_ns)
        if key not in self._packed:
            self._packed = {old: made for old, made in self._packed.items() if old[0] != path}
            self._packed[key] = gzip.compress(body, 6, mtime=0)
        return self._packed[key]


def _headers(suffix: str, keep: str) -> tuple[tuple[str, str], ...]:
    kind = _TYPES.get(suffix) or mimetypes.types_map.get(suffix, "application/octet-stream")
    return (("content-type", kind), ("cache-control", keep), ("vary", "accept-encoding"))
