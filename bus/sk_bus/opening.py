"""Which journal the bus opens, and whether the log goes on in it or begins a new epoch.

The journal of the configuration file in force; where that can't be opened, one in the run
directory, for as long as this supervisor lives. It goes on only if it is the one that this boot has
seen last, and not older than that.
"""

import os
import shutil
import struct
import time
from pathlib import Path
from typing import NamedTuple

from sk_bus import paths
from sk_bus.contract import Hello
from sk_bus.journal import Journal, JournalError
from sk_bus.process import Process, take

# What a person reads after the reason why something is kept in the run directory instead.
IN_MEMORY = (
    "mend that, then stop and start Sidekicks (what is said until then is kept in memory only)"
)
# What RocksDB says of files that are wrong or gone, not of a disk that is full or a lock.
_DAMAGED = ("Corruption", "No such file", "Not implemented", "Invalid argument")


class Seen(NamedTuple):
    """What the bus before us had come to, in this boot."""

    epoch: int
    head: int
    directory: str
    this_supervisor: bool


class HeadFile:
    """How far the log had come in this boot: it exposes a journal that went back in time.

    It lies in the run directory, which a reboot empties; a machine whose doesn't is told by the
    boot's id.
    """

    _FORMAT = struct.Struct(">16sQQQ")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._boot = boot_id()

    def read(self) -> Seen | None:
        """What was seen last; ``None`` after a reboot, or when there is nothing."""
        try:
            data = self._path.read_bytes()
            boot, epoch, head, parent = self._FORMAT.unpack(data[: self._FORMAT.size])
        except (OSError, struct.error):
            return None
        if boot != self._boot:
            return None
        directory = os.fsdecode(data[self._FORMAT.size :])
        return Seen(epoch, head, directory, this_supervisor=parent == os.getppid())

    def begin(self, epoch: int, head: int, directory: str) -> None:
        """Note where the log goes on, before anything else may be noted."""
        draft = self._path.with_suffix(".draft")
        self._descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(self._descriptor, self._packed(epoch, head) + os.fsencode(directory))
        draft.replace(self._path)

    def write(self, epoch: int, head: int) -> None:
        """Note the head."""
        os.pwrite(self._descriptor, self._packed(epoch, head), 0)

    def _packed(self, epoch: int, head: int) -> bytes:
        return self._FORMAT.pack(self._boot, epoch, head, os.getppid())


def boot_id() -> bytes:
    """16 bytes that differ from boot to boot."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text()
        return bytes.fromhex(text.strip().replace("-", ""))
    except OSError:  # macOS: when it booted, to the minute, for the clock is set now and then
        booted = int(time.time() - time.monotonic()) // 60
        return booted.to_bytes(16, "big")


def pointed(instance: paths.Instance) -> str:
    """The configuration file in force, as its data directory knows it."""
    try:
        named = instance.pointer.read_text().strip()
    except OSError:
        named = ""
    return paths.identity(Path(named) if named else paths.default_config())


def opened(instance: paths.Instance, process: Process) -> tuple[Journal, Hello]:
    """Open the journal that is to be used, in a new epoch where the old one can't go on.

    Raises:
        JournalError: it can't be opened now; later it may.
    """
    config = pointed(instance)
    seen = HeadFile(instance.head).read()
    directory, journal, trouble = _chosen(instance, process, config, seen)
    goes_on = (
        seen is not None
        and seen.directory == str(directory)
        and journal.epoch == seen.epoch
        and journal.head >= seen.head
    )
    if not goes_on:
        high = max(journal.head, seen.head if seen else 0)
        journal.begin(max(high + 1, time.time_ns() // 1000))
        process.log.info("began epoch %d in %s", journal.epoch, directory)
    hello = Hello(
        epoch=journal.epoch,
        head=journal.head,
        floor=journal.floor,
        directory=str(directory),
        config=config,
        open=journal.open,
        historyProblem=trouble,
    )
    return journal, hello


def _chosen(
    instance: paths.Instance, process: Process, config: str, seen: Seen | None
) -> tuple[Path, Journal, str | None]:
    """The data directory, its journal, and why it is not the one it should be."""
    wanted = paths.data_directory(Path(config))
    memory = instance.run / "data"
    ours = seen is not None and seen.this_supervisor  # else there was a close in between
    if ours and seen and seen.directory == str(memory) and _read(memory / "config") == config:
        return memory, _journal_in(memory, process), _read(memory / "reason")
    try:
        return wanted, _journal_in(wanted, process), None
    except (JournalError, OSError, paths.PathsError) as error:
        if ours and seen and seen.directory == str(wanted):
            raise JournalError(str(error)) from error  # it worked before, and will again
        why = error.strerror if isinstance(error, OSError) else error
        trouble = f"{wanted} can't be used: {why}; {IN_MEMORY}"
    process.log.warning("%s; it lives in memory until the end", trouble)
    _clear(memory)
    journal = _journal_in(memory, process)
    (memory / "config").write_text(config)
    (memory / "reason").write_text(trouble)
    return memory, journal, trouble


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None


def _clear(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)


def _journal_in(directory: Path, process: Process) -> Journal:
    paths.private(directory)
    if take(directory / "bus.lock") is None:
        raise JournalError("another Sidekicks uses it")
    try:
        return Journal(directory / "journal")
    except JournalError as error:
        if not any(sign in str(error) for sign in _DAMAGED):
            raise
        # The history is elsewhere and whole; what the journal held is said anew from it.
        aside = directory / "journal.damaged"
        process.log.error("the journal is damaged, set aside as %s: %s", aside, error)  # noqa: TRY400
        _clear(aside)
        (directory / "journal").replace(aside)
        return Journal(directory / "journal")
