"""What the demo agent hears in a prompt: the message to answer, and who said what before it.

A client may send a text alone, or in a channel of Sidekicks with what the others said, each behind
a line of ``[mark] author:``, and a request at the end. A code that somebody names is understood in
a simple sentence, so that two agents without a model can show that one reads what the other heard.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_CLOSING = re.compile(r"\s*\[([0-9a-f]{12})\] ")
_MARKED = re.compile(r"^\[([0-9a-f]{12})\] ", re.MULTILINE)
_NAMED = re.compile(
    r"\b(?:codeword|code)\b[^.?!:=\n]{0,40}?(?:\b(?:is|was|est)\b|[:=])[\s*_`\"'“«]*(?P<code>\w[\w-]*)"
    r"|\bcode\s+[*_`\"'“«]*(?P<number>[\w-]*\d[\w-]*)",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:what|which|tell|repeat|say|quel|dis|dites|rappelle|répète)\b[^.!\n]*\bcode\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\bcode\b[^.!\n]*\?", re.IGNORECASE)

YOU = "you"  # who sends the prompts, as the agent calls them


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    author: str = ""


def heard(prompt: Any) -> tuple[list[Said], str]:
    """What was said before, and the message to answer."""
    texts = _texts(prompt)
    if len(texts) > 1 and _CLOSING.match(texts[-1]):
        texts.pop()
    if not texts:
        return [], ""
    *before, message = texts
    return [said for text in before for said in _past(text)], message


def asks_for_a_code(message: str, *, known: bool) -> bool:
    """Whether the message asks for a code that was named; where none is ``known``, plainly."""
    if code_in(message) is not None:
        return False
    return bool(_ASKED.search(message) or (known and _QUESTION.search(message)))


def code_in(text: str) -> str | None:
    """The code that the text names, if it does; a question names none."""
    for found in _NAMED.finditer(text):
        code = found["code"] or found["number"]
        if not text[found.end() :].lstrip("*_`\"'”»").startswith("?"):
            return code
    return None


def last_code(memory: Sequence[Said]) -> tuple[str, Said] | None:
    """The code that was named last, and who named it first."""
    named = [(code, said) for said in memory if (code := code_in(said.text)) is not None]
    return next((one for one in named if one[0] == named[-1][0]), None)


def _texts(prompt: Any) -> list[str]:
    if not isinstance(prompt, list):
        return []
    blocks = [block.get("text") for block in prompt if isinstance(block, dict)]
    return [text for text in blocks if isinstance(text, str)]


def _past(text: str) -> Iterable[Said]:
    """The messages in a block that tells of the past."""
    first = _MARKED.search(text)
    if first is None:
        return
    for piece in text.split(f"[{first[1]}] ")[1:]:
        author, colon, said = piece.partition(":\n")
        if colon and "\n" not in author and said.strip():
            yield Said(said.strip(), YOU if author == "the user" else author)
