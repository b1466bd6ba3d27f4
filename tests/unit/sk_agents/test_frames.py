import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_agents import frames

SPOKEN = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=50)), max_size=10)


@given(spoken=SPOKEN, size=st.integers(1, 20))
def test_frames_arrive_whole_however_the_stream_is_cut(
    spoken: list[tuple[int, bytes]], size: int
) -> None:
    stream = b"".join(frames.frame(kind, payload) for kind, payload in spoken)
    reader = frames.Frames()
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert [one for piece in pieces for one in reader.feed(piece)] == spoken


def test_half_a_frame_is_no_frame() -> None:
    assert frames.Frames().feed(frames.frame(frames.IN, b"a whole line\n")[:-1]) == []


def test_a_length_that_no_frame_has_is_an_error() -> None:
    with pytest.raises(frames.FrameError):
        frames.Frames().feed(b"GET / HTTP/1.1\r\n")


def test_a_hello_of_another_version_is_an_error() -> None:
    with pytest.raises(frames.FrameError):
        frames.hello_from(b"\x63" + b"\0" * 64)


def test_a_hello_says_where_a_holder_stands() -> None:
    word = frames.Hello(
        inc=1, pid=2, taken=3, pending=4, out_floor=5, out_head=6, err_floor=7, err_head=8
    )
    ((kind, payload),) = frames.Frames().feed(frames.hello(word))
    heard = frames.hello_from(payload)
    assert kind == frames.HELLO
    assert [getattr(heard, name) for name in frames.Hello.__slots__] == [
        getattr(word, name) for name in frames.Hello.__slots__
    ]


@given(st.lists(st.binary(max_size=20), max_size=10))
def test_packed_texts_come_apart_again(texts: list[bytes]) -> None:
    assert frames.unpacked(frames.packed(texts)) == texts


@given(texts=st.lists(st.binary(min_size=1, max_size=20), min_size=1), cut=st.integers(1, 5))
def test_packed_texts_that_break_off_are_an_error(texts: list[bytes], cut: int) -> None:
    whole = frames.packed(texts)
    broken = whole[:-cut] if len(texts[-1]) + 3 >= cut else whole[:-1]
    with pytest.raises(frames.FrameError):
        frames.unpacked(broken)
