"""Globs over paths and over commands, each in time that no text can blow up.

In a path ``*`` stays within one folder and ``**`` goes through any. In a command ``*`` stays within
one simple command and ``**`` goes through anything: ``git log*`` doesn't fit ``git log; rm -r /``.
Case counts. Pure text: no path is looked at, so no symlink is followed.
"""

import re
from functools import lru_cache
from posixpath import normpath
from unicodedata import normalize

# What ends a simple command, or brings in another one's output or a file.
_WITHIN_COMMAND = r"[^;&|<>()`\n\r]"
_WITHIN_FOLDER = r"[^/]"
_SIGN = re.compile(r"\*+|\[[^\]]+\]|.", re.DOTALL)
_LONGEST = 4_000


def path_fits(path: str, glob: str, folder: str) -> bool:
    """Whether ``path`` fits ``glob``; both count from ``folder`` where they aren't absolute.

    ``..`` is resolved before, so that it leads out of nothing. The folder is no glob.
    """
    names = _segments(path if path.startswith("/") else f"{folder}/{path}")
    if glob.startswith("/"):
        return _segments_fit(names, _segments(glob))
    start, rest = _segments(folder), _segments(glob)
    while rest and rest[0] == "..":
        start, rest = start[:-1], rest[1:]
    return names[: len(start)] == start and _segments_fit(names[len(start) :], rest)


def command_fits(command: str, glob: str) -> bool:
    """Whether a whole command fits ``glob``; one of over 4,000 characters never does."""
    command = command.strip()
    return len(command) <= _LONGEST and _command(glob.strip()).fullmatch(command) is not None


def _segments(path: str) -> list[str]:
    return [one for one in normalize("NFC", normpath(path)).split("/") if one not in ("", ".")]


def _segments_fit(names: list[str], globs: list[str]) -> bool:
    """The usual walk: on a mismatch the last ``**`` takes one name more."""
    at = glob = 0
    again: tuple[int, int] | None = None
    while at < len(names):
        if glob < len(globs) and globs[glob] == "**":
            glob += 1
            again = at, glob
        elif glob < len(globs) and _segment(globs[glob]).fullmatch(names[at]):
            at, glob = at + 1, glob + 1
        elif again is not None:
            at, glob = again[0] + 1, again[1]
            again = at, glob
        else:
            return False
    return all(one == "**" for one in globs[glob:])


@lru_cache(maxsize=512)
def _segment(glob: str) -> re.Pattern[str]:
    pieces = [piece for run in _runs(glob, _WITHIN_FOLDER) for piece in run]
    return re.compile(_run(pieces, _WITHIN_FOLDER, last=True), re.DOTALL)


@lru_cache(maxsize=512)
def _command(glob: str) -> re.Pattern[str]:
    first, *runs = _runs(glob, _WITHIN_COMMAND)
    made = _run(first, _WITHIN_COMMAND, last=not runs)
    for run in runs[:-1]:
        # The first place where a run fits is as good as any: what follows may begin anywhere.
        made += f"(?>.*?{_run(run, _WITHIN_COMMAND, last=False)})"
    if runs:
        made += f".*{_run(runs[-1], _WITHIN_COMMAND, last=True)}"
    return re.compile(made, re.DOTALL)


def _runs(glob: str, within: str) -> list[list[str]]:
    """Pieces with ``*`` between them, in runs with ``**`` between those."""
    runs = [[""]]
    for sign in _SIGN.findall(glob):
        if sign[0] != "*":
            runs[-1][-1] += _one(sign, within)
        elif sign == "*":
            runs[-1].append("")
        else:
            runs.append([""])
    return runs


def _run(pieces: list[str], within: str, *, last: bool) -> str:
    """Pieces with ``*`` between them: each takes the first place it can, the last the end."""
    first, *rest = pieces
    taken = rest[:-1] if last else rest
    made = first + "".join(f"(?>{within}*?{piece})" for piece in taken)
    return f"{made}{within}*{rest[-1]}" if last and rest else made


def _one(sign: str, within: str) -> str:
    """One character: ``?`` is any, ``[a-c]`` one of some, ``[!a-c]`` one of the others."""
    if sign == "?":
        return within
    if len(sign) == 1:
        return re.escape(sign)
    inner = sign[1:-1]
    negated = inner[0] in "!^" and len(inner) > 1
    return f"(?={within})[{'^' if negated else ''}{_members(inner[negated:])}]"


def _members(inner: str) -> str:
    """What stands between brackets, ranges among it."""
    made = ""
    at = 0
    while at < len(inner):
        first, last = inner[at], inner[at + 2 : at + 3]
        if inner[at + 1 : at + 2] == "-" and last and first <= last:
            made += f"{_member(first)}-{_member(last)}"
            at += 3
        else:
            made += _member(first)
            at += 1
    return made


def _member(character: str) -> str:
    return (
        character
        if character.isalnum()
        else f"\\x{ord(character):02x}"
        if ord(character) < 256
        else re.escape(character)
    )
