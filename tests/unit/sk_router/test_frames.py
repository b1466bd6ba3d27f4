"""Every kind of frame that we send is valid by the protocol's own schema."""

import os

import pytest

from sk_bus.commands import AnswerPermission, Cancel, Send
from sk_bus.events import PermissionRequested
from sk_bus.internal import DoSend
from sk_bus.model import BlobRef
from tests.support import acp_schema
from tests.support.playbook import Playbook, agent, permission


@pytest.fixture(autouse=True)
def _schema() -> None:
    if not acp_schema.available():
        missing = "the ACP schema comes with `npm ci` in ui-web"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)


def test_every_kind_of_frame_is_valid() -> None:
    p = Playbook(agent("alice", mcpServers=1))
    channel = p.prompted("alice")
    p.writes("alice", permission("p1", ("yes", "allow_once")))
    (asked,) = p.of(PermissionRequested)
    p.command(AnswerPermission, permission=asked.id, optionId="yes")
    p.writes("alice", permission("p2", ("yes", "allow_once")))
    p.writes("alice", {"id": 7, "method": "fs/read_text_file", "params": {}})
    p.writes("alice", permission("p3", session="unknown"))
    p.command(Cancel, channel=channel)
    p.answers("alice", 3, {"stopReason": "cancelled"})
    p.passes(5_000)
    long = BlobRef(sha256="ab" * 32, length=20_000, head="long")
    p.command(Send, channel=channel, text=long)
    lines = [one.line for one in p.log if isinstance(one, DoSend)]
    assert len(lines) == 9
    for line in lines:
        acp_schema.check(line)


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/a"}}',
        '{"jsonrpc":"2.0","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}',
        '{"jsonrpc":"2.0","id":1,"method":"session/cancel","params":{"sessionId":"s"}}',
        '{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected"}}}',
        '{"jsonrpc":"2.0","id":1,"error":{"code":"no"}}',
        '{"id":1,"result":{"outcome":{"outcome":"cancelled"}}}',
    ],
)
def test_the_schema_finds_what_is_wrong(line: str) -> None:
    with pytest.raises((AssertionError, KeyError)):
        acp_schema.check(line)
