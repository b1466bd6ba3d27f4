"""What a channel may be called, and what may be said of it.

A name has 1 to 64 characters and is nobody else's, whatever the case and however it is encoded. It
stands in lists, in one line, so it holds nothing that breaks a line or turns its direction.
Characters are Unicode's code points, so that every client counts alike.
"""

import re
from collections.abc import Iterable
from itertools import count
from unicodedata import category, normalize

from sk_bus.errors import problem
from sk_bus.model import Channel, ChannelId, Problem

LONGEST = 64

# Marks that turn or isolate a direction: a name that holds one can look like another.
_TURNS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def tidy(text: str) -> str:
    """The text as it is kept: one encoding for what looks alike, no space around it."""
    return normalize("NFC", text).strip()


def folded(name: str) -> str:
    """What is the same for two names that nobody would tell apart."""
    return normalize("NFKC", " ".join(name.split())).casefold()


def objection(
    name: str, description: str, channels: Iterable[Channel], own: ChannelId | None = None
) -> Problem | None:
    """Why a channel (``own``, when there is one) can't be called so; both texts are tidy."""
    if not _visible(name):
        return problem("name-empty", "the channel needs a name")
    if len(name) > LONGEST:
        return problem(
            "name-too-long",
            "the name has {length} characters; {longest} is the most",
            length=len(name),
            longest=LONGEST,
        )
    if len(description) > LONGEST:
        return problem(
            "description-too-long",
            "the description has {length} characters; {longest} is the most",
            length=len(description),
            longest=LONGEST,
        )
    if _breaks(name) or _breaks(description):
        return problem(
            "name-control",
            "a name or a description is one line, without control characters",
        )
    for channel in channels:
        if channel.id != own and channel.name and folded(channel.name) == folded(name):
            return problem(
                "name-taken",
                "there is a channel {name} already; choose another name",
                name=channel.name,
            )
    return None


def free(name: str, channels: Iterable[Channel]) -> str:
    """The name, with a number behind it where it is taken."""
    taken = {folded(one.name) for one in channels if one.name}
    if folded(name) not in taken:
        return name
    numbered = (f"{name[: LONGEST - 4].rstrip()} {number}" for number in count(2))
    return next(one for one in numbered if folded(one) not in taken)


def _visible(name: str) -> bool:
    return any(category(one)[0] not in "CZM" for one in name)


def _breaks(text: str) -> bool:
    return _TURNS.search(text) is not None or any(
        category(one) in ("Cc", "Cs", "Zl", "Zp") for one in text
    )
