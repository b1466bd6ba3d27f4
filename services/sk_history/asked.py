"""What a search asks for, made ready to compare: phrases of words, and filters.

``"two words"`` in quotes are whole words that stand side by side. Everything else is a beginning: a
word without spaces such as ``snake_case`` is its words in a row, the last of which may go on.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sk_bus.errors import RefusedError, problem
from sk_bus.queries import Search
from sk_history import records
from sk_history.texts import Plain, paths_of, tools_of
from sk_history.words import LONGEST, Word, folded, words

_CHUNK = re.compile(r'"([^"]*)(?:"|$)|([^\s"]+)')
_QUOTES = str.maketrans("“”„«»", '"""""')
_LONGEST = 1_000
MOST_HITS = 200


@dataclass(frozen=True)
class Phrase:
    """Words in a row. ``beginning``: the last one may go on."""

    words: tuple[Word, ...]
    beginning: bool

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds the phrase where words are plain runs of letters and digits.

        It doesn't look at what stands before: one that begins with a letter is found much faster.
        """
        said = r"[\W_]+".join(re.escape(word.text) for word in self.words)
        return re.compile(said + ("" if self.beginning else r"(?![^\W_])"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search, ready.

    ``terms`` are what the index is asked for, the rarest first as far as one can tell: (term,
    whether it is a beginning). ``before`` is the id (as bytes) that hits are to be older than.
    """

    phrases: tuple[Phrase, ...]
    terms: tuple[tuple[str, bool], ...]
    agent: str | None
    channel: str | None
    tool: str | None
    path: str | None
    since: int | None
    until: int | None
    before: bytes | None
    limit: int

    def filters(self, message: Plain) -> int | None:
        """The index of the part that fits (0 where any does); ``None``: the message doesn't."""
        if not self._at(message["createdAt"]):
            return None
        if self.agent is not None and (
            message["role"] != "agent" or folded(message["agent"]) != self.agent
        ):
            return None
        if self.tool is None and self.path is None:
            return 0
        return next((index for index, tool in tools_of(message) if self._used(tool)), None)

    def _at(self, moment: int) -> bool:
        return (self.since is None or moment >= self.since) and (
            self.until is None or moment <= self.until
        )

    def _used(self, tool: Plain) -> bool:
        if self.tool is not None and not (
            folded(tool.get("kind", "")) == self.tool or self.tool in folded(tool.get("title", ""))
        ):
            return False
        return self.path is None or any(self.path in folded(path) for path in paths_of(tool))


def asked(query: Search) -> Asked:
    """The search that ``query`` is.

    Raises:
        RefusedError: there is nothing in it to look for, or its ``after`` is none of ours.
    """
    phrases = tuple(phrases_of(query.text[:_LONGEST]))
    filters = (query.agent, query.channel, query.tool, query.path, query.since, query.until)
    if not phrases and (query.text.strip() or all(one is None or one == "" for one in filters)):
        raise RefusedError(
            problem(
                "nothing-to-find",
                "There is no word in this search; give a word, an agent, a tool or a path.",
            )
        )
    try:
        before = records.id_bytes(query.after) if query.after else None
    except records.NotAnIdError as error:
        raise RefusedError(
            problem("no-such-page", "There is no such page of hits; search again.")
        ) from error
    return Asked(
        phrases=phrases,
        terms=_terms(phrases),
        agent=folded(query.agent) if query.agent else None,
        channel=query.channel or None,
        tool=folded(query.tool) if query.tool else None,
        path=folded(query.path) if query.path else None,
        since=query.since,
        until=query.until,
        before=before,
        limit=min(max(query.limit, 1), MOST_HITS),
    )


def _terms(phrases: tuple[Phrase, ...]) -> tuple[tuple[str, bool], ...]:
    made = {term for phrase in phrases for term in _terms_of(phrase)}
    return tuple(sorted(made, key=lambda term: (term[1], -len(term[0]), term[0])))


def _terms_of(phrase: Phrase) -> Iterator[tuple[str, bool]]:
    """The terms under which a text with the phrase is indexed (:func:`sk_history.words.terms`)."""
    last = len(phrase.words) - 1
    for n, word in enumerate(phrase.words):
        following = phrase.words[n + 1] if n < last else None
        if not word.single:
            cut = len(word.text) >= LONGEST
            yield word.text[:LONGEST], n == last and phrase.beginning and not cut
        elif following is not None and following.glued:
            yield word.text + following.text, False
        elif not word.glued:
            yield word.text, True  # of pairs, or alone


def phrases_of(text: str) -> list[Phrase]:
    """The phrases of a search's text."""
    made: dict[Phrase, None] = {}
    for match in _CHUNK.finditer(text.translate(_QUOTES)):
        quoted = match[1] is not None
        whole = quoted and match[0].endswith('"')  # without its end it is still being typed
        found = tuple(word._replace(start=0, end=0) for word in words(match[1] or match[2] or ""))
        if found:
            made[Phrase(found, beginning=not whole)] = None
    return list(made)
