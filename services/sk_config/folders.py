"""What a file dialog may see of this machine: folders and YAML files, below two folders only.

Those are the home directory and the folder of the configuration in force. A path counts by where it
leads, so neither ``..`` nor a link gets out.
"""

import heapq
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from sk_bus.errors import RefusedError, problem
from sk_bus.queries import FolderEntry, FolderView

MOST = 500  # entries
_LOOKED_AT = 50_000  # names in one folder, before the rest counts as more
_YAML = (".yaml", ".yml")


def listed(asked: str, *, home: Path, folder: Path) -> FolderView:
    """The folder that was ``asked`` for; without a path, that of the configuration.

    Raises:
        RefusedError: there is none, it can't be read, or it lies elsewhere.
    """
    tops = [home.resolve(), folder.resolve()]
    expanded = os.path.expanduser(asked) if asked else folder  # noqa: PTH111  as in a configuration
    try:
        path = (folder / expanded).resolve()
        if not _below(path, tops):
            message = "{path} lies outside of what can be chosen from: {tops}"
            named = ", ".join(map(str, dict.fromkeys(tops)))
            raise RefusedError(problem("out-of-reach", message, path=str(path), tops=named))
        with os.scandir(path) as found:
            names = _Names(found)
            entries = heapq.nsmallest(MOST + 1, _entries(path, names, tops), key=_order)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RefusedError(
            problem("no-such-folder", "there is no folder {path}", path=asked)
        ) from error
    except (OSError, ValueError, RuntimeError) as error:  # no right, a NUL, links without end
        reason = getattr(error, "strerror", None) or str(error)
        raise RefusedError(
            problem("unreadable", "{path} can't be read: {reason}", path=asked, reason=reason)
        ) from error
    parent = path.parent if path not in tops or _below(path.parent, tops) else None
    return FolderView(
        path=str(path),
        parent=str(parent) if parent is not None and parent != path else None,
        entries=tuple(entries[:MOST]),
        more=len(entries) > MOST or names.cut,
    )


def _below(path: Path, tops: list[Path]) -> bool:
    return any(path.is_relative_to(top) for top in tops)


class _Names:
    """The names in a folder, up to a bound; ``cut`` says that there were more."""

    def __init__(self, found: "Iterator[os.DirEntry[str]]") -> None:
        self._found = found
        self.cut = False

    def __iter__(self) -> "Iterator[os.DirEntry[str]]":
        for count, entry in enumerate(self._found):
            if count == _LOOKED_AT:
                self.cut = True
                return
            yield entry


def _entries(path: Path, names: _Names, tops: list[Path]) -> Iterator[FolderEntry]:
    for entry in names:
        made = _entry(path, entry, tops)
        if made is not None:
            yield made


def _entry(path: Path, entry: "os.DirEntry[str]", tops: list[Path]) -> FolderEntry | None:
    """An entry that can be chosen or gone into; ``None`` for any other."""
    name = entry.name
    if any("\ud800" <= char <= "\udfff" for char in name):
        return None  # no text, so nobody could ask for it
    try:
        mode = entry.stat().st_mode
        folder = stat.S_ISDIR(mode)
        wanted = folder or (stat.S_ISREG(mode) and name.lower().endswith(_YAML))
        if not wanted or (entry.is_symlink() and not _below((path / name).resolve(), tops)):
            return None
    except (OSError, RuntimeError):
        return None  # gone meanwhile, or a link that leads nowhere
    return FolderEntry(name=name, path=str(path / name), folder=folder, hidden=name.startswith("."))


def _order(entry: FolderEntry) -> tuple[bool, bool, str, str]:
    return not entry.folder, entry.hidden, entry.name.casefold(), entry.name
