"""What a browser may call, and the words for what it may not."""

from typing import Any

import pytest

from sk_bus.commands import Send
from sk_bus.errors import RefusedError
from sk_bus.model import AgentState, AgentView, ChannelId, CommandId
from sk_bus.queries import Blob, Conversation
from sk_gateway.calls import COMMANDS, Pulse, RestartComponent, call_of, shown

SEND = {"id": 7, "name": "Send", "args": {"channel": "c1", "text": "hi"}, "command": "u-1"}


def test_a_command_is_of_the_page_and_bears_the_browsers_id() -> None:
    send = Send(id=CommandId("u-1"), by="page", channel=ChannelId("c1"), text="hi")
    assert call_of(SEND).what == send


def test_a_query_needs_no_id_and_may_name_what_it_comes_after() -> None:
    call = call_of({"id": 1, "name": "Conversation", "args": {"channel": "c1"}, "after": 9})
    assert call.what == Conversation(channel=ChannelId("c1"))
    assert call.after == 9


def test_defaults_are_filled_in() -> None:
    assert call_of({"id": 1, "name": "Blob", "args": {"sha256": "a"}}).what == Blob(sha256="a")


def test_a_component_is_restarted_by_its_name() -> None:
    call = call_of({"id": 1, "name": "RestartComponent", "args": {"component": "bus"}})
    assert call.what == RestartComponent("bus")


def test_how_the_components_do_is_asked_without_arguments() -> None:
    assert call_of({"id": 1, "name": "Pulse", "args": {}}).what == Pulse()


def test_the_whole_is_not_closed_from_a_page() -> None:
    assert "shutdown" not in COMMANDS
    assert "Send" in COMMANDS


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ({"name": "Nonsense"}, "Nonsense"),
        ({"name": "shutdown", "command": "u"}, "shutdown"),
        ({"name": 5}, "name"),
        ({"name": "Send", "args": []}, "args"),
        (SEND | {"args": {"channel": "c1"}}, "text"),
        (SEND | {"args": {"channel": "c1", "text": 5}}, "text"),
        (SEND | {"args": {"channel": "c1", "text": None}}, "text"),
        (SEND | {"args": {"channel": "c1", "text": {"sha256": "", "length": 1}}}, "text"),
        (SEND | {"args": {"channel": "c1", "text": "x", "by": "cli"}}, "by"),
        (SEND | {"args": {"channel": "c1", "text": "x", "id": "other"}}, "id"),
        (SEND | {"args": {"channel": "c1", "text": "x", "type": "cmd:Stop"}}, "type"),
        (SEND | {"command": None}, "command id"),
        (SEND | {"command": ""}, "command id"),
        (SEND | {"command": "x" * 65}, "command id"),
        ({"name": "Older", "args": {"channel": "c1"}}, "before"),
        ({"name": "ListAgents", "after": -1}, "after"),
        ({"name": "ListAgents", "after": True}, "after"),
        ({"name": "Blob", "args": {"sha256": "a", "limit": "many"}}, "limit"),
        ({"name": "RestartComponent", "args": {"component": "printer"}}, "printer"),
    ],
)
def test_what_is_wrong_is_named(frame: dict[str, Any], says: str) -> None:
    with pytest.raises(RefusedError, match=says):
        call_of({"id": 1} | frame)


def test_values_become_plain() -> None:
    agent = AgentView(name="bob", title="Bob", state=AgentState.READY)
    assert shown((agent,))[0]["state"] == "ready"


def test_a_blob_becomes_text_that_ends_at_a_character() -> None:
    assert shown("né".encode()[:2]) == "n"
