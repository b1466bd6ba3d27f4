"""The demo agent as a process: over bare pipes, and with the official SDK as its client."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import AllowedOutcome, PermissionOption, RequestPermissionResponse

from sk_demo.scenes import long_text
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process

COMMAND = [sys.executable, "-m", "sk_demo.agent"]


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator["subprocess.Popen[bytes]"]:
    monkeypatch.setenv("SK_DEMO_PACE", "0")
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process
        process.kill()


def say(agent: "subprocess.Popen[bytes]", *lines: bytes) -> None:
    assert agent.stdin is not None
    agent.stdin.write(b"".join(line + b"\n" for line in lines))
    agent.stdin.flush()


def heard(agent: "subprocess.Popen[bytes]") -> Any:
    assert agent.stdout is not None
    return json.loads(agent.stdout.readline())


def test_it_ends_with_its_stdin(agent: "subprocess.Popen[bytes]") -> None:
    assert agent.stdin is not None
    agent.stdin.close()
    assert agent.wait(timeout=PATIENCE) == 0


def test_a_line_that_is_no_json_gets_an_error_and_the_next_one_is_answered(
    agent: "subprocess.Popen[bytes]",
) -> None:
    say(agent, b"what?", b"", b'{"id": 1, "method": "initialize", "params": {}}')
    assert heard(agent)["error"]["code"] == -32700
    assert heard(agent)["result"]["protocolVersion"] == 1


def test_two_lines_in_one_write_and_one_in_two_are_all_read(
    agent: "subprocess.Popen[bytes]",
) -> None:
    assert agent.stdin is not None
    say(agent, b'{"id": 1, "method": "initialize"}', b'{"id": 2, "method": "nothing"}')
    assert [heard(agent)["id"], heard(agent)["id"]] == [1, 2]
    agent.stdin.write(b'{"id": 3, "meth')
    agent.stdin.flush()
    say(agent, b'od": "nothing"}')
    assert heard(agent)["id"] == 3


def test_crash_leaves_its_last_words_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SK_DEMO_PACE", "0")
    lines = [
        {"id": 1, "method": "initialize"},
        {"id": 2, "method": "session/new", "params": {"cwd": "/"}},
        {
            "id": 3,
            "method": "session/prompt",
            "params": {"sessionId": "demo-1", "prompt": [{"type": "text", "text": "crash"}]},
        },
    ]
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        say(process, *(json.dumps(line).encode() for line in lines))
        assert process.wait(timeout=PATIENCE) == 3
        assert process.stderr is not None
        assert b"asked to crash" in process.stderr.read()


class Recorder(acp.Client):
    """A client of the official SDK that keeps what it is told, and allows what it is asked."""

    def __init__(self) -> None:
        self.text = ""
        self.kinds: list[str] = []
        self.offered: list[str] = []

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.kinds.append(update.session_update)
        if update.session_update == "agent_message_chunk":
            self.text += update.content.text

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[PermissionOption], **kwargs: Any
    ) -> RequestPermissionResponse:
        self.offered = [option.kind for option in options]
        chosen = AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return RequestPermissionResponse(outcome=chosen)


async def _told(text: str, cwd: Path) -> tuple[Recorder, str]:
    """The official SDK talks with the agent: what it saw, and the stop reason."""
    client = Recorder()
    async with acp.spawn_agent_process(client, *COMMAND, env={"SK_DEMO_PACE": "0"}) as (agent, _):
        await agent.initialize(protocol_version=1)
        session = await agent.new_session(cwd=str(cwd), mcp_servers=[])
        answer = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(text)])
    return client, answer.stop_reason


def test_the_official_sdk_hears_a_long_answer_whole(tmp_path: Path) -> None:
    client, stop_reason = asyncio.run(_told("long 500", tmp_path))
    assert client.text == long_text(500)
    assert stop_reason == "end_turn"


def test_the_official_sdk_is_asked_for_permission(tmp_path: Path) -> None:
    client, stop_reason = asyncio.run(_told("permission", tmp_path))
    assert client.offered == ["allow_once", "allow_always", "reject_once"]
    assert "Done." in client.text
    assert stop_reason == "end_turn"


def test_the_official_sdk_knows_every_kind_of_update(tmp_path: Path) -> None:
    kinds = set()
    for word in ("plan", "think", "tool", "diff"):
        client, _ = asyncio.run(_told(word, tmp_path))
        kinds |= set(client.kinds)
    assert kinds == {
        "agent_message_chunk",
        "agent_thought_chunk",
        "available_commands_update",
        "plan",
        "tool_call",
        "tool_call_update",
        "usage_update",
    }
