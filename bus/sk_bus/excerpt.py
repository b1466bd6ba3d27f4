"""The beginning of a message, as agents are told of it who haven't seen it.

Cut between what a reader takes for one character, and marked. Where the message stands and to whom
it is told is others' business.
"""

from collections.abc import Iterable

from sk_bus.graphemes import boundary
from sk_bus.model import BlobRef, Text

LONGEST = 1_500
MARK = " […]"


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
        if cut or length > LONGEST:
            break
    whole = "\n\n".join(head for head in heads if head)
    if len(whole) <= LONGEST and not cut:
        return whole
    return whole[: boundary(whole, min(LONGEST, len(whole)))] + MARK
