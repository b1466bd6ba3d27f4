"""How long something lasts, as people write it: ``10m``, ``1h30m``, ``90s``, ``0``, ``never``.

Knows no field and no limit; those stand in :mod:`sk_config.schema`.
"""

import re

PATTERN = r"^(never|0|(?=\d)(\d+d)?(\d+h)?(\d+m)?(\d+s)?)$"
_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000}
_WHOLE = re.compile(PATTERN, re.ASCII)
_PART = re.compile(r"(\d+)([dhms])", re.ASCII)
# Longer than any limit, and short enough for int() whatever somebody typed.
_LONGEST = 40


def milliseconds(written: object) -> int | None:
    """The duration in milliseconds; 0 means never, ``None`` that it is no duration."""
    if written == 0 and type(written) is int:
        return 0
    if not isinstance(written, str) or len(written) > _LONGEST:
        return None
    text = written.strip()
    if not text or not _WHOLE.match(text):
        return None
    return sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def written(duration: int) -> str:
    """The shortest way to write so many milliseconds (whole seconds)."""
    parts = []
    for unit, length in _UNITS.items():
        number, duration = divmod(duration, length)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0"
