"""A disk that is full, and one that can't be written: said while it lasts, then all is there."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sk_demo.scenes import long_text
from tests.support.instance import TestInstance
from tests.support.standing import Answer, standing, wait

pytestmark = pytest.mark.process

CONFIG = """\
agents:
  - name: demo
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "15"}
"""
LONG = 1300  # words: 20 s, in which the disk is filled; and less than what becomes a blob
SIZE = 64 * 2**20  # a small disk: RocksDB alone takes some megabytes for its journals


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    """One whose data lies on a disk of its own; not started."""
    with TestInstance(config=CONFIG) as made:
        data = made.directory / "c" / "sidekicks" / "data"
        data.mkdir(mode=0o700)
        try:
            mount("-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", str(data))
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"a file system can't be mounted here: {error}")
        try:
            yield made
        finally:
            made.close()
            subprocess.run(["umount", "-l", str(data)], check=False)


def filled(disk: Path) -> Path:
    """Leave no byte on the disk; the file that takes the room."""
    file = disk / "filler"
    with file.open("wb", buffering=0) as filler:
        for size in (2**20, 4096, 1):
            try:
                while True:
                    filler.write(b"x" * size)
            except OSError:
                continue
    return file


def test_where_nothing_can_be_written_it_lives_in_memory_and_says_so(
    instance: TestInstance,
) -> None:
    data = instance.data.parent
    mount("-o", "remount,ro", str(data))
    try:
        said = instance.cli("up").stderr
        assert "nothing is kept beyond the next stop" in said
        assert "Read-only file system" in said
        instance.cli("send", "@demo", "hello", "--wait")
    finally:
        instance.down()
        mount("-o", "remount,rw", str(data))
    instance.up()
    assert instance.json("channels", "list") == []
    assert instance.json("status")["historyProblem"] is None


def test_a_full_disk_is_said_and_with_room_again_everything_is_there(
    instance: TestInstance,
) -> None:
    standing(instance)
    with Answer(instance, LONG) as answer:
        filler = filled(instance.data.parent)
        try:
            log = instance.paths.logs / "bus.log"
            wait(lambda: "No space left" in log.read_text(), "the bus says that there is no room")
            wait(lambda: instance.cli("status", check=False).returncode == 7, "status says so")
        finally:
            filler.unlink()
        assert answer.ends_whole()
    standing(instance)
    (kept,) = instance.lines("channels", "messages", "@demo")[-1]["parts"]
    assert kept["text"] == long_text(LONG)
    seqs = [one["seq"] for one in instance.lines("events", "--all", "--since", "0", "--no-follow")]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
