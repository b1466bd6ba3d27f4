"""What the page says, in either language, from its own catalogues: tests look for a key's text."""

import json
import re
from functools import cache

from tests.support.instance import ROOT

_TEXT = r'"(?:[^"\\]|\\.)*"'
_ENTRY = re.compile(
    rf'^  "([\w.-]+)":\s+(?:({_TEXT})|\{{ one: ({_TEXT}), other: ({_TEXT}) \}})', re.MULTILINE
)
_PARAM = re.compile(r"\{(\w+)\}")


@cache
def _catalogue(language: str) -> dict[str, tuple[str, ...]]:
    """Each key's forms: one, or those for one and for several."""
    text = (ROOT / "ui-web" / "src" / "i18n" / f"{language}.ts").read_text(encoding="utf-8")
    return {
        key: tuple(str(json.loads(form)) for form in forms if form)
        for key, *forms in _ENTRY.findall(text)
    }


def said(language: str, key: str, **params: object) -> str:
    """The text of ``key``; of one that has two forms that for the ``count``, else that for one."""
    forms = _catalogue(language)[key]
    written = {
        name: number(language, value) if isinstance(value, int) else str(value)
        for name, value in params.items()
    }
    text = forms[0] if _is_one(language, params.get("count", 1)) else forms[-1]
    return _PARAM.sub(lambda found: written.get(found[1], found[0]), text)


def _is_one(language: str, count: object) -> bool:
    return count == 1 or (language == "fr" and count == 0)


def pattern(language: str, key: str, **params: object) -> re.Pattern[str]:
    """The same where a param may be anything: each that isn't given."""
    forms = []
    for form in _catalogue(language)[key]:
        filled = _PARAM.sub(lambda found: str(params.get(found[1], found[0])), form)
        literal = (
            re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(one)) for one in _PARAM.split(filled)[::2]
        )
        forms.append(".*?".join(literal))
    return re.compile("|".join(forms))


def number(language: str, value: int) -> str:
    """As a reader of that language writes it: French has narrow spaces where English has commas."""
    return f"{value:,}".replace(",", "\u202f" if language == "fr" else ",")
