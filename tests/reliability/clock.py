"""The machine's clock a day back, and two days on, while an agent answers: nobody minds.

Timeouts go by a clock that never jumps, and order by seq. The clock is libfaketime's, which looks
into a file each second.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.instance import TestInstance
from tests.support.standing import Answer, standing

pytestmark = pytest.mark.process

CONFIG = """\
agents:
  - name: demo
    command: sk-demo-agent
    env: {SK_DEMO_PACE: "10"}
"""
DAY_MS = 24 * 60 * 60 * 1000
LIBRARIES = [
    *Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"),
    *Path("/usr/lib").glob("faketime/libfaketimeMT.so.1"),
]


@pytest.fixture(scope="module")
def instance() -> Iterator[TestInstance]:
    if not LIBRARIES:
        pytest.skip("libfaketime is not here (Debian: faketime)")
    with TestInstance(config=CONFIG) as made:
        clock = made.directory / "clock"
        clock.write_text("+0\n")
        made.environment |= {
            "LD_PRELOAD": str(LIBRARIES[0]),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        made.up()
        yield made


def set_clock(instance: TestInstance, to: str) -> None:
    draft = instance.directory / "clock.draft"
    draft.write_text(f"{to}\n")
    draft.replace(instance.directory / "clock")


def test_an_answer_and_what_follows_stay_whole_and_in_order(instance: TestInstance) -> None:
    before = standing(instance)
    agents = agents_of(instance)
    for to in ("-1d", "+1d", "+0"):
        with Answer(instance, 300) as answer:
            set_clock(instance, to)
            assert answer.ends_whole()
        instance.cli("send", "@demo", f"hello at {to}", "--wait")
        agents = agents or agents_of(instance)
    assert standing(instance) == before
    assert agents_of(instance) == agents  # idle for a day by the clock, and not stopped for it
    said = [one for one in instance.lines("channels", "messages", "@demo") if one["role"] == "user"]
    texts = [one["parts"][0]["text"] for one in said]
    assert texts == [text for to in ("-1d", "+1d", "+0") for text in ("long 300", f"hello at {to}")]
    times = [one["createdAt"] for one in said]
    assert times[1] < times[0] - DAY_MS / 2  # the clock was in fact another
    assert times[3] > times[1] + DAY_MS
    seqs = [one["seq"] for one in instance.lines("events", "--all", "--since", "0", "--no-follow")]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))


def agents_of(instance: TestInstance) -> set[int]:
    return {pid for pid, line in instance.processes().items() if "demo-agent" in line}


def test_a_service_that_is_killed_while_the_clock_is_wrong_comes_back(
    instance: TestInstance,
) -> None:
    standing(instance)
    for to in ("-1d", "+0"):
        set_clock(instance, to)
        for name in ("bus", "config"):
            os.kill(instance.pids()[name], 9)
        standing(instance)
        instance.cli("send", "@demo", f"hello again at {to}", "--wait")
