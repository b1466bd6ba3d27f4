"""Who may speak with the gateway: Host, Origin and token, and the headers of every answer.

Any page on the web can make a browser call 127.0.0.1, and any name can be made to resolve to it.
So the Host must be a loopback name with our port, the Origin must be that very Host, and who wants
more than the page itself shows the token. Knows no framework.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

_NAMES = ("127.0.0.1", "localhost", "[::1]")

POLICY = (
    "default-src 'none'; "
    "script-src 'self'; "
    "style-src 'self'; "
    "img-src 'self' data:; "
    "connect-src 'self'; "
    "base-uri 'none'; "
    "form-action 'none'; "
    "frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; "
    "trusted-types dompurify sk-worker"
)

HEADERS: tuple[tuple[str, str], ...] = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, for whoever reads the answer."""

    status: int
    text: str


class Guard:
    """The rules for one port and one token."""

    def __init__(self, *, port: int, token: str) -> None:
        self._hosts = {f"{name}:{port}" for name in _NAMES}
        self._port = port
        self._token = token.encode()

    def request(self, headers: Mapping[str, str]) -> Refusal | None:
        """What is wrong with a request, judged by its headers (lower-case names)."""
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return Refusal(
                403,
                f"Sidekicks answers to http://127.0.0.1:{self._port} only, not to {host!r}.\n"
                "Through a tunnel, use the same port on both sides.\n",
            )
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return Refusal(403, f"Pages of {origin} may not speak with Sidekicks.\n")
        return None

    def writing(self, headers: Mapping[str, str]) -> Refusal | None:
        """What is wrong with a request that isn't a GET: no such thing is for who has no token."""
        return self.request(headers) or self.bearer(headers)

    def upgrade(self, headers: Mapping[str, str]) -> Refusal | None:
        """What is wrong with a WebSocket's upgrade: a browser always names an Origin."""
        if "origin" not in headers:
            return Refusal(
                403, f"A WebSocket needs the header Origin: http://127.0.0.1:{self._port}\n"
            )
        return self.request(headers)

    def bearer(self, headers: Mapping[str, str]) -> Refusal | None:
        """What is wrong with the token of a program's request."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not self.knows(given.strip()):
            return Refusal(
                401,
                "This needs the header Authorization: Bearer TOKEN (see: sk-cli open --print)\n",
            )
        return None

    def knows(self, token: str) -> bool:
        """Whether ``token`` is ours; it takes the same time for any that isn't."""
        return hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self._token)
