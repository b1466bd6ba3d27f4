"""What browsers are sent, as text."""

import json

from sk_bus.errors import problem
from sk_bus.events import AgentLog, Kind, MessageDelta
from sk_bus.internal import TimerFired
from sk_bus.model import AgentName, ChannelId, Cursor, MessageId
from sk_bus.vocabulary import Event
from sk_bus.wire import Batch, body_of, packed, packed_events
from sk_gateway import frames
from sk_gateway.frames import EVERYTHING, WANTS, Bundle


def batch(*events: Event) -> Batch:
    body, kinds = packed_events(list(events))
    return Batch(1, 10, len(events), kinds, body_of(1234, 0, "test", None, body))


DELTA = MessageDelta(
    channel=ChannelId("c1"), messageId=MessageId("m1"), index=0, kind="text", rev=3, text="é"
)
LOG = AgentLog(agent=AgentName("bob"), line="oops", stream="stderr")
TIMER = TimerFired(id="t")


def test_an_event_keeps_its_seq_and_time_and_its_type_stands_outside_its_data() -> None:
    pieces = Bundle(batch(DELTA)).pieces(Kind.DELTA)
    assert json.loads(frames.events(1, list(pieces))) == {
        "t": "ev",
        "epoch": 1,
        "e": [
            {
                "seq": 10,
                "ts": 1234,
                "type": "message:delta",
                "data": {
                    "channel": "c1",
                    "messageId": "m1",
                    "index": 0,
                    "kind": "text",
                    "rev": 3,
                    "text": "é",
                },
            }
        ],
    }


def test_only_wanted_classes_are_encoded_and_keep_their_seqs() -> None:
    mixed = Bundle(batch(DELTA, LOG, TIMER, DELTA))
    assert [piece.seq for piece in mixed.pieces(WANTS["delta"])] == [10, 13]
    assert [piece.seq for piece in mixed.pieces(WANTS["internal"])] == [12]
    assert [piece.seq for piece in mixed.pieces(EVERYTHING)] == [10, 11, 12, 13]


def test_events_are_encoded_once_for_all_who_want_the_same() -> None:
    one = Bundle(batch(DELTA, LOG))
    assert one.pieces(Kind.DELTA | Kind.LOG) is one.pieces(Kind.DELTA | Kind.LOG | Kind.PUBLIC)


def test_an_event_of_newer_code_passes_as_public() -> None:
    body = body_of(0, 0, "test", None, packed([{"type": "weather:changed", "sun": True}]))
    (piece,) = Bundle(Batch(1, 1, 1, Kind.PUBLIC, body)).pieces(Kind.PUBLIC)
    assert json.loads(piece.data)["data"] == {"sun": True}


def test_half_a_surrogate_pair_passes_as_an_escape() -> None:
    assert json.loads(frames.encoded({"text": "\ud83d"})) == {"text": "\ud83d"}


def test_lines_for_programs_name_the_epoch() -> None:
    found = frames.lines(1, Bundle(batch(DELTA, LOG)).pieces(EVERYTHING))
    assert [json.loads(line)["epoch"] for line in found.splitlines()] == [1, 1]
    assert json.loads(found.splitlines()[0])["seq"] == 10


def test_the_small_frames_are_json() -> None:
    cursor = Cursor(epoch=5, seq=6)
    assert json.loads(frames.at(7)) == {"t": "at", "seq": 7}
    assert json.loads(frames.pong(1, 7)) == {"t": "pong", "id": 1, "seq": 7}
    assert json.loads(frames.resync(cursor)) == {"t": "resync", "epoch": 5, "seq": 6}


def test_a_failure_carries_its_problem_to_be_worded_anew() -> None:
    why = problem("no-such-channel", "there is no channel {channel}", channel="c9")
    assert json.loads(frames.failure(3, why)) == {
        "t": "result",
        "id": 3,
        "ok": False,
        "problem": {
            "id": "no-such-channel",
            "message": "there is no channel c9",
            "params": {"channel": "c9"},
            "warning": False,
        },
    }
