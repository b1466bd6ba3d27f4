import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_agents.spool import Spool


@given(
    pieces=st.lists(st.binary(min_size=1, max_size=30), max_size=20),
    released=st.integers(0, 400),
    limit=st.integers(1, 50),
)
def test_what_was_written_can_be_read_until_it_is_released(
    pieces: list[bytes], released: int, limit: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        spool = Spool(folder, "out", cap=10_000, segment=16)
        for piece in pieces:
            assert spool.append(piece) == len(piece)
        whole = b"".join(pieces)
        spool.release(released)
        for one in (spool, Spool(folder, "out", cap=10_000, segment=16)):
            at = min(released, len(whole))
            read = b""
            while data := one.read(at + len(read), limit):
                read += data
            assert read == whole[at:]
            assert one.head == len(whole) or not pieces


def test_released_segments_are_gone_from_the_disk(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), "out", cap=1000, segment=10)
    spool.append(b"x" * 95)
    spool.release(55)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"out.{start:020d}" for start in (50, 60, 70, 80, 90)
    ]


def test_a_full_spool_says_so_until_enough_is_released(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), "out", cap=30, segment=10)
    spool.append(b"x" * 30)
    assert spool.full
    spool.release(1)
    assert not spool.full


def test_a_lossy_spool_drops_its_oldest(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), "err", cap=30, segment=10, lossy=True)
    spool.append(bytes(range(100)))
    assert not spool.full
    assert spool.head - spool.floor <= 30
    assert spool.read(0, 5) == bytes(range(spool.floor, spool.floor + 5))


def test_two_streams_share_a_folder(tmp_path: Path) -> None:
    out, err = (Spool(str(tmp_path), name, cap=100) for name in ("out", "err"))
    out.append(b"out")
    err.append(b"error")
    assert (out.read(0, 9), err.read(0, 9)) == (b"out", b"error")


def test_what_fits_before_the_disk_is_full_is_kept_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    real = os.write
    room = [7]

    def write(fd: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "full")
        written = real(fd, bytes(data)[: room[0]])
        room[0] -= written
        return written

    spool = Spool(str(tmp_path), "out", cap=100)
    monkeypatch.setattr(os, "write", write)
    assert spool.append(b"0123456789") == 7
    with pytest.raises(OSError, match="full"):
        spool.append(b"789")
    room[0] = 3
    assert spool.append(b"789") == 3
    assert spool.read(0, 100) == b"0123456789"


def test_renewed_it_has_no_byte_on_disk_and_goes_on_at_its_offset(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), "out", cap=1000, segment=100)
    spool.append(b"secret" * 30)
    spool.release(179)
    spool.renew()
    assert spool.read(179, 9) == b"t", "what nobody has acknowledged stays"
    spool.release(180)
    spool.renew()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b""]
    again = Spool(str(tmp_path), "out", cap=1000, segment=100)
    assert (again.floor, again.head) == (180, 180)
    spool.append(b"more")
    assert spool.read(180, 9) == b"more"
