"""Files, written so that nobody ever reads half of one, and nobody else reads a secret one."""

import codecs
import errno
import os
import stat
from pathlib import Path

from sk_config.definition import Definition

LARGEST = 2**20  # bytes of a configuration file; the schema takes far less
_KEPT = 50  # definitions at least
_YOUNG = 86_400.0  # seconds; one that a running agent may still be compared with


def read(path: Path) -> bytes:
    """The bytes of a configuration file.

    Raises:
        OSError: there is none, it can't be read, or it is nothing that one reads as a whole.
    """
    # Without waiting: a pipe would be opened once somebody writes.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no ordinary file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, "it is too large to be a configuration")
    return data


def like(text: str, before: bytes) -> bytes:
    """``text`` as it is written in place of ``before``, with its line ends and byte order mark.

    An editor in a page knows neither.
    """
    if "\r" not in text and 0 < before.count(b"\n") == before.count(b"\r\n"):
        text = text.replace("\n", "\r\n")
    data = text.removeprefix("\ufeff").encode()
    return codecs.BOM_UTF8 + data if before.startswith(codecs.BOM_UTF8) else data


def replace(path: Path, data: bytes) -> None:
    """Put ``data`` in place of what ``path`` leads to; its mode stays, and so does a symlink.

    A new file gets mode 0600.

    Raises:
        OSError: it can't be written; what was there still is.
    """
    target = path.resolve()
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = 0o600
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    draft.unlink(missing_ok=True)
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def put_definitions(directory: Path, definitions: tuple[Definition, ...]) -> None:
    """See that each definition has its file, and that it counts as used now."""
    for definition in definitions:
        path = directory / f"{definition.digest}.json"
        if path.exists():
            os.utime(path)
        else:
            replace(path, definition.content)


def sweep_definitions(directory: Path, named: frozenset[str], now: float) -> None:
    """Remove definitions that are neither ``named`` nor young nor among the last fifty."""
    found = sorted(
        (path for path in directory.glob("*.json")), key=lambda path: -path.stat().st_mtime
    )
    for path in found[_KEPT:]:
        if path.stem not in named and now - path.stat().st_mtime > _YOUNG:
            path.unlink(missing_ok=True)
