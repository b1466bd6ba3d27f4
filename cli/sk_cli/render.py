"""Text for a terminal: what others wrote is neutralised here, so that no escape sequence passes.

Pure: values in, text out; colours are the caller's.
"""

import datetime as dt
import unicodedata

from sk_bus.model import BlobRef, Channel, Text
from sk_cli.words import number, t

# Marks that turn the reading direction around: text that looks other than it is.
_TURNING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def neutral(text: str) -> str:
    """``text`` without control characters; line ends and tabs stay, the others become visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_neutral(character) for character in text)


def _neutral(character: str) -> str:
    if character in "\n\t" or character.isprintable():
        return character if ord(character) not in _TURNING else f"<U+{ord(character):04X}>"
    number_ = ord(character)
    if number_ < 0x20:
        return chr(0x2400 + number_)  # the picture of it: ␛ for ESC
    if number_ == 0x7F:
        return "␡"
    # Zero-width joiners hold emoji and words of several scripts together; spaces are spaces.
    if number_ in (0x200C, 0x200D) or unicodedata.category(character) == "Zs":
        return character
    return f"<U+{number_:04X}>"


def one_line(text: str, length: int = 0) -> str:
    """``text`` neutralised, its white space in one piece, cut at ``length`` characters."""
    line = neutral(" ".join(text.split()))
    return line[: length - 1] + "…" if length and len(line) > length else line


def plain_text(text: Text) -> str:
    """A text, or the beginning of one that is too big to travel, with a mark."""
    if isinstance(text, BlobRef):
        return t("text.cut", head=text.head, size=size(text.length))
    return text


def clock(ts: int) -> str:
    """The time of day, local, with milliseconds."""
    return dt.datetime.fromtimestamp(ts / 1000).astimezone().isoformat(" ", "milliseconds")[11:23]


def day_and_time(ts: int) -> str:
    """The day and the minute, local."""
    return dt.datetime.fromtimestamp(ts / 1000).astimezone().isoformat(" ", "minutes")[:16]


def size(length: int) -> str:
    """So many bytes, as one reads it."""
    if length < 1000:
        return t("size.bytes", count=length)
    for unit, factor in (("size.kb", 1e3), ("size.mb", 1e6), ("size.gb", 1e9)):
        if length < factor * 1000 or unit == "size.gb":
            value = length / factor
            return t(unit, number=number(value, 0 if value >= 10 else 1))
    raise AssertionError


def megabytes(length: int | None) -> str:
    """Memory, in units of 2**20 bytes."""
    return "–" if length is None else t("size.mb", number=number(length / 2**20))


def channel_name(channel: Channel) -> str:
    """``#name``, or ``@agent`` for a direct conversation."""
    return one_line(f"@{channel.direct}" if channel.direct else f"#{channel.name}")
