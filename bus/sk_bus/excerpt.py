"""The beginning of a message, as agents are told of it who haven't seen it.

Cut between what a reader takes for one character, and marked. Where the message stands and to whom
it is told is others' business.
"""

import unicodedata
from collections.abc import Iterable

from sk_bus.model import BlobRef, Text

LONGEST = 1_500
MARK = " […]"

_JOINER = "\u200d"
# Emoji are made of several; no character that people type is made of more.
_MOST = 64


def excerpt(texts: Iterable[Text]) -> str:
    """The beginning of the texts of a message, at most 1,500 characters and a mark."""
    heads = []
    cut = False
    length = 0
    for text in texts:
        head = text.head if isinstance(text, BlobRef) else text
        heads.append(head)
        length += len(head)
        cut = isinstance(text, BlobRef)
        if cut or length > LONGEST + _MOST:
            break
    whole = "\n\n".join(head for head in heads if head)
    if len(whole) <= LONGEST and not cut:
        return whole
    return whole[: _boundary(whole, min(LONGEST, len(whole)))] + MARK


def _boundary(text: str, at: int) -> int:
    """The last place at or before ``at`` where a character ends."""
    for place in range(at, max(at - _MOST, 0), -1):
        if not _inside(text, place):
            return place
    return at


def _inside(text: str, at: int) -> bool:
    """Whether ``at`` lies within what a reader takes for one character."""
    if at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return True
    if _JOINER in (before, after) or unicodedata.combining(after):
        return True
    if unicodedata.category(after) in ("Mn", "Me", "Mc") or _extends(after):
        return True
    if _regional(before) and _regional(after):
        run = 0
        while run < at and _regional(text[at - 1 - run]):
            run += 1
        return run % 2 == 1
    return _jamo(before) and _jamo(after) and ord(after) >= 0x1160


def _extends(character: str) -> bool:
    """Skin tones and tags, which belong to the emoji before them."""
    code = ord(character)
    return 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F


def _regional(character: str) -> bool:
    """Half of a flag."""
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _jamo(character: str) -> bool:
    """A part of a Korean syllable."""
    return 0x1100 <= ord(character) <= 0x11FF or 0xAC00 <= ord(character) <= 0xD7A3
