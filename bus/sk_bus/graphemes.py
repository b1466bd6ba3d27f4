"""Where what a reader takes for one character may be cut: between grapheme clusters (UAX #29).

The standard library knows no grapheme break property, so the classes are put together from the
categories that Unicode derives them from. What is in doubt (a joiner, a virama) holds on to both
its neighbours: a cut comes a little earlier then, and never within a character.
"""

import unicodedata

_JOINERS = frozenset("\u200c\u200d")
# Letters that are written with what stands before them.
_SPACING = frozenset("\u0e33\u0eb3\uff9e\uff9f")
_PREPENDED = (
    (0x0600, 0x0605),
    (0x06DD, 0x06DD),
    (0x070F, 0x070F),
    (0x0890, 0x0891),
    (0x08E2, 0x08E2),
    (0x0D4E, 0x0D4E),
    (0x1CF5, 0x1CF6),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x111C2, 0x111C3),
    (0x113D1, 0x113D1),
    (0x1193F, 0x1193F),
    (0x11941, 0x11941),
    (0x11A3A, 0x11A3A),
    (0x11A84, 0x11A89),
    (0x11D46, 0x11D46),
    (0x11F02, 0x11F02),
)
_PARTS = (
    (0x1100, 0x115F, "L"),
    (0x1160, 0x11A7, "V"),
    (0x11A8, 0x11FF, "T"),
    (0xA960, 0xA97C, "L"),
    (0xD7B0, 0xD7C6, "V"),
    (0xD7CB, 0xD7FB, "T"),
)
_CONTROLS = ("Cc", "Zl", "Zp")
_VIRAMA = 9  # combining class of the sign after which letters are stacked


def boundary(text: str, at: int) -> int:
    """The last place at or before ``at`` where ``text`` may be cut; ``at`` where there is none."""
    for place in range(min(at, len(text)), 0, -1):
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
    if unicodedata.category(before) in _CONTROLS or unicodedata.category(after) in _CONTROLS:
        return False
    if before in _JOINERS or after in _JOINERS or _prepended(before) or _extends(after):
        return True
    if after.isalpha() and _stacks(text, at):
        return True
    if _regional(before) and _regional(after):
        run = 0
        while run < at and _regional(text[at - 1 - run]):
            run += 1
        return run % 2 == 1
    return _hangul(_syllable(before), _syllable(after))


def _extends(character: str) -> bool:
    """Whether it belongs to the character before it: marks, skin tones, tags."""
    code = ord(character)
    return (
        unicodedata.category(character)[0] == "M"
        or character in _SPACING
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0000 <= code <= 0xE0FFF
    )


def _stacks(text: str, at: int) -> bool:
    """Whether a virama stands among the marks before ``at``."""
    while at > 0 and _extends(text[at - 1]):
        if unicodedata.combining(text[at - 1]) == _VIRAMA:
            return True
        at -= 1
    return False


def _prepended(character: str) -> bool:
    code = ord(character)
    return code >= _PREPENDED[0][0] and any(low <= code <= high for low, high in _PREPENDED)


def _regional(character: str) -> bool:
    """Half of a flag."""
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _hangul(before: str, after: str) -> bool:
    """Whether two parts of a Korean syllable make one."""
    match before:
        case "L":
            return after in ("L", "V", "LV", "LVT")
        case "LV" | "V":
            return after in ("V", "T")
        case "LVT" | "T":
            return after == "T"
        case _:
            return False


def _syllable(character: str) -> str:
    """Lead, vowel, tail, or a syllable of two or three of them; "" for everything else."""
    code = ord(character)
    if 0xAC00 <= code <= 0xD7A3:
        return "LVT" if (code - 0xAC00) % 28 else "LV"
    return next((kind for low, high, kind in _PARTS if low <= code <= high), "")
