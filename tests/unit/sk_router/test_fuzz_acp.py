"""Whatever an agent says in whatever state: nothing breaks, the fold holds, and life goes on.

The playbook holds the fold of what was published against the live state after each input, and each
line to an agent against the schema of ACP.
"""

import json
from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from sk_router.acp import messages
from tests.support.playbook import Playbook, chunk, permission, update
from tests.support.strange import altered, briefly, values

WORDS = (
    "s1",
    "t1",
    "sessionUpdate",
    "content",
    "type",
    "text",
    "$blob",
    "$def",
    "sha256",
    "optionId",
    "allow_once",
    "session/update",
    "initialize",
)
BLOB = {"$blob": {"sha256": "a" * 64, "length": 20_000, "head": "head"}}
TEXT = {"type": "text", "text": "hello"}
UPDATES: tuple[dict[str, Any], ...] = (
    chunk("hello"),
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": BLOB}},
    {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "image", "mimeType": "image/png", "data": "AA=="},
    },
    {
        "sessionUpdate": "agent_thought_chunk",
        "content": {"type": "resource_link", "uri": "file:///x", "name": "x"},
    },
    {
        "sessionUpdate": "tool_call",
        "toolCallId": "t1",
        "title": "Run",
        "kind": "execute",
        "status": "pending",
        "rawInput": {"command": ["rm", "-rf"]},
        "locations": [{"path": "/x", "line": 3}],
    },
    {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t1",
        "status": "completed",
        "content": [
            {"type": "content", "content": TEXT},
            {"type": "diff", "path": "/x", "oldText": None, "newText": "new"},
            {"type": "terminal", "terminalId": "term"},
        ],
        "rawOutput": {"out": BLOB},
    },
    {
        "sessionUpdate": "plan",
        "entries": [{"content": "step", "priority": "high", "status": "pending"}],
    },
    {"sessionUpdate": "usage_update", "used": 1, "size": 2},
    {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "x", "description": "y", "input": {"hint": "z"}}],
    },
    {"sessionUpdate": "user_message_chunk", "content": TEXT},
)
FRAMES: tuple[Any, ...] = (
    *[update(one) for one in UPDATES],
    permission(0, ("yes", "allow_once"), ("no", "reject_once"), title="Write", kind="edit"),
    {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 0}},
    {"jsonrpc": "2.0", "id": 9, "method": "fs/read_text_file", "params": {"path": "/etc/shadow"}},
    {"jsonrpc": "2.0", "id": "e", "method": "elicitation/create", "params": {"mode": "form"}},
    *[{"jsonrpc": "2.0", "id": n, "result": {"stopReason": "end_turn"}} for n in (1, 2, 3)],
    {"jsonrpc": "2.0", "id": 3, "error": {"code": -32000, "message": "no", "data": {"a": 1}}},
    {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {}}},
    {"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s1", "modes": {}}},
)
STRANGE = st.sampled_from(FRAMES).flatmap(lambda good: altered(good, *WORDS)) | values(*WORDS)
REACHED = st.sampled_from(["starting", "opening", "prompted", "asking", "answered"])


def reach(state: str) -> Playbook:
    """A playbook whose agent alice has come as far as that."""
    p = Playbook("alice", "bob")
    channel = p.direct("alice")
    p.send(channel, "hello")
    p.up("alice")
    if state == "starting":
        return p
    p.initialized("alice", "load")
    if state == "opening":
        return p
    p.answers("alice", 2, {"sessionId": "s1"})
    if state == "asking":
        p.writes("alice", permission(0, ("yes", "allow_once"), ("no", "reject_once")))
    if state == "answered":
        p.replies("alice", "so", "s1")
    return p


@briefly
@given(REACHED, st.lists(STRANGE, max_size=6), st.sampled_from(["together", "apart"]))
@example(
    "prompted",
    [update({"sessionUpdate": "agent_message_chunk", "content": TEXT | BLOB})],
    "together",
)
def test_any_frames_in_any_state_are_borne(state: str, strange: list[Any], how: str) -> None:
    p = reach(state)
    if how == "together":
        p.writes("alice", *strange)
    else:
        for one in strange:
            p.writes("alice", one)
    p.passes(60_000)
    p.restart()
    # Another agent is none the worse, whatever this one did.
    other = p.direct("bob")
    message = p.send(other, "still there?")
    p.opened("bob", "s2")
    p.replies("bob", "yes", "s2")
    assert p.answered(message) == [("bob", "end_turn")]
    if "alice" in p.state.lives and p.state.lives["alice"].inc:
        p.exits("alice", asked=False, code=1)
    p.passes(60_000)
    open_ = [one for one in p.messages().values() if not one.get("done", True)]
    assert open_ == [], "a message that never ends"


@briefly
@given(
    st.sampled_from(FRAMES).flatmap(lambda good: altered(good, *WORDS)).map(json.dumps) | st.text()
)
def test_a_line_is_json_or_refused(line: str) -> None:
    with suppress(ValueError):
        messages.frame(messages.loaded(line))
