"""Which long strings are read again before a decision, and which stay where they are."""

import json
from typing import Any

import pytest

from sk_router.unfolding import unfolded
from tests.support.playbook import update

BLOB = {"$blob": {"sha256": "ab" * 32, "length": 20_000, "head": "begin"}}
WHOLE = "the whole \ud83d"


def read(line: str) -> Any:
    return json.loads(unfolded(line, {"ab" * 32: WHOLE}.__getitem__))["params"]["update"]


@pytest.mark.parametrize("kind", ["agent_message_chunk", "agent_thought_chunk"])
def test_the_text_of_an_answer_is_whole(kind: str) -> None:
    line = json.dumps(update({"sessionUpdate": kind, "content": {"type": "text", "text": BLOB}}))
    assert read(line)["content"]["text"] == "the whole \N{REPLACEMENT CHARACTER}"


def test_several_texts_of_a_tool_are_whole_and_a_single_one_stays_away() -> None:
    item = {"type": "content", "content": {"type": "text", "text": BLOB}}
    several = {"sessionUpdate": "tool_call", "content": [item, item]}
    texts = [one["content"]["text"] for one in read(json.dumps(update(several)))["content"]]
    assert texts == ["the whole \N{REPLACEMENT CHARACTER}"] * 2
    single = json.dumps(update({"sessionUpdate": "tool_call", "content": [item]}))
    assert read(single)["content"][0]["content"]["text"] == BLOB


def test_what_is_too_deep_to_be_written_again_stays_as_it_is() -> None:
    deep = "[" * 300 + "]" * 300
    content = {"type": "text", "text": BLOB, "deep": []}
    frame = update({"sessionUpdate": "agent_message_chunk", "content": content})
    line = json.dumps(frame).replace("[]", deep)
    assert unfolded(line, {"ab" * 32: WHOLE}.__getitem__) == line


@pytest.mark.parametrize(
    "line",
    [
        '{"$blob": 1}',
        "[1]",
        '{"id":1,"result":null}',
        json.dumps(update({"sessionUpdate": "agent_message_chunk", "content": "x"})),
        json.dumps(update({"sessionUpdate": "plan", "entries": [BLOB]})),
    ],
)
def test_every_other_frame_says_what_it_said(line: str) -> None:
    assert json.loads(unfolded(line, {}.__getitem__)) == json.loads(line)
