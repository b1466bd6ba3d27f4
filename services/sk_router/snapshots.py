"""Snapshots of the router's state: two files in the data directory, written whole or not at all.

A snapshot is a cache of the fold up to an input: without one the state is folded from the whole
journal. The older of the two says what the journal must keep.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sk_bus.errors import MalformedError
from sk_bus.wire import packed, unpacked
from sk_router.state import State, restored, snapshot


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state after every input of ``epoch`` up to ``decided``."""

    epoch: int
    decided: int
    state: State


class SnapshotFiles:
    """``router.snapshot`` and the one before it."""

    def __init__(self, directory: Path) -> None:
        self._newest = directory / "router.snapshot"
        self._older = directory / "router.snapshot.1"

    def read(self, epoch: int, position: int) -> list[Snapshot]:
        """What can be used of them, the newest first: of this epoch, and not ahead of the log."""
        found = [_read(path) for path in (self._newest, self._older)]
        return [
            one
            for one in found
            if one is not None and one.epoch == epoch and one.decided <= position
        ]

    def write(self, epoch: int, decided: int, state: State) -> None:
        """Keep the state; the newest so far becomes the older one.

        Raises:
            OSError: there is no room for it.
        """
        data = packed({"epoch": epoch, "decided": decided, "state": snapshot(state)})
        draft = self._newest.with_suffix(".draft")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if self._newest.exists():
            self._newest.replace(self._older)
        draft.replace(self._newest)


def _read(path: Path) -> Snapshot | None:
    try:
        data: Any = unpacked(path.read_bytes())
        state = restored(data["state"])
        return None if state is None else Snapshot(data["epoch"], data["decided"], state)
    except FileNotFoundError:
        return None
    except (MalformedError, KeyError, TypeError, ValueError):
        return None  # only a cache: the journal says it all again
