"""Where a message says what is looked for, and the words around the place.

The index says which messages may hold the words; here it is seen whether they do, and where.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sk_history.asked import Asked, Phrase
from sk_history.texts import Plain, Whole, text_of
from sk_history.words import Word, plainly, words

_BEFORE = 60
_LENGTH = 240
_SLACK = 24
_CUT = "…"
_SPACE = re.compile(r"\s")


class Place(NamedTuple):
    """A match: in code points of the text, and which phrase it is."""

    start: int
    end: int
    phrase: int


def hit(message: Plain, search: Asked, whole: Whole) -> Plain | None:
    """The message as a Hit (plain); ``None`` when it doesn't match."""
    fits = search.filters(message)
    if fits is None:
        return None
    best: tuple[int, int, str, list[Place]] | None = None
    missing = set(range(len(search.phrases)))
    for index, part in enumerate(message["parts"]):
        if not search.phrases and index != fits:
            continue
        text = text_of(part, whole)
        found = places(text, search.phrases)
        said = {place.phrase for place in found}
        missing -= said
        if (said or not search.phrases) and (best is None or len(said) > best[0]):
            best = len(said), index, text, found
    if missing:
        return None
    if best is None:  # a message without parts that fits the filters
        best = 0, 0, "", []
    _, index, text, found = best
    at = found[0].start if found else 0
    excerpt, spans = around(text, at, found)
    return {
        "channel": message["channel"],
        "messageId": message["id"],
        "createdAt": message["createdAt"],
        "role": message["role"],
        "agent": message.get("agent", ""),
        "part": index,
        "kind": message["parts"][index]["type"] if message["parts"] else "text",
        "at": at,
        "excerpt": excerpt,
        "spans": spans,
    }


def places(text: str, phrases: Sequence[Phrase]) -> list[Place]:
    """Every place in ``text`` where one of the phrases stands, in order."""
    if not phrases or not text:
        return []
    plain = plainly(text)
    if plain is not None:
        return sorted(
            Place(*span, n)
            for n, phrase in enumerate(phrases)
            for span in _spans(phrase.pattern, plain)
        )
    found = []
    said = list(words(text))
    firsts = [(n, phrase, phrase.words[0].text) for n, phrase in enumerate(phrases)]
    for at, word in enumerate(said):
        for n, phrase, first in firsts:
            if word.text.startswith(first) and _stands(said, at, phrase):
                last = said[at + len(phrase.words) - 1]
                found.append(Place(word.start, _end(last, phrase), n))
    return found


def _spans(pattern: re.Pattern[str], plain: str) -> Iterator[tuple[int, int]]:
    at = 0
    while match := pattern.search(plain, at):
        begin, end = match.span()
        if begin and plain[begin - 1].isalnum():
            at = begin + 1  # within a word
        else:
            yield begin, end
            at = end


def _stands(said: list[Word], at: int, phrase: Phrase) -> bool:
    if at + len(phrase.words) > len(said):
        return False
    last = len(phrase.words) - 1
    for n, wanted in enumerate(phrase.words):
        word = said[at + n]
        if n and wanted.glued and not word.glued:
            return False
        if word.text != wanted.text and not (
            n == last and phrase.beginning and word.text.startswith(wanted.text)
        ):
            return False
    return True


def _end(word: Word, phrase: Phrase) -> int:
    """Where the match ends: within the word, if that is as long as it is compared."""
    if len(word.text) != word.end - word.start:
        return word.end
    return word.start + len(phrase.words[-1].text)


def around(text: str, at: int, found: Sequence[Place]) -> tuple[str, list[Plain]]:
    """A line of the text around a place, and the matches within it."""
    begin = _spaced(text, at - _BEFORE, at) if at > _BEFORE else 0
    end = begin + _LENGTH
    if end >= len(text):
        end = len(text)
    else:
        space = text.rfind(" ", end - _SLACK, end)
        end = space if space > at else end
    opening = _CUT if begin else ""
    line = _SPACE.sub(" ", text[begin:end])
    shift = len(opening) - begin
    spans = [
        {"start": place.start + shift, "length": min(place.end, end) - place.start}
        for place in found
        if begin <= place.start < end
    ]
    return opening + line + (_CUT if end < len(text) else ""), spans


def _spaced(text: str, at: int, limit: int) -> int:
    """The beginning of a word a little after ``at``, if there is one before ``limit``."""
    space = text.find(" ", at, min(at + _SLACK, limit))
    return space + 1 if space >= 0 else at
