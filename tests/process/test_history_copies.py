"""The database as it is at any moment: what a kill or a power cut there would leave.

The writer is stopped in mid flight, its threads with it; what then lies on the disk is copied.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sk_history import index, records
from sk_history.fold import Fold
from sk_history.rocks import RocksStore
from tests.support.history_writer import CHANNEL, TEXT
from tests.support.instance import ROOT
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process

COPIES = 200


class Writer:
    """The process that writes, and what it has acknowledged."""

    def __init__(self, directory: Path) -> None:
        self.folder = directory / "history"
        self.note = directory / "note"
        self.note.write_bytes(bytes(8))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.history_writer", self.folder, self.note],
            cwd=ROOT,
        )

    def acknowledged(self) -> int:
        return int.from_bytes(self.note.read_bytes(), "big")

    def begun(self) -> None:
        end = time.monotonic() + PATIENCE
        while not self.acknowledged():
            assert time.monotonic() < end
            time.sleep(0.01)

    def copied(self, to: Path, after: float) -> int:
        """Let it go on for ``after`` seconds, stop it, copy; what it had acknowledged."""
        self.process.send_signal(signal.SIGCONT)
        time.sleep(after)
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)
        to.mkdir()
        for path in self.folder.iterdir():
            # A table never changes once it is whole, and the writer may be in one that isn't.
            shutil.copyfile(path, to / path.name)
        return self.acknowledged()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    made = Writer(tmp_path)
    try:
        made.begun()
        yield made
    finally:
        made.process.kill()
        made.process.wait()


def kept(folder: Path) -> int:
    """How far a copy has come; everything up to there is in it, once."""
    store = RocksStore(folder)
    fold = Fold(store)
    assert fold.cursor is not None
    begin = records.messages_of(CHANNEL)
    rows = store.first(begin, records.end_of(begin))
    seqs = [int(records.message(data)["id"][1:17]) for _, data in rows]
    assert seqs == list(range(2, fold.cursor.seq + 1))
    for seq, (_, data) in list(zip(seqs, rows, strict=True))[:-1]:  # the last may be growing
        assert records.message(data)["parts"] == [{"type": "text", "text": f"{TEXT}{seq}"}]
    assert index.count(store, CHANNEL) >= len(rows) - 1, "but for one that was growing"
    store.close()
    return fold.cursor.seq


def test_copies_at_random_moments_open_with_everything_that_was_acknowledged(
    writer: Writer, tmp_path: Path
) -> None:
    choose = random.Random(6)
    for number in range(COPIES):
        copy = tmp_path / f"copy{number}"
        seq = writer.copied(copy, choose.uniform(0, 0.008))
        cut = number % 2 == 1
        if cut:  # the power went: what was not yet on the disk is gone
            log = max(copy.glob("*.log"))
            os.truncate(log, int(log.stat().st_size * choose.random()))
        reached = kept(copy)
        assert cut or reached >= seq
        shutil.rmtree(copy)
