"""Which language a call speaks: ``--lang``, else the configuration, else the login's. Pure."""

import re
from collections.abc import Mapping, Sequence

from sk_cli.words import LANGUAGES, Language

# A key of the file's first level. The file is not parsed: that would take longer than most calls.
_SETTING = re.compile(
    r"""^["']?language["']?[ \t]*:[ \t]+["']?(\w+)["']?[ \t]*(?:#.*)?\r?$""", re.MULTILINE
)
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


def asked_for(arguments: Sequence[str]) -> Language | None:
    """What ``--lang`` says, wherever it stands; a wrong value is found out when it is parsed."""
    for at, argument in enumerate(arguments):
        if argument == "--":
            break
        name, _, value = argument.partition("=")
        if name == "--lang":
            value = value or (arguments[at + 1] if at + 1 < len(arguments) else "")
            return _known(value)
    return None


def configured(text: str) -> Language | None:
    """What ``language:`` in a configuration file says; ``None`` where it says ``system``."""
    found = _SETTING.search(text)
    return _known(found[1]) if found else None


def of_login(variables: Mapping[str, str]) -> Language:
    """The language of the login's locale, as far as it is one of ours."""
    locale = next((variables[name] for name in _LOCALE if variables.get(name)), "")
    return _known(locale[:2].lower()) or "en"


def _known(value: str) -> Language | None:
    return next((one for one in LANGUAGES if one == value), None)
