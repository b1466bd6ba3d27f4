from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sk_agents.framing import Framer, Line


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


@given(
    data=st.binary(max_size=300).map(lambda data: data.replace(b"\x00", b"\n")),
    places=st.lists(st.integers(0, 400), max_size=20),
)
def test_lines_are_the_same_however_the_stream_is_cut(data: bytes, places: list[int]) -> None:
    framer = Framer()
    lines = [line for piece in cut(data, places) for line in framer.feed(piece)]
    rest = framer.rest()
    whole = [line.data + b"\n" for line in lines] + ([rest.data] if rest else [])
    assert b"".join(whole) == data
    assert framer.offset == len(data)


@given(
    data=st.binary(max_size=300).map(lambda data: data.replace(b"\x00", b"\n")),
    stop=st.integers(0, 300),
    places=st.lists(st.integers(0, 400), max_size=9),
)
def test_going_on_from_the_end_of_a_told_line_repeats_and_loses_nothing(
    data: bytes, stop: int, places: list[int]
) -> None:
    first = Framer()
    told = first.feed(data[:stop])
    offset = told[-1].end if told else 0
    second = Framer(offset)
    again = [line for piece in cut(data[offset:], places) for line in second.feed(piece)]
    assert [*told, *again] == Framer().feed(data)


@given(
    lengths=st.lists(st.integers(0, 40), max_size=12),
    places=st.lists(st.integers(0, 400), max_size=9),
)
def test_a_line_over_the_cap_costs_only_itself(lengths: list[int], places: list[int]) -> None:
    data = b"".join(b"x" * length + b"\n" for length in lengths)
    framer = Framer(longest=20, kept=5)
    lines = [line for piece in cut(data, places) for line in framer.feed(piece)]
    assert [line.length for line in lines] == lengths
    assert [len(line.data) for line in lines] == [5 if n > 20 else n for n in lengths]
    assert [line.cut for line in lines] == [n > 20 for n in lengths]


def test_a_line_over_the_cap_is_never_held_whole() -> None:
    framer = Framer(longest=1000, kept=10)
    for _ in range(100):
        framer.feed(b"y" * 1000)
    assert sum(len(piece) for piece in framer._pieces) == 10
    assert framer.feed(b"\n") == [Line(b"y" * 10, 100_001, 100_000)]


def test_a_character_split_over_two_reads_arrives_whole() -> None:
    framer = Framer()
    lines = [line for byte in "häppchen🍰\n".encode() for line in framer.feed(bytes((byte,)))]
    assert [line.data.decode() for line in lines] == ["häppchen🍰"]


def test_a_stream_without_a_rest_has_none() -> None:
    framer = Framer()
    framer.feed(b"one\n")
    assert framer.rest() is None
