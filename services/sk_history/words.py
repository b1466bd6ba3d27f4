"""The words of a text, each with its place: what is indexed, and what a search compares.

A word is a run of Unicode letters, digits and their marks; it is compared by NFKC and casefold.
Scripts that write no spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) have no words to be
found so: each of their characters, with its marks, stands for itself, and they are indexed in
pairs. Korean has spaces, so its words are words. Places count code points of the text as written.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

# Han, kana (half-width ones too), bopomofo, Thai, Lao, Tibetan, Burmese, Khmer: no spaces.
_SPACELESS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9fe\uaa60-\uaa7f\uf900-\ufaff"
    "\uff66-\uff9f\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_ASCII = re.compile(r"[a-z0-9]+")
# No word goes on over a space or the punctuation of ASCII.
_STRETCH = re.compile(r"[^\s\x00-/:-@\[-`{-\x7f]+")
# What is longer is no word that anybody types: a key, a digest, data.
LONGEST = 64
_VOICED = "\uff9e\uff9f"


# Characters that are compared as they are, but for case: Latin letters, and no others; and what
# else is often written between them.
_PLAIN = re.compile(
    "[\x00-\x7f\u00a0-\u00a7\u00a9\u00ab-\u00ae\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf-\u00de"
    "\u00e0-\u012f\u0134-\u013e\u0141-\u0148\u014a-\u017e\u2010-\u2016\u2018-\u201e\u2020-\u2026"
    "\u2030-\u2032\u2039\u203a\u20ac\u2190-\u21ff\u2500-\u25ff\u2713-\u2718\U0001f300-\U0001f64f]*"
)


class Word(NamedTuple):
    """``text`` as it is compared. ``glued``: it goes on where the one before it ends.

    Only characters of scripts without spaces are glued; ``single`` marks these.
    """

    text: str
    start: int
    end: int
    single: bool = False
    glued: bool = False


def words(text: str) -> Iterator[Word]:
    """The words of ``text``, in order."""
    if text.isascii():
        for match in _ASCII.finditer(text.lower()):
            yield Word(match[0], match.start(), match.end())
        return
    for match in _pattern().finditer(text):
        if match.lastgroup == "run":
            yield from _singles(match[0], match.start())
        else:
            yield from _compared(match[0], match.start())


def terms(text: str) -> set[str]:
    """What ``text`` is indexed under: its words, cut at 64 characters, and pairs of characters."""
    if text.isascii():
        return {word[:LONGEST] for word in _ASCII.findall(text.lower())}
    made: set[str] = set()
    for stretch in set(_STRETCH.findall(text)):  # most are said more than once
        if stretch.isascii():
            made.add(stretch.lower()[:LONGEST])
        else:
            made.update(_terms(stretch))
    return made


def _terms(text: str) -> Iterator[str]:
    before = ""  # the last character of a run without spaces, which is a term by itself too
    for word in words(text):
        if before:
            yield before + word.text if word.glued else before
        if not word.single:
            yield word.text[:LONGEST]
        before = word.text if word.single else ""
    if before:
        yield before


def plainly(text: str) -> str | None:
    r"""``text`` as it is compared, place by place; ``None`` where it isn't as simple as that.

    In what comes back, words are the runs of ``[^\W_]``.
    """
    if text.isascii() or _PLAIN.fullmatch(text):
        return text.lower()
    return None


def folded(text: str) -> str:
    """``text`` as it is compared, without regard to words."""
    if text.isascii():
        return text.lower()
    # Folding may undo the normal form, and that is the form to compare by.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _compared(text: str, start: int) -> Iterator[Word]:
    """A run of letters: nearly always one word, more where its normal form holds something else."""
    normal = folded(text)
    inner = [match[0] for match in _pattern().finditer(normal)]
    for one in inner or ([normal] if normal else []):
        yield Word(one, start, start + len(text))


def _singles(run: str, start: int) -> Iterator[Word]:
    """A run without spaces, character by character, each with the marks that follow it."""
    at = 0
    while at < len(run):
        end = at + 1
        while end < len(run) and (unicodedata.combining(run[end]) or _mark(run[end])):
            end += 1
        yield Word(folded(run[at:end]), start + at, start + end, single=True, glued=at > 0)
        at = end


def _mark(character: str) -> bool:
    return character in _VOICED or unicodedata.category(character)[0] == "M"


@cache
def _pattern() -> re.Pattern[str]:
    marks = _marks()
    letter = rf"[^\W_{_SPACELESS}]"
    return re.compile(
        rf"(?P<run>[{_SPACELESS}](?:[{_SPACELESS}{marks}])*)|(?P<word>{letter}+(?:[{marks}]+{letter}*)*)"
    )


def _marks() -> str:
    """The marks of scripts that write spaces, as ranges within a character class."""
    ranges: list[list[int]] = []
    # There are none in the planes above, but for tags and variants that only emoji carry.
    for code in range(0x300, 0x1F000):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
