"""What a text that isn't YAML is told: PyYAML's complaints, in words that say what to do.

None quotes anything but single characters: who can't read the file doesn't know what in it is
secret.
"""

import re

from sk_bus.errors import problem
from sk_bus.model import Problem

# (what PyYAML says, the problem's id, our words), the first that fits.
_SAYS: tuple[tuple[str, str, str], ...] = (
    (r"'\\t'", "yaml-tab", "a tab can't stand here: indent with spaces"),
    (
        r"another document|document separator",
        "yaml-documents",
        "one document is enough: remove what follows ---",
    ),
    (
        r"undefined alias",
        "yaml-alias",
        "an alias (*) without its anchor (&): put the value in quotes",
    ),
    (r"duplicate anchor", "yaml-anchor", "an anchor (&) that stands above already: rename it"),
    (
        r"mapping values are not allowed",
        "yaml-colon",
        (
            "a colon isn't expected here: check the indentation, look above for a colon without a"
            " blank behind it, or use quotes"
        ),
    ),
    (
        r"sequence entries are not allowed",
        "yaml-dash",
        "an entry of a list (-) can't begin here: put it in a line of its own",
    ),
    (r"',' or '\]'", "yaml-list", "a list in brackets isn't closed: a comma or a ] is missing"),
    (
        r"',' or '\}'",
        "yaml-mapping",
        "a mapping in braces isn't closed: a comma or the brace is missing",
    ),
    (r"could not find expected ':'", "yaml-no-colon", "a colon is missing behind the key"),
    (
        r"<block end>|<document start>",
        "yaml-indentation",
        "this doesn't go with the lines above: check the indentation",
    ),
    (r"unexpected end of stream", "yaml-quotes", "quotes that were opened are never closed"),
    (
        r"character '(?P<character>.)' that cannot start",
        "yaml-start",
        "text can't begin with {character}: put it in quotes",
    ),
    (
        r"unknown escape character|escape sequence of",
        "yaml-escape",
        "a backslash means something else between double quotes: write two, or use single quotes",
    ),
    (r"flow node.*<stream end>", "yaml-open", "a bracket or brace that was opened is never closed"),
    (r"expected the node content", "yaml-value", "a value is missing here"),
    (r"tag handle|'!'|a tag", "unknown-tag", "a tag (!) that has no meaning here: remove it"),
)


def complaint(said: str) -> Problem:
    """The problem that PyYAML's words stand for."""
    for pattern, id_, message in _SAYS:
        found = re.search(pattern, said)
        if found is not None:
            return problem(id_, message, **found.groupdict())
    return problem("yaml", "this can't be read as YAML: check quotes and indentation")
