"""What an agent writes, and what is said on a holder's socket: any bytes, cut anywhere."""

import json
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_agents import frames
from sk_agents.filling import UnfillableError, filled
from sk_agents.framing import Framer, Line
from sk_agents.telling import SHOWN, Telling
from sk_bus.blobs import BlobStore
from sk_bus.model import AgentName
from sk_bus.vocabulary import decoded, encoded
from sk_bus.wire import packed, unpacked
from tests.support.strange import altered, briefly, in_pieces, spoilt, values

HELLO = frames.hello(
    frames.Hello(inc=1, pid=2, taken=3, pending=4, out_floor=5, out_head=6, err_floor=7, err_head=8)
)
ORDERS = [
    frames.two(frames.ATTACH, 0, 0),
    frames.two(frames.WANT, 2**64 - 1, 9),
    frames.two(frames.ACK, 3, 4),
    frames.one(frames.IN, 1, b'{"jsonrpc":"2.0"}\n'),
    frames.frame(frames.TURN, b"\x01"),
    frames.frame(frames.STOP),
    frames.frame(frames.DONE),
    frames.one(frames.OUT, 7, b"out"),
    frames.frame(frames.EXIT, frames.record({"out": 1, "code": 0})),
    HELLO,
]
STREAM = st.lists(st.sampled_from(ORDERS), max_size=5).map(b"".join)


@briefly
@given(in_pieces(spoilt(STREAM) | st.binary(max_size=60)))
def test_a_stream_is_the_same_frames_however_it_is_cut(pieces: list[bytes]) -> None:
    def read(pieces: list[bytes]) -> list[tuple[int, bytes]]:
        reader, found = frames.Frames(), []
        with suppress(frames.FrameError):
            for piece in pieces:
                found += reader.feed(piece)
        return found

    whole, cut = read([b"".join(pieces)]), read(pieces)
    # A length that no frame has ends the stream; what stood before it may have come already.
    assert cut[: len(whole)] == whole
    for _, payload in cut:
        for meaning in (frames.hello_from, frames.one_from, frames.two_from, frames.unpacked):
            with suppress(frames.FrameError):
                meaning(payload)
        frames.record_from(payload)


UPDATE = {
    "jsonrpc": "2.0",
    "method": "session/update",
    "params": {"update": {"sessionUpdate": "plan", "entries": [{"content": "é"}]}},
}
LINES = st.lists(
    altered(UPDATE, "$blob", "$def", "sha256").map(lambda one: json.dumps(one).encode()),
    max_size=3,
).map(lambda lines: b"".join(line + b"\n" for line in lines))


@briefly
@given(in_pieces(spoilt(LINES) | st.binary(max_size=60)), st.integers(1, 20))
def test_lines_are_those_of_the_stream_and_bounded(pieces: list[bytes], longest: int) -> None:
    framer = Framer(longest=longest, kept=5)
    found = [line for piece in pieces for line in framer.feed(piece)]
    rest = framer.rest()
    whole = b"".join(pieces)
    parts = whole.split(b"\n")
    assert [line.length for line in found] == [len(part) for part in parts[:-1]]
    assert (rest.length if rest else 0) == len(parts[-1])
    for line, part in zip([*found, *([rest] if rest else [])], parts, strict=False):
        assert line.data == (part if len(part) <= longest else part[:5])
    assert all(a.end < b.end for a, b in pairwise(found))


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory) -> Telling:
    return teller(tmp_path_factory.mktemp("blobs"))


def teller(folder: Path) -> Telling:
    def mask(text: str) -> str:
        return text.replace("t0ken-t0ken", "…")

    return Telling(AgentName("a"), 1, BlobStore(folder), mask)


@briefly
@given(line=spoilt(LINES) | st.binary(max_size=60))
def test_a_line_is_a_fact_that_travels_or_a_line_of_the_log(telling: Telling, line: bytes) -> None:
    made = Line(line, len(line), len(line))
    fact = telling.frame(made)
    if fact is not None:
        assert decoded(unpacked(packed(encoded(fact)))) == fact
        assert isinstance(json.loads(fact.line), dict)
    text = telling.text(made)
    assert len(text) <= SHOWN + 40
    text.encode()


DEFINITION = {"env": {"KEY": "a-secret"}, "mcpServers": [{"name": "one"}]}
HELD = {"id": 1, "params": [{"$def": "digest#/mcpServers/0"}, {"$blob": "a" * 64}, {"a": "b"}]}


@briefly
@given(
    altered(HELD, "$def", "$blob", "digest#/env/KEY", "digest#", "digest#/mcpServers/-1", "digest")
    | values("$def", "$blob", "digest#/env/KEY")
)
def test_a_line_to_an_agent_is_filled_in_or_refused(value: Any) -> None:
    def definition(digest: str) -> Any:
        if digest != "digest":
            raise UnfillableError("no such definition")
        return DEFINITION

    def blob(sha256: str) -> str:
        if sha256 != "a" * 64:
            raise UnfillableError("no such blob")
        return "the text"

    with suppress(UnfillableError):
        line = filled(json.dumps(value), definition=definition, blob=blob)
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        json.loads(line)
