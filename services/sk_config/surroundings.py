"""What a configuration file is read against: its folder, the home, the variables, the programs.

A value, so that a check gives the same verdict wherever it runs; asking the machine is the
business of whoever makes it.
"""

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_HOME = re.compile(r"~([\w.-]*)(?=/|$)")
_UNFILLED = re.compile(r"(?<!\$)\$([A-Za-z_][A-Za-z0-9_]*)")
_VARIABLE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def variables_in(text: str) -> frozenset[str]:
    """The names of the variables that ``text`` may have filled in."""
    return frozenset(found[1] for found in _VARIABLE.finditer(text) if found[1] is not None)


def unfilled_in(text: str) -> str | None:
    """The name of a variable that stands in ``text`` as shells know it, without braces."""
    found = _UNFILLED.search(text)
    return None if found is None else found[1]


class UnsetVariableError(Exception):
    """``${NAME}`` stands for nothing here."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"${{{name}}} is not set")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """``folder`` is the configuration file's, ``beside`` that of sk-cli; both absolute.

    ``home_of`` knows the homes of other users by their names.
    """

    folder: str
    home: str
    variables: Mapping[str, str]
    beside: str
    executable: Callable[[str], bool]
    directory: Callable[[str], bool]
    home_of: Callable[[str], str | None]

    def expanded(self, text: str) -> str:
        """``text`` with a leading ``~`` and each ``${VAR}`` filled in; ``$${`` is a plain ``${``.

        ``~somebody`` whom nobody knows stays as it is, as in a shell.

        Raises:
            UnsetVariableError: a variable isn't set.
        """

        def value(found: re.Match[str]) -> str:
            name = found[1]
            if name is None:
                return "${"
            if name not in self.variables:
                raise UnsetVariableError(name)
            return self.variables[name]

        tilde = _HOME.match(text)
        if tilde is None:
            return _VARIABLE.sub(value, text)
        home = self.home_of(tilde[1]) if tilde[1] else self.home
        return (home or tilde[0]) + _VARIABLE.sub(value, text[tilde.end() :])

    def place(self, path: str) -> str:
        """``path`` made absolute, from the configuration file's folder."""
        return posixpath.normpath(posixpath.join(self.folder, path))

    def program(self, command: str, search: str) -> str | None:
        """The absolute path of ``command``; ``search`` is the PATH to look on."""
        if "/" in command:
            path = self.place(command)
            return path if self.executable(path) else None
        for folder in (*search.split(":"), self.beside):
            # An empty entry, and a relative one, would mean wherever we happen to run.
            path = posixpath.join(folder, command)
            if folder.startswith("/") and self.executable(path):
                return path
        return None
