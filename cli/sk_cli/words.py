"""What people read, in their language: a key and its params in, a sentence out.

One process speaks one language, which :func:`speak` sets before anything is said, and about one
instance, whose file :func:`address` sets where the call named it. The catalogues hold the same
keys; a problem that a service found is worded by :mod:`sk_bus.french`.
"""

import re
import shlex
from typing import Literal

from sk_bus.french import in_french
from sk_bus.model import Problem
from sk_cli.catalogue.en import ENGLISH
from sk_cli.catalogue.fr import FRENCH

Language = Literal["en", "fr"]
LANGUAGES: tuple[Language, ...] = ("en", "fr")

# One form, or those for one and for several: params["count"] chooses.
Entry = str | tuple[str, str]

CATALOGUES: dict[Language, dict[str, Entry]] = {"en": ENGLISH, "fr": FRENCH}
_spoken: list[Language] = ["en"]
_named: list[str] = [""]
# Of these the params are commands of ours, of the others the text may hold one.
_NEXT_STEPS = ("failure.next", "send.how-to-answer")
_OURS = re.compile(r"\bsk-cli (?=[a-z])")


def speak(language: Language) -> None:
    """Say everything in ``language`` from now on."""
    _spoken[0] = language


def spoken() -> Language:
    """The language in force."""
    return _spoken[0]


def address(config: str) -> None:
    """Name the file ``config`` in every command that is recommended from now on; "": none."""
    _named[0] = f"--config {shlex.quote(config)} " if config else ""


def addressed(commands: str) -> str:
    """``commands`` as they must be typed to reach the instance that this call is about."""
    return _OURS.sub(lambda ours: ours[0] + _named[0], commands)


def t(key: str, /, **params: object) -> str:
    """The text of ``key`` with its params filled in."""
    entry = CATALOGUES[spoken()][key]
    if isinstance(entry, tuple):
        entry = entry[_form(params["count"])]
    said = entry.format_map(params) if params else entry
    return addressed(said) if key in _NEXT_STEPS or _OURS.search(entry) else said


def known(key: str) -> bool:
    """Whether there is a text for ``key``: kinds and states are open sets."""
    return key in ENGLISH


def _form(count: object) -> int:
    alone = count in (0, 1) if spoken() == "fr" else count == 1
    return 0 if alone else 1


def number(value: float, digits: int = 0) -> str:
    """``value`` as the language writes it."""
    written = f"{value:.{digits}f}"
    return written.replace(".", ",") if spoken() == "fr" else written


def grouped(count: int) -> str:
    """``count`` as the language writes it, its digits in groups of three."""
    return f"{count:,}".replace(",", "\u202f" if spoken() == "fr" else ",")


def problem_text(problem: Problem) -> str:
    """A problem in the language in force where its kind is known there, else as it came."""
    said = in_french(problem) if spoken() == "fr" else None
    return problem.message if said is None else said
