"""Lines of an agent to events: ACP is a fact, everything else a line of its log.

It reads JSON only to tell the two apart and to take out what is too big for an event.
"""

import json
from collections.abc import Callable
from typing import Any, Literal

import orjson

from sk_agents.flood import Flood
from sk_agents.framing import Line
from sk_bus.blobs import LONGEST, BlobStore, bounded
from sk_bus.events import AgentLog
from sk_bus.internal import FactFrame
from sk_bus.model import AgentName
from sk_bus.nesting import shallow
from sk_bus.wire import LARGEST_REQUEST

# Of a log line; a secret that begins before it may end behind it.
SHOWN = 16 * 1024
_MARGIN = 16 * 1024
_ROOM = LARGEST_REQUEST - 2 * 2**20


class Telling:
    """Tells of one life of one agent. ``mask`` takes secrets out of what goes to the log."""

    def __init__(
        self, agent: AgentName, inc: int, blobs: BlobStore, mask: Callable[[str], str]
    ) -> None:
        self._agent = agent
        self._inc = inc
        self._blobs = blobs
        self._mask = mask
        self._floods = {"stdout": Flood(), "stderr": Flood()}

    def frame(self, line: Line) -> FactFrame | None:
        """The fact that a line of stdout is; ``None`` for what is no JSON object, or too large."""
        if line.cut:
            return None
        data = line.data.removesuffix(b"\r")
        if not data.lstrip().startswith(b"{"):
            return None
        value = _parsed(data)
        if not isinstance(value, dict):
            return None
        text = data.decode()
        raw = None
        if "error" in value:
            # What went wrong is told to everybody, and often quotes the key that was refused.
            # JSON can write a key in many ways (``\/``), so what it means is compared.
            masked = self._masked(shallow(value))
            if masked != value:
                value, text = masked, _written(masked)
        if len(data) > LONGEST:
            made = bounded(shallow(value), self._blobs)
            if made is not value:
                raw = self._blobs.put(text)
                text = _written(made)
        if len(text) > _ROOM // 4 and len(text.encode()) > _ROOM:
            return None  # no request to the bus can hold it, even without its long strings
        return FactFrame(agent=self._agent, inc=self._inc, end=line.end, line=text, raw=raw)

    def _masked(self, data: Any) -> Any:
        """``data`` (parsed JSON) with the secrets in its strings masked."""
        match data:
            case str():
                return self._mask(data)
            case dict():
                return {self._mask(key): self._masked(item) for key, item in data.items()}
            case list():
                return [self._masked(item) for item in data]
            case _:
                return data

    def text(self, line: Line) -> str:
        """A line as the log shows it: readable, masked, bounded."""
        text = line.data[: SHOWN + _MARGIN].decode(errors="replace").removesuffix("\r")
        shown = self._mask(text)[:SHOWN]
        if line.cut or len(line.data) > SHOWN + _MARGIN or len(shown) == SHOWN:
            shown += f" … ({line.length} bytes)"
        return shown

    def log(self, stream: Literal["stdout", "stderr"], text: str, now: float) -> list[AgentLog]:
        """The events for a line of the log: none when too many came in this second."""
        flood = self._floods[stream]
        events = self.left_out(stream, now)
        if flood.passes(now):
            events.append(AgentLog(agent=self._agent, line=text, stream=stream))
        return events

    def left_out(
        self, stream: Literal["stdout", "stderr"], now: float = float("inf")
    ) -> list[AgentLog]:
        """A word on lines that were left out, if there are any."""
        count = self._floods[stream].left_out(now)
        if not count:
            return []
        return [AgentLog(agent=self._agent, line=f"… ({count} lines left out)", stream=stream)]


def _written(data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair has no UTF-8; as an escape it passes.
    return text.encode("utf-8", "backslashreplace").decode()


def _parsed(data: bytes) -> Any:
    """The JSON value, or ``None``."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        # What orjson refuses and JSON allows: half of a surrogate pair as an escape.
        return json.loads(data.decode())
    except (ValueError, RecursionError):
        return None
