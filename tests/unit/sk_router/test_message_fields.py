"""The fields of a message, one by one in the specification's order, as a follower has them."""

from collections.abc import Callable
from typing import Any

import pytest

from sk_bus.commands import Cancel, RemoveQueued, Restart
from sk_bus.model import AgentName, MessageId
from tests.support.playbook import Playbook, chunk, thought

Messages = list[dict[str, Any]]


def whole() -> Messages:
    """A user's message in a direct conversation, and the answer to it."""
    p = Playbook("alice")
    p.prompted("alice", "hello")
    p.replies("alice", "hi", "s1")
    return list(p.messages().values())


def growing(*updates: dict[str, Any]) -> Messages:
    p = Playbook("alice")
    p.prompted("alice")
    p.updates("alice", *updates)
    return list(p.messages().values())


def ended(reason: str) -> Messages:
    p = Playbook("alice")
    p.prompted("alice")
    p.replies("alice", "hi", "s1", reason)
    return list(p.messages().values())


def failed() -> Messages:
    p = Playbook("alice")
    p.prompted("alice")
    error = {"code": -32603, "message": "Internal error", "data": {"details": "no tokens left"}}
    p.answers("alice", 3, error=error)
    return list(p.messages().values())


def queued() -> Messages:
    p = Playbook("alice")
    p.send(p.prompted("alice"), "and this")
    return list(p.messages().values())


def dropped() -> Messages:
    p = Playbook("alice")
    channel = p.prompted("alice")
    p.send(channel, "and this")
    p.command(Cancel, channel=channel)
    return list(p.messages().values())


def taken_back() -> Messages:
    p = Playbook("alice")
    channel = p.prompted("alice")
    message = p.send(channel, "and this")
    p.command(RemoveQueued, channel=channel, messageId=MessageId(message))
    return list(p.messages().values())


def joined() -> Messages:
    p = Playbook("alice", "bob")
    channel = p.channel("ops", "alice")
    p.send(channel, "@bob hello")
    return list(p.messages().values())


def forgotten() -> Messages:
    """The second answer of an agent that can take no session up."""
    p = Playbook("alice")
    channel = p.direct("alice")
    p.send(channel, "hello")
    p.opened("alice", "s1")
    p.replies("alice", "hi", "s1")
    p.passes(300)
    p.command(Restart, agent=AgentName("alice"))
    p.exits("alice")
    p.send(channel, "more")
    p.opened("alice", "s2")
    p.replies("alice", "hi", "s2")
    found = list(p.messages().values())
    assert found[-2]["code"] == "memory-lost"
    return found


def unavailable() -> Messages:
    p = Playbook("alice", "bob", maxRunningAgents=1)
    p.prompted("alice")
    p.send(p.channel("ops"), "@bob hello")
    return list(p.messages().values())


def nobody() -> Messages:
    p = Playbook("alice")
    p.send(p.channel("ops"), "hello")
    return list(p.messages().values())


TOOL = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read", "kind": "read"}
PLAN = {"sessionUpdate": "plan", "entries": [{"content": "one", "priority": "high"}]}
IMAGE = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}
STRANGE = {"type": "hologram", "depth": 3}


def block(content: dict[str, Any]) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": content}


@pytest.mark.parametrize(
    ("field", "made", "which", "value"),
    [
        # id, channel, createdAt
        ("id", whole, 0, lambda value: str(value).startswith("m")),
        ("channel", whole, 1, lambda value: str(value).startswith("c")),
        ("createdAt", whole, 0, lambda value: isinstance(value, int) and value > 10**12),
        # role
        ("role", whole, 0, "user"),
        ("role", whole, 1, "agent"),
        ("role", nobody, -1, "system"),
        # agent: the author, or whom a system message is about
        ("agent", whole, 0, ""),
        ("agent", whole, 1, "alice"),
        ("agent", joined, 0, "alice"),
        ("agent", joined, -1, "bob"),
        # answers: the user's message
        ("answers", whole, 0, None),
        ("answers", unavailable, -1, lambda value: str(value).startswith("m")),
        ("answers", nobody, -1, lambda value: str(value).startswith("m")),
        # during: what was being answered when a notice that answers nothing came up
        ("during", joined, -1, lambda value: str(value).startswith("m")),
        ("during", joined, 0, None),
        ("during", nobody, -1, None),
        ("during", forgotten, -2, lambda value: str(value).startswith("m")),
        # done
        ("done", lambda: growing(chunk("hi")), -1, False),
        ("done", whole, 1, True),
        # queued
        ("queued", queued, -1, True),
        ("queued", queued, 0, False),
        ("queued", dropped, 1, False),
        # stopReason
        *[("stopReason", lambda one=one: ended(one), -1, one) for one in
          ("end_turn", "cancelled", "max_tokens", "max_turn_requests", "refusal", "_ran_dry")],
        ("stopReason", failed, -1, None),
        # error: why it ended without a stop reason, or was dropped
        ("error", failed, -1, lambda value: "no tokens left" in value["message"]),
        ("error", dropped, 1, lambda value: value["id"] == "cancelled"),
        ("error", taken_back, 1, lambda value: value["id"] == "taken-back"),
        ("error", whole, 1, None),
        # code
        ("code", joined, -1, "agent-joined"),
        ("code", nobody, -1, "no-recipient"),
        ("code", unavailable, -1, "agent-unavailable"),
        ("code", whole, 1, None),
    ],
)  # fmt: skip
def test_a_field_says(field: str, made: Callable[[], Messages], which: int, value: object) -> None:
    found = made()[which].get(field)
    assert value(found) if callable(value) else found == value


@pytest.mark.parametrize(
    ("updates", "parts"),
    [
        ([chunk("a"), chunk("b")], [{"type": "text", "text": "ab"}]),
        ([thought("a")], [{"type": "thought", "text": "a"}]),
        ([TOOL], ["tool"]),
        ([PLAN], ["plan"]),
        ([block(IMAGE)], ["image"]),
        ([block(LINK)], ["resource"]),
        ([block(STRANGE)], [{"type": "other", "raw": STRANGE}]),
        ([chunk("a"), TOOL, chunk("b")], ["text", "tool", "text"]),
        ([thought("a"), chunk("b"), PLAN, block(IMAGE)], ["thought", "text", "plan", "image"]),
    ],
)
def test_the_parts_stand_in_their_order(updates: list[Any], parts: list[Any]) -> None:
    found = growing(*updates)[-1]["parts"]
    kinds = [
        one if isinstance(want, dict) else one["type"]
        for one, want in zip(found, parts, strict=True)
    ]
    assert kinds == parts


def test_an_answer_names_the_message_that_it_answers() -> None:
    asked, answer = whole()
    assert answer["answers"] == asked["id"]
