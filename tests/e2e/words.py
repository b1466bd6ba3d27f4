"""What the page says, in either language, from its own catalogues: tests look for a key's text."""

import json
import re
from functools import cache

from tests.support.instance import ROOT

_TEXT = r'"(?:[^"\\]|\\.)*"'
_ENTRY = re.compile(rf'^  "([\w.-]+)":\s+(?:\{{ one: )?({_TEXT})', re.MULTILINE)


@cache
def _catalogue(language: str) -> dict[str, str]:
    text = (ROOT / "ui-web" / "src" / "i18n" / f"{language}.ts").read_text(encoding="utf-8")
    return {key: str(json.loads(said)) for key, said in _ENTRY.findall(text)}


def said(language: str, key: str, **params: object) -> str:
    """The text of ``key``; of one that has two forms, that for one."""
    return re.sub(
        r"\{(\w+)\}", lambda found: str(params.get(found[1], found[0])), _catalogue(language)[key]
    )
