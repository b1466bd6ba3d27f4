"""Lengths of time as people type them: ``90s``, ``5m``, ``1h30m``, ``2d``, or plain seconds."""

import re

from sk_cli.words import number

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PIECE = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def seconds(text: str) -> float | None:
    """The length in seconds; ``None`` when ``text`` is no length of time."""
    text = text.strip().lower()
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        return float(text)
    if not re.fullmatch(rf"(?:{_PIECE.pattern})+", text):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in _PIECE.findall(text))


def spoken(length: float) -> str:
    """A length in seconds as one reads it: ``0.4 s``, ``12 s``, ``3 min``, ``2 h 14 min``."""
    if length < 10:
        return f"{number(max(length, 0), 1)} s"
    if length < 60:
        return f"{length:.0f} s"
    minutes = int(length // 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"
