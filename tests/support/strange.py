"""What strangers may send: values, texts and bytes as hypothesis draws them, valid ones spoilt.

Shared by the properties of every parser that somebody else's bytes reach.
"""

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# In `make test` each property is tried this often; `make fuzz` goes on for as long as one likes.
briefly = settings(
    max_examples=int(os.environ.get("SK_FUZZ_EXAMPLES", "40")),
    suppress_health_check=list(HealthCheck),
)

# Halves of surrogate pairs, marks that turn the direction of text, what ends lines or strings.
_NASTY = "\0\x1b\r\n\t\"'\\{}[]<>&@/:;,.`*_#~\u200b\u200d\u202e\u2028\ufeff\ud83d\udd25Aaéß李ก०"
CHARACTERS = st.sampled_from(_NASTY) | st.characters(codec="utf-8")
WHOLE_CHARACTERS = CHARACTERS.filter(lambda one: not "\ud800" <= one <= "\udfff")
TEXTS = st.text(CHARACTERS, max_size=60)
WHOLE_TEXTS = st.text(WHOLE_CHARACTERS, max_size=60)

EDGES = (0, -1, 1, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63))
NUMBERS = st.sampled_from(EDGES) | st.integers() | st.floats()
_SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS


def values(*words: str) -> st.SearchStrategy[Any]:
    """JSON values of any shape; ``words`` are met often, as keys and as texts."""
    keys = TEXTS | st.sampled_from(words) if words else TEXTS
    return st.recursive(
        _SCALARS | st.sampled_from(words) if words else _SCALARS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
        max_leaves=12,
    )


@st.composite
def spoilt(draw: st.DrawFn, good: st.SearchStrategy[bytes]) -> bytes:
    """Bytes that were right once: a few of them changed, doubled, left out or put in."""
    data = bytearray(draw(good))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["change", "drop", "add", "double", "cut"])):
            case "change" if at < len(data):
                data[at] = draw(st.integers(0, 255))
            case "drop":
                del data[at : at + draw(st.integers(1, 4))]
            case "add":
                data[at:at] = draw(st.binary(max_size=8))
            case "double":
                data[at:at] = data[at : at + draw(st.integers(1, 20))]
            case _:
                del data[at:]
    return bytes(data)


@st.composite
def in_pieces(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> list[bytes]:
    """Bytes as a stream hands them over: cut anywhere."""
    data = draw(whole)
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=6)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@st.composite
def altered(draw: st.DrawFn, good: Any, *words: str) -> Any:
    """A JSON value that was right once, with some of what is in it replaced."""
    strange = values(*words)

    def alter(value: Any) -> Any:
        if draw(st.integers(0, 11)) == 0:
            return draw(strange)
        match value:
            case dict():
                made = {key: alter(item) for key, item in value.items()}
                if made and draw(st.integers(0, 9)) == 0:
                    del made[draw(st.sampled_from(sorted(made)))]
                return made
            case list():
                return [alter(item) for item in value]
            case _:
                return value

    return alter(good)
