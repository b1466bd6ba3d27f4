"""Whom a text mentions: ``@name`` as people write it, in a line or in 100 kB that were pasted.

A name counts by what it says (NFKC, case folded), the longest configured one first. What stands in
code or in a URL is nobody's name, nor is what goes on as a longer word. Pure text, in one pass;
who answers because of it is decided elsewhere.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sk_bus.model import AgentName
from sk_router.channels.code import masked

MOST = 32
LONGEST = 32  # characters of a name

_SIGN = re.compile("[@＠]")  # the second is what a Chinese or Japanese keyboard writes
_BEFORE = frozenset(".%+-/\\")
_JOINTS = frozenset("-_.")


@dataclass(frozen=True, slots=True)
class Mention:
    """``text[start:end]`` is ``@`` and a name: of ``agent``, or of nobody we know."""

    start: int
    end: int
    agent: AgentName | None
    word: str


def folded(name: str) -> str:
    """What of a name counts: two names are the same when this is."""
    return unicodedata.normalize("NFKC", name).casefold()


def mentions(text: str, agents: Sequence[AgentName]) -> tuple[Mention, ...]:
    """The mentions in ``text``, in their order, also repeated ones and unknown names."""
    if _SIGN.search(text) is None:
        return ()
    names = {folded(agent): agent for agent in agents}
    longest = max(map(len, names), default=0)
    code = masked(text)
    found: list[Mention] = []
    ended = -1  # where a mention of somebody ended
    for sign in _SIGN.finditer(text):
        at = sign.start()
        if code[at] or not _may_begin(text, at, ended):
            continue
        mention = _known(text, at, names, longest) or _unknown(text, at)
        if mention is not None:
            found.append(mention)
            ended = mention.end if mention.agent is not None else ended
    return tuple(found)


def mentioned(found: Sequence[Mention]) -> tuple[AgentName, ...]:
    """The agents, each once, in the order of their first appearance; 32 at most."""
    agents = dict.fromkeys(one.agent for one in found if one.agent is not None)
    return tuple(agents)[:MOST]


def unknown(found: Sequence[Mention]) -> tuple[str, ...]:
    """The names that nobody has, each once; 32 at most."""
    words = dict.fromkeys(one.word for one in found if one.agent is None)
    return tuple(words)[:MOST]


# --- what stands before ---------------------------------------------------------------------


def _may_begin(text: str, at: int, ended: int) -> bool:
    """Whether a mention may begin at ``at``: no address, path or escape leads up to it."""
    before = at - 1
    if before >= 0 and text[before] == "/" and before == ended:
        return True  # it parts two mentions
    while before >= 0 and text[before] == "_":
        before -= 1  # it may open emphasis
    while before >= 0 and _is_mark(text[before]):
        before -= 1
    if before < 0:
        return True
    character = text[before]
    if character in _BEFORE or character.isdecimal():
        return False
    return not (character.isalpha() and _script(character) == "LATIN")


# --- the name -------------------------------------------------------------------------------


def _known(text: str, at: int, names: Mapping[str, AgentName], longest: int) -> Mention | None:
    """The longest configured name that stands behind the sign at ``at`` and goes on no further."""
    said = ""
    end = at + 1
    best: Mention | None = None
    while end < len(text) and len(said) < longest and _in_word(text[end]):
        start, end = end, _cluster_end(text, end)
        if end - start > LONGEST:
            break
        said += folded(text[start:end])
        agent = names.get(said)
        if agent is not None and not _goes_on(text, end, said):
            best = Mention(start=at, end=end, agent=agent, word=text[at + 1 : end])
    return best


def _unknown(text: str, at: int) -> Mention | None:
    """A word behind the sign at ``at`` that might be a name."""
    end = at + 1
    while end < len(text) and end - at <= 2 * LONGEST and _in_word(text[end]):
        end += 1
    word = text[at + 1 : end].rstrip("-_.")
    end = at + 1 + len(word)
    if not word or len(word) > LONGEST or not word[0].isalnum():
        return None
    if text[end : end + 1] == "/" and _is_word(text, end + 1):
        return None  # a package or a path
    return Mention(start=at, end=end, agent=None, word=word)


def _goes_on(text: str, end: int, said: str) -> bool:
    """Whether the word goes on at ``end``, so that it is another's name, or none."""
    if end >= len(text):
        return False
    after = text[end]
    script = _script_of(said)
    if after in _JOINTS or after == "/":
        return _same(text, end + 1, script)
    return _same(text, end, script)


def _same(text: str, at: int, script: str) -> bool:
    """Whether a letter or digit of the script stands at ``at``."""
    if at >= len(text):
        return False
    for character in unicodedata.normalize("NFKC", text[at]):
        if character.isdecimal() or _is_mark(character):
            return True
        if character.isalnum():
            return _script(character) in (script, "")
    return False


def _is_word(text: str, at: int) -> bool:
    return at < len(text) and text[at].isalnum()


def _in_word(character: str) -> bool:
    return character.isalnum() or character in _JOINTS or _is_mark(character)


# --- characters -----------------------------------------------------------------------------


def _cluster_end(text: str, start: int) -> int:
    """Where the character at ``start`` ends, with what NFKC may join to it."""
    end = start + 1
    while end < len(text) and end - start <= LONGEST and _joins(text[end]):
        end += 1
    return end


def _joins(character: str) -> bool:
    if character < "\u0300":
        return False
    # Parts of Korean syllables, and the voicing marks of narrow Katakana.
    return (
        _is_mark(character)
        or "\u1160" <= character <= "\u11ff"
        or "\u3131" <= character <= "\u318e"
        or "\uff9e" <= character <= "\uffdc"
    )


def _is_mark(character: str) -> bool:
    return character >= "\u0300" and unicodedata.category(character)[0] == "M"


def _script_of(said: str) -> str:
    """The script of the last letter of a name; digits alone are taken for Latin."""
    for character in reversed(said):
        if character.isalpha() and (script := _script(character)):
            return script
    return "LATIN"


def _script(character: str) -> str:
    """The script that a letter is of, by the first word of its Unicode name; "" where unknown."""
    if character < "\u0080":
        return "LATIN"
    name = unicodedata.name(unicodedata.normalize("NFKC", character)[0], "")
    first = name.partition(" ")[0].partition("-")[0]
    return _SCRIPTS.get(first, first)


_SCRIPTS = {"IDEOGRAPHIC": "CJK", "MODIFIER": "", "FEMININE": "LATIN", "MASCULINE": "LATIN"}
