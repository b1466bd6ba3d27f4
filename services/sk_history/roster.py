"""The channels once more, in a file beside the database, for the case that this alone is lost.

What the journal still has can be read into a new database, but the last list of channels may have
left the journal long ago, and without its channel no message is kept.
"""

import os
from pathlib import Path

from sk_bus.codec import plain, value_of
from sk_bus.errors import MalformedError
from sk_bus.events import ChannelsChanged
from sk_bus.model import Channel
from sk_bus.wire import packed, unpacked


class Roster:
    """The file ``channels`` in a data directory."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "channels"
        self._written: tuple[Channel, ...] | None = None

    def read(self) -> tuple[Channel, ...]:
        """The channels as they were written last; none where that can't be read."""
        try:
            data = unpacked(self._path.read_bytes())
            return value_of(ChannelsChanged, data).channels
        except (OSError, MalformedError, TypeError, KeyError, ValueError):
            return ()

    def write(self, channels: tuple[Channel, ...]) -> None:
        """Keep the channels, if they are others than before."""
        if channels == self._written:
            return
        draft = self._path.with_name("channels.draft")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(packed(plain(ChannelsChanged(channels=channels))))
        draft.replace(self._path)
        self._written = channels
