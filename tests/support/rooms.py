"""Where a test's processes live, apart from those of every other test: a folder, and a port.

Folders are short, and in /tmp: paths of sockets are limited. A test that fails shows the logs in
them; at the end of a run none may be left.
"""

import os
import random
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_WORKERS = 16
_PORTS = 21_000 // _WORKERS

_occupied: list[Path] = []


@contextmanager
def folder(prefix: str) -> Iterator[Path]:
    """A folder of a test's own, gone afterwards."""
    made = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    _occupied.append(made)
    try:
        yield made
    finally:
        # What still writes there must not keep the rest from being removed.
        subprocess.run(["rm", "-rf", str(made)], check=False)
        _occupied.remove(made)


def port() -> int:
    """Where to begin to look for a free one.

    Below those that the system hands out: there a port that is free for the moment of a restart
    goes to any connection of anybody. Each worker has a range of its own, so that what another one
    starts in that moment can't take it either.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
    first = 10_000 + worker * _PORTS
    return random.SystemRandom().randrange(first, first + _PORTS - 100)


def occupied() -> list[Path]:
    return list(_occupied)


def logs(count: int = 25) -> list[tuple[str, str]]:
    """The name and the last lines of each log in the folders that are in use now."""
    return [
        (str(path), tail)
        for folder_ in _occupied
        for path in sorted({*folder_.rglob("*.log"), *folder_.rglob("*.err")})
        # The journal's files are called so, too.
        if not path.stem.isdigit() and (tail := _tail(path, count))
    ]


def _tail(path: Path, count: int) -> str:
    try:
        lines = path.read_text(errors="replace").splitlines()[-count:]
    except OSError:
        return ""  # it went while we looked
    return "\n".join(
        line if len(line) <= 400 else f"{line[:150]} … {line[-240:]}" for line in lines
    )
