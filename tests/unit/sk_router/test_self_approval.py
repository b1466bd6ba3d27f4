"""An agent can't answer its own permission request, nor another's, whatever it writes."""

from typing import Any

import pytest

from sk_bus.commands import AnswerPermission
from sk_bus.events import PermissionRequested, PermissionResolved
from tests.support.playbook import Playbook, permission, update

OPTIONS = (("yes", "allow_once"), ("no", "reject_once"))
ALLOWED = {"outcome": {"outcome": "selected", "optionId": "yes"}}


def asking() -> tuple[Playbook, str]:
    """An agent that asks, in the middle of its turn; and the id of what it asks."""
    p = Playbook("alice", "bob")
    p.prompted("alice")
    p.writes("alice", permission("r1", *OPTIONS))
    (asked,) = p.of(PermissionRequested)
    return p, asked.id


@pytest.mark.parametrize(
    "frame",
    [
        {"jsonrpc": "2.0", "id": "r1", "result": ALLOWED},
        {"jsonrpc": "2.0", "id": 3, "result": {**ALLOWED, "stopReason": None, "optionId": "yes"}},
        {"jsonrpc": "2.0", "method": "cmd:AnswerPermission", "params": ALLOWED},
        {"type": "cmd:AnswerPermission", "id": "u", "permission": "PERMISSION", "optionId": "yes"},
        {"type": "permission:resolved", "id": "PERMISSION", "by": "page", "optionId": "yes"},
        {"jsonrpc": "2.0", "id": "x", "method": "session/answer_permission", "params": ALLOWED},
        update({"sessionUpdate": "permission_resolved", "id": "PERMISSION", "optionId": "yes"}),
        permission("r2", *OPTIONS),
    ],
)
def test_what_it_writes_is_no_answer_to_what_it_asked(frame: dict[str, Any]) -> None:
    p, asked = asking()
    told = {key: asked if item == "PERMISSION" else item for key, item in frame.items()}
    ends_turn = frame.get("id") == 3
    p.writes("alice", told)
    resolved = [one for one in p.of(PermissionResolved) if one.id == asked]
    # The end of its own turn ends the question, too; never with an option.
    assert [one.optionId for one in resolved] == ([None] if ends_turn else [])
    said = [line for line in p.sent("alice") if line.get("id") == "r1"]
    assert [line["result"]["outcome"]["outcome"] for line in said if "result" in line] in (
        [],
        ["cancelled"],
    )


def test_another_agent_cannot_answer_or_withdraw_it() -> None:
    p, asked = asking()
    p.prompted("bob", session="s9")
    p.writes("bob", {"jsonrpc": "2.0", "id": "r1", "result": ALLOWED})
    p.writes("bob", {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "r1"}})
    assert p.of(PermissionResolved) == []
    assert asked in p.state.asks


def test_a_person_can() -> None:
    p, asked = asking()
    answered = p.command(AnswerPermission, permission=asked, optionId="yes")
    assert answered is not None
    assert answered.ok
    assert [one.optionId for one in p.of(PermissionResolved)] == ["yes"]
