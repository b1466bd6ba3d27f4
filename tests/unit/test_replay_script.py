"""Recordings are cut into scenes, and what is held against what: so that a replay can't pass by
leaving something out."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.replay_script import read, script
from tests.support.replay_shown import differences, expected
from tests.traps import TABLE

FILES = sorted(TABLE.parent.glob("*.jsonl"))


@pytest.mark.parametrize("take_up", ["session/load", "session/resume"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_frame_of_the_agent_is_said_or_left_out_and_no_other(
    file: Path, take_up: str
) -> None:
    cut = read(file, take_up=take_up)
    with file.open(encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    frames = [at for at, one in enumerate(entries) if one["dir"] == "agent->client"]
    assert sorted(cut.lines() + cut.left_out) == frames


def test_what_is_left_out_answers_what_we_never_ask() -> None:
    asked = {"jsonrpc": "2.0", "id": 7, "method": "session/list", "params": {}}
    answer = {"jsonrpc": "2.0", "id": 7, "result": {}}
    entries = [{"dir": "client->agent", "msg": asked}, {"dir": "agent->client", "msg": answer}]
    assert script(entries).left_out == [1]


def chunk(text: str) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    return update({"sessionUpdate": "agent_message_chunk", "content": content})


def update(data: dict[str, Any]) -> dict[str, Any]:
    return {"method": "session/update", "params": {"sessionId": "s", "update": data}}


CALL = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "List", "status": "completed"}
SHOWN = {"type": "tool", "id": "t", "title": "List", "status": "completed", "kind": "other"}


@pytest.mark.parametrize(
    ("shown", "right"),
    [
        ([{"type": "text", "text": "one two"}, SHOWN], True),
        ([{"type": "text", "text": "one"}, SHOWN], False),
        ([SHOWN, {"type": "text", "text": "one two"}], False),
        ([{"type": "text", "text": "one two"}], False),
        ([{"type": "text", "text": "one two"}, SHOWN, SHOWN], False),
        ([{"type": "text", "text": "one two"}, SHOWN | {"title": ""}], False),
        ([{"type": "text", "text": "one two"}, SHOWN | {"status": "failed"}], False),
        ([{"type": "text", "text": "one two"}, SHOWN | {"id": "u"}], False),
    ],
)
def test_what_is_missing_doubled_changed_or_out_of_order_is_a_difference(
    shown: list[dict[str, Any]], *, right: bool
) -> None:
    sent = expected([[chunk("one "), chunk("two"), update(CALL)]])
    assert (differences(sent, shown) == []) is right
