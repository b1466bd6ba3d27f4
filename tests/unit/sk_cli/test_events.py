"""Which events a person sees, from where on, and how runs of deltas are joined."""

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sk_bus.model import Channel, ChannelId
from sk_cli import selection, spans
from sk_cli.commands import events
from sk_cli.folding import Entry, Folding
from sk_cli.invocation import Invocation
from sk_cli.moments import Moment, moment
from sk_cli.selection import Wanted, found
from sk_cli.sink import Asked
from tests.support.recorded_bus import RecordedBus
from tests.unit.sk_cli import recorded

NOW = 1_796_054_400_000


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90.0),
        ("5m", 300.0),
        ("1h30m", 5400.0),
        ("2d", 172800.0),
        ("250ms", 0.25),
        ("12", 12.0),
        ("1.5s", 1.5),
        ("5x", None),
        ("", None),
        ("m5", None),
        ("-5s", None),
    ],
)
def test_lengths_of_time_are_read_as_written(text: str, seconds: float | None) -> None:
    assert spans.seconds(text) == seconds


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("4868", Moment(seq=4868)),
        ("0", Moment(seq=0)),
        ("boot", Moment(seq=0)),
        ("5m", Moment(ts=NOW - 300_000)),
        ("2026-11-30T14:00:00+00:00", Moment(ts=1_796_047_200_000)),
        ("yesterday", None),
    ],
)
def test_moments_are_read_as_written(text: str, where: Moment | None) -> None:
    assert moment(text, now=NOW) == where


@pytest.mark.parametrize(
    ("wanted", "event", "shown"),
    [
        (Wanted(), {"type": "turn:changed"}, True),
        (Wanted(), {"type": "cmd:Send"}, False),
        (Wanted(), {"type": "fact:frame"}, False),
        (Wanted(everything=True), {"type": "fact:frame"}, True),
        (Wanted(topics=("fact:*",)), {"type": "fact:frame"}, True),
        (Wanted(topics=("agent:*",)), {"type": "turn:changed"}, False),
        (Wanted(without=("agent:log",)), {"type": "agent:log"}, False),
        (Wanted(agents=frozenset({"bob"})), {"type": "agent:log", "agent": "Bob"}, True),
        (
            Wanted(agents=frozenset({"bob"})),
            {"type": "message:updated", "message": {"agent": "alice"}},
            False,
        ),
        (Wanted(channels=frozenset({"c1"})), {"type": "x", "channel": "c2"}, False),
        (Wanted(text=re.compile("needle")), {"type": "x", "line": "needle"}, True),
        (Wanted(text=re.compile("needle")), {"type": "x", "line": "hay"}, False),
    ],
)
def test_what_is_wanted_is_shown(wanted: Wanted, event: dict[str, Any], shown: bool) -> None:
    assert wanted.holds(event, str(event)) is shown


GENERAL = Channel(id=ChannelId("c1"), name="Général")
DIRECT = Channel(id=ChannelId("c2"), direct="Bob")


@pytest.mark.parametrize(
    ("named", "channel"),
    [
        ("général", GENERAL),
        ("#GÉNÉRAL", GENERAL),
        ("c1", GENERAL),
        ("@bob", DIRECT),
        ("bob", None),
        ("@alice", None),
        ("", None),
    ],
)
def test_a_channel_is_found_as_people_name_it(named: str, channel: Channel | None) -> None:
    assert found(named, [GENERAL, DIRECT]) == channel


def test_agents_are_named_with_or_without_their_at() -> None:
    assert selection.agents(["@Bob", "alice"]) == {"bob", "alice"}


def entry(seq: int, type_: str = "message:delta", **fields: object) -> Entry:
    event = {"type": type_, "messageId": "m1", "index": 0, "kind": "text", "text": "ab", **fields}
    return Entry(epoch=1, seq=seq, ts=seq, event=event)


def test_a_run_of_deltas_is_one_entry_that_comes_before_what_ended_it() -> None:
    folding = Folding()
    other = entry(13, "turn:changed")
    assert [folding.add(entry(seq)) for seq in (10, 11, 12)] == [[], [], []]
    run, after = folding.add(other)
    assert (run.seq, run.count, run.characters, run.lasted) == (10, 3, 6, 2)
    assert after is other


def test_deltas_of_two_messages_are_two_runs() -> None:
    folding = Folding()
    folding.add(entry(1))
    (first,) = folding.add(entry(2, messageId="m2"))
    assert first.seq == 1
    assert [one.seq for one in folding.flush()] == [2]


@given(st.lists(st.sampled_from(["d1", "d2", "other"]), max_size=30))
def test_folding_keeps_order_and_loses_nothing(kinds: list[str]) -> None:
    folding = Folding()
    shown: list[Entry] = []
    for seq, kind in enumerate(kinds):
        delta = entry(seq, messageId=kind) if kind != "other" else entry(seq, "turn:changed")
        shown += folding.add(delta)
    shown += folding.flush()
    assert sum(one.count for one in shown) == len(kinds)
    assert [one.seq for one in shown] == sorted(one.seq for one in shown)


def test_a_log_that_was_swept_is_said_and_not_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    swept = replace(recorded.HELLO, floor=recorded.HELLO.head + 1)
    bus = RecordedBus(hello=swept, beat=recorded.BEAT, values={}, outcomes={})
    asked = Asked(
        since=Moment(seq=1),
        until=None,
        last=None,
        count=None,
        follow=False,
        deltas="fold",
        wanted=Wanted(),
    )
    asyncio.run(events.shown(Invocation(), bus, asked, {}))
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"# events before {swept.floor} are no longer kept\n")
