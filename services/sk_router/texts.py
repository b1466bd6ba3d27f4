"""Text within bounds: what is too long for an event stands in it by its hash.

The hash is made here, the file is written by the shell before the event is published.
"""

import hashlib

from sk_bus.model import BlobRef, Text

LONGEST = 16 * 1024
# A delta of so many characters has at most 16 KB in UTF-8.
PIECE = LONGEST // 4
_HEAD = 2_000


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def too_long(text: str, longest: int = LONGEST) -> bool:
    return len(text) * 4 > longest and size(text) > longest


def reference(text: str) -> BlobRef:
    """What stands for ``text``: the same that the store of blobs calls it."""
    data = text.encode("utf-8", "surrogatepass")
    return BlobRef(
        sha256=hashlib.sha256(data).hexdigest(),
        length=len(data),
        head=text[:_HEAD].encode("utf-8", "ignore").decode("utf-8"),
    )


def head(text: Text) -> str:
    """The text, or its beginning where the whole is elsewhere."""
    return text.head if isinstance(text, BlobRef) else text


def pieces(text: str) -> list[str]:
    """``text`` in pieces that each fit into a delta."""
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def whole_characters(text: str) -> str:
    """``text`` with halves of surrogate pairs joined, or marked where the other half is missing."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
