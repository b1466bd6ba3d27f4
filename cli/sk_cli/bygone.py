"""The log of an instance that is down: its journal, opened read-only."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sk_bus import paths
from sk_bus.codec import value_of
from sk_bus.contract import Hello, Resync
from sk_bus.events import Kind
from sk_bus.model import Channel, Cursor
from sk_bus.wire import Batch, batch_from_record
from sk_cli import locks
from sk_cli.choice import Choice
from sk_cli.failure import Exit, Failure
from sk_cli.words import t

if TYPE_CHECKING:
    from sk_bus.journal import Journal

_PIECE = 512 * 1024
# What says which channels there are, and all of them.
_LISTS = ("channels:changed", "history:restored")


@contextmanager
def bygone(choice: Choice) -> Iterator["Bygone"]:
    """The log of the chosen configuration file.

    Raises:
        Failure: there is none, or somebody has it open.
    """
    from sk_bus.journal import Journal, JournalError

    data = paths.data_directory(choice.config)
    journal = data / "journal"
    if not (journal / "CURRENT").exists():
        raise Failure(
            t("events.no-journal", path=choice.config), code=Exit.NOT_RUNNING, then="sk-cli up"
        )
    if locks.is_held(data / "bus.lock"):
        raise Failure(t("events.journal-held", path=journal), code=Exit.NOT_RUNNING)
    try:
        opened = Journal(journal, read_only=True)
    except JournalError as error:
        raise Failure(str(error), then="sk-cli doctor") from error
    try:
        yield Bygone(opened, str(choice.config))
    finally:
        opened.close()


class Bygone:
    """The part of a bus that a journal alone can be."""

    def __init__(self, journal: "Journal", config: str) -> None:
        self._journal = journal
        self._config = config

    async def hello(self) -> Hello:
        return Hello(
            epoch=self._journal.epoch,
            head=self._journal.head,
            floor=self._journal.floor,
            directory="",
            config=self._config,
            open=self._journal.open,
        )

    async def follow(
        self, after: Cursor, *, heartbeats: bool = False
    ) -> AsyncGenerator[Batch | Resync, None]:
        """Every batch after ``after``, to the journal's end."""
        del heartbeats
        seq = after.seq
        while records := self._journal.replay(seq, _PIECE):
            for record in records:
                batch = batch_from_record(record)
                seq = batch.last
                yield batch

    def channels(self) -> tuple[Channel, ...]:
        """The channels there were at the end."""
        found: tuple[Channel, ...] = ()
        seq = 0
        while records := self._journal.replay(seq, _PIECE):
            for record in records:
                batch = batch_from_record(record)
                seq = batch.last
                if not batch.kinds & (Kind.PUBLIC | Kind.INTERNAL):
                    continue
                for event in batch.raw():
                    if event.get("type") in _LISTS:
                        found = value_of(tuple[Channel, ...], event.get("channels", []))
        return found
