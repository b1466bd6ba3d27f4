"""What `doctor` makes of what it saw: the state of each finding, and the remedy it needs."""

import json
from typing import Any

import pytest

from sk_cli import findings
from sk_cli.traffic import Frame, frames, hiding, method
from tests.support.recorded_bus import batch
from tests.unit.sk_cli.recorded import ALICE, BOB, EPOCH, LOGGED

ASKED = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}


def frame(body: Any, *, to: bool = False, n: int | None = None, inc: int = 7) -> Frame:
    line = body if isinstance(body, str) else json.dumps(body)
    return Frame(seq=1, ts=100 if to else 350, agent="al", inc=inc, to=to, line=line, n=n)


def answered(**result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, **result}}


FIRST = frame(ASKED, to=True, n=1)


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (findings.versions({"Python": "3.11"}), "ok"),
        (findings.versions({"pyzmq": None}), "fail"),
        (findings.mode("token", "/t", 0o600), "ok"),
        (findings.mode("token", "/t", 0o644), "fail"),
        (findings.disk("/", 5 * 10**9), "ok"),
        (findings.disk("/", 5 * 10**8), "warn"),
        (findings.disk("/", 10**6), "fail"),
        (findings.component("router", "running", 0.4, ""), "ok"),
        (findings.component("router", "running", 30.0, ""), "fail"),
        (findings.component("router", "starting", None, ""), "warn"),
        (findings.component("router", "down", None, "spawn failed"), "fail"),
        (findings.clock(None, 0), "ok"),
        (findings.clock(1_000, 1_000), "ok"),
        (findings.clock(60_000, 1_000), "warn"),
        (findings.page(200, "http://x"), "ok"),
        (findings.page(404, "http://x"), "fail"),
        (findings.page(500, "http://x"), "fail"),
        (findings.page(None, "http://x"), "fail"),
        (findings.program("al", {"command": "al", "path": "/bin"}, "/bin/al"), "ok"),
        (findings.program("al", {"command": "al", "path": "/bin"}, None), "fail"),
    ],
)
def test_what_is_wrong_has_a_remedy(said: findings.Finding, state: str) -> None:
    assert said.state == state
    assert bool(said.then) == (state != "ok")


def test_a_handshake_says_what_the_agent_can_do() -> None:
    shown = findings.handshake(
        "al",
        [
            FIRST,
            frame(
                answered(
                    agentCapabilities={
                        "loadSession": True,
                        "promptCapabilities": {"image": True, "audio": False},
                        "sessionCapabilities": {"close": {}},
                    },
                    agentInfo={"name": "al\x1b[2J", "version": "2"},
                )
            ),
        ],
    )
    assert [one.state for one in shown] == ["ok", "ok", "ok"]
    assert "0.2 s" in shown[0].text
    assert "al␛[2J 2" in shown[0].text
    assert "loadSession, promptCapabilities.image, sessionCapabilities.close" in shown[1].text


@pytest.mark.parametrize(
    "said",
    [
        [],
        [FIRST],
        [FIRST, frame("no JSON")],
        [FIRST, frame([1])],
        [FIRST, frame(answered(), inc=8)],
        [frame(answered())],
        [FIRST, frame({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603}})],
        [FIRST, frame(answered()), frame(ASKED, to=True, n=1, inc=9)],
    ],
)
def test_without_an_answer_of_this_life_it_failed(said: list[Frame]) -> None:
    (only,) = findings.handshake("al", said)
    assert (only.state, "sk-cli agents logs al" in only.then) == ("fail", True)


def test_a_login_that_was_asked_for_is_needed() -> None:
    refused = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32000, "message": "log in"}}
    offered = answered(authMethods=[{"id": "key", "name": "API key"}])
    asked_for = findings.handshake("al", [FIRST, frame(offered), frame(refused)])[-1]
    assert (asked_for.state, "API key" in asked_for.text) == ("fail", True)
    assert findings.handshake("al", [FIRST, frame(offered)])[-1].state == "ok"


def test_secrets_are_masked_also_as_json_escapes_them() -> None:
    hide = hiding([{"env": {"A": 'quo"ted-secret', "B": "schlüssel-wort"}}])
    shown = hide(json.dumps(['quo"ted-secret', "schlüssel-wort"]) + 'quo"ted-secret schlüssel-wort')
    assert "secret" not in shown
    assert "wort" not in shown


def test_frames_are_those_of_one_agent_in_their_order() -> None:
    plain = hiding([])
    found = [one for logged in LOGGED for one in frames(logged, ALICE, plain)]
    assert [(one.to, one.n, one.end) for one in found] == [(True, 1, None), (False, None, 300)]
    assert [one for logged in LOGGED for one in frames(logged, BOB, plain)] == []
    assert list(frames(batch(EPOCH, EPOCH + 1, 0, *_others()), ALICE, plain)) == []


def _others() -> list[Any]:
    return [event for logged in LOGGED[:1] for _, event in logged.events()]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"method":"session/prompt","id":3}', "session/prompt"),
        (
            '{"method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}',
            "session/update plan",
        ),
        ('{"id":3,"result":{}}', "result 3"),
        ('{"id":3,"error":{}}', "error 3"),
        ("[]", "?"),
        ("nonsense", "?"),
    ],
)
def test_a_frame_is_named_in_a_word(line: str, said: str) -> None:
    assert method(line) == said
