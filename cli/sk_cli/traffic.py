"""What Sidekicks and one agent said to each other, frame by frame, without the secrets. Pure.

To the agent go the lines of ``do:send``, whose secrets are places in a definition and stay so.
From it come those of ``fact:frame``: what an agent repeats of its environment is masked here.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sk_bus.masking import masker, secrets
from sk_bus.wire import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line, to the agent (its ``n``-th in this life) or from it (up to ``end`` of its stdout).

    ``raw`` refers to the whole line where strings of it were too big to travel.
    """

    seq: int
    ts: int
    agent: str
    inc: int
    to: bool
    line: str
    n: int | None = None
    end: int | None = None
    raw: dict[str, Any] | None = None

    def plain(self) -> dict[str, Any]:
        """The frame for a script; what is not known of it is left out."""
        made: dict[str, Any] = {
            "seq": self.seq,
            "ts": self.ts,
            "agent": self.agent,
            "inc": self.inc,
            "type": "do:send" if self.to else "fact:frame",
            "line": self.line,
        }
        rest = {"n": self.n, "end": self.end, "raw": self.raw}
        return made | {key: value for key, value in rest.items() if value is not None}


def hiding(definitions: Iterable[dict[str, Any]]) -> Callable[[str], str]:
    """A function that masks the secrets of ``definitions`` in a line of JSON."""
    return masker(frozenset(value for one in definitions for value in secrets(one)))


def frames(batch: Batch, agent: str, hide: Callable[[str], str]) -> Iterator[Frame]:
    """The frames between Sidekicks and ``agent`` in a batch."""
    for seq, event in enumerate(batch.raw(), batch.first):
        if event.get("agent") != agent:
            continue
        match event:
            case {"type": "do:send", "inc": inc, "n": n, "line": line}:
                yield Frame(
                    seq=seq, ts=batch.ts, agent=agent, inc=inc, to=True, line=hide(line), n=n
                )
            case {"type": "fact:frame", "inc": inc, "end": end, "line": line}:
                yield Frame(
                    seq=seq,
                    ts=batch.ts,
                    agent=agent,
                    inc=inc,
                    to=False,
                    line=hide(line),
                    end=end,
                    raw=_hidden(event.get("raw"), hide),
                )


def _hidden(raw: Any, hide: Callable[[str], str]) -> Any:
    return None if raw is None else {**raw, "head": hide(str(raw.get("head", "")))}


def method(line: str) -> str:
    """What a frame is, in a word: its method, or the id that it answers."""
    try:
        frame = json.loads(line)
    except ValueError:
        return "?"
    if not isinstance(frame, dict):
        return "?"
    if "method" in frame:
        name = str(frame["method"])
        update = (frame.get("params") or {}).get("update")
        kind = update.get("sessionUpdate") if isinstance(update, dict) else None
        return f"{name} {kind}" if kind else name
    return f"{'error' if 'error' in frame else 'result'} {frame.get('id')}"
