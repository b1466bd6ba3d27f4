"""What another user of this machine can do with paths: a script that gives up being root first.

``python another_user.py UID`` reads paths (JSON) from stdin and prints, as JSON, what it could do
with each: ``[path, what, …]``. It changes nothing: what it opens for writing it doesn't write to.
"""

import json
import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path


def deeds(path: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """What one may try with a path, by its name."""
    yield "be seen", lambda: os.lstat(path)
    yield "be read", lambda: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    yield "be written", lambda: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    yield "be listed", lambda: list(Path(path).iterdir())
    yield "be connected to", lambda: connected(path)
    if os.access(path, os.W_OK) and stat.S_ISDIR(os.lstat(path).st_mode):
        yield "be written into", lambda: None


def connected(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as talk:
        talk.settimeout(5)
        talk.connect(path)


def managed(path: str) -> list[str]:
    """What could be done with a path."""
    found = []
    for what, deed in deeds(path):
        try:
            deed()
        except OSError:
            continue
        found.append(what)
    return found


def main() -> None:
    """Be another user, then try."""
    paths = json.load(sys.stdin)
    uid = int(sys.argv[1])
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    assert os.getuid() == uid
    print(json.dumps([[path, *managed(path)] for path in paths]))


if __name__ == "__main__":
    main()
