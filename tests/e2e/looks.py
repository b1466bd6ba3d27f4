"""In which language and theme a test sees the page: the browser asks for them, and the page obeys.

``SK_LOOK`` names one for all of tests/e2e (``make test-page`` takes all four in turn). Without it
the files take turns, so that each run of the tests has seen both languages and both themes.
"""

import os
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "fr"]
Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Look:
    """What a person's system says that he reads and likes."""

    language: Language
    theme: Theme

    def __str__(self) -> str:
        return f"{self.language}-{self.theme}"

    @property
    def locale(self) -> str:
        return {"en": "en-US", "fr": "fr-FR"}[self.language]

    @property
    def other_theme(self) -> Theme:
        return "light" if self.theme == "dark" else "dark"

    @property
    def other_language(self) -> Language:
        return "en" if self.language == "fr" else "fr"


EN_LIGHT, FR_DARK = Look("en", "light"), Look("fr", "dark")
LOOKS = {str(look): look for look in (EN_LIGHT, FR_DARK, Look("en", "dark"), Look("fr", "light"))}

# The files whose turn it is with the second; the others have the first.
IN_FRENCH_AND_DARK = frozenset(
    {
        "test_agents",
        "test_bus",
        "test_channels",
        "test_deaths",
        "test_opening",
        "test_search",
        "test_talking",
    }
)


def asked() -> Look | None:
    """The one that was asked for."""
    name = os.environ.get("SK_LOOK")
    return LOOKS[name] if name else None


def look_of(file: str) -> Look:
    """That of the tests of a file."""
    return asked() or (FR_DARK if file in IN_FRENCH_AND_DARK else EN_LIGHT)


def tried() -> tuple[Look, ...]:
    """Those of a test that wants to see more than one."""
    one = asked()
    return (EN_LIGHT, FR_DARK) if one is None else (one,)
