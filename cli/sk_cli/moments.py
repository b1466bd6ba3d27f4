"""Places in the log as people name them: a seq, ``5m`` ago, ``boot``, a time of day, a date."""

import datetime as dt
from dataclasses import dataclass

from sk_cli import spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A place by number (``seq``), or by time (``ts``, in ms since 1970)."""

    seq: int | None = None
    ts: int | None = None


def moment(text: str, *, now: int) -> Moment | None:
    """What ``text`` names, seen from ``now`` (ms); ``None`` when it names nothing."""
    text = text.strip()
    if text == "boot":
        return Moment(seq=0)
    if text.isdigit():
        return Moment(seq=int(text))
    length = spans.seconds(text)
    if length is not None:
        return Moment(ts=now - int(length * 1000))
    today = dt.datetime.fromtimestamp(now / 1000).astimezone()
    try:
        clock = dt.time.fromisoformat(text)
    except ValueError:
        try:
            named = dt.datetime.fromisoformat(text)
        except ValueError:
            return None
    else:
        named = dt.datetime.combine(today.date(), clock, tzinfo=today.tzinfo)
    return Moment(ts=int(named.timestamp() * 1000))
