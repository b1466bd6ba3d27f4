"""The configuration files that were opened, newest first: one short list for all instances."""

import json
from pathlib import Path

from sk_config import files

_MOST = 8


def recent(path: Path) -> tuple[str, ...]:
    """What the list at ``path`` holds; nothing when it can't be read."""
    try:
        noted = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return ()
    if not isinstance(noted, list):
        return ()
    return tuple(entry for entry in noted if isinstance(entry, str))[:_MOST]


def opened(path: Path, file: Path) -> None:
    """Put ``file`` first on the list."""
    known = recent(path)
    now = (str(file), *(entry for entry in known if entry != str(file)))[:_MOST]
    if now != known:
        files.replace(path, json.dumps(now).encode())


def forgotten(path: Path, file: str) -> tuple[str, ...]:
    """Take ``file`` off the list; what the list holds then."""
    known = recent(path)
    now = tuple(entry for entry in known if entry != file)
    if now != known:
        files.replace(path, json.dumps(now).encode())
    return now
