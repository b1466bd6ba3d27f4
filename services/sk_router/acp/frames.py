"""What follows from a frame of an agent: who hears of it, and that every request gets its answer.

What it means for a session, a turn or a permission is decided there. A frame that fits nothing is
noted, and never the end of anything.
"""

from typing import Any

import orjson

from sk_bus.errors import problem
from sk_bus.model import AgentName
from sk_bus.nesting import TOO_DEEP
from sk_router.acp import capabilities, failures, messages, sessions
from sk_router.agents import lifecycle, lives
from sk_router.channels import permissions, turns
from sk_router.decision import Decision


def take(decision: Decision, agent: AgentName, data: Any) -> None:
    """Let the JSON of a line do what it says; the agent is in the life that wrote it."""
    match messages.frame(data):
        case messages.Answer() as answer:
            _answer(decision, agent, answer)
        case messages.Request() as request:
            _request(decision, agent, request)
        case messages.Notification("session/update", params):
            sessions.updated(decision, agent, params)
        case messages.Notification("$/cancel_request", params):
            permissions.withdrawn(decision, agent, params.get("requestId"))
        case messages.Notification(method, _):
            decision.note(f"{agent}: a notification that we don't know: {method}")
        case messages.Noise(why):
            decision.note(f"{agent}: no frame of ACP: {why}")


def take_too_deep(decision: Decision, agent: AgentName, top: Any) -> None:
    """Let nobody wait for what a line says that is too deep to be kept; ``top`` is what is left."""
    decision.note(f"{agent}: a frame that is {TOO_DEEP}")
    match messages.frame(top):
        case messages.Answer(id=id_):
            error = {
                "code": messages.INVALID_PARAMS,
                "message": f"its answer is {TOO_DEEP}",
            }
            _answer(decision, agent, messages.Answer(id_, error=error))
        case messages.Request(id=id_) if lives.reachable(decision.life(agent)):
            line = messages.error(id_, messages.INVALID_PARAMS, TOO_DEEP)
            lives.write(decision, agent, line)
        case _:
            pass  # a notification


def _answer(decision: Decision, agent: AgentName, answer: messages.Answer) -> None:
    call = lives.called(decision, agent, answer.id)
    if call is None:
        decision.note(f"{agent}: an answer that nothing waits for: id {answer.id!r}")
        return
    match call.method:
        case "initialize":
            _initialized(decision, agent, answer)
        case "session/new" | "session/load" | "session/resume" | "session/close":
            sessions.answered(decision, agent, call, answer)
        case "session/prompt":
            assert call.channel is not None
            turns.responded(decision, call.channel, agent, answer)
        case method:
            raise AssertionError(method)


def _initialized(decision: Decision, agent: AgentName, answer: messages.Answer) -> None:
    if answer.error is not None:
        failed = failures.of(agent, decision.life(agent), answer.error)
        lives.step(decision, agent, lifecycle.HandshakeFailed(failed))
        return
    result = answer.result if isinstance(answer.result, dict) else {}
    version = result.get("protocolVersion")
    if type(version) is not int or version != messages.VERSION:
        failed = problem(
            "wrong-protocol",
            "{agent} speaks version {version} of ACP; Sidekicks speaks version {ours}",
            agent=agent,
            version=orjson.dumps(version).decode()[:50],
            ours=messages.VERSION,
        )
        lives.step(decision, agent, lifecycle.HandshakeFailed(failed))
        return
    succeeded = lifecycle.HandshakeSucceeded(
        capabilities.kept(result), decision.mono, capabilities.methods(result)
    )
    lives.step(decision, agent, succeeded)


def _request(decision: Decision, agent: AgentName, request: messages.Request) -> None:
    """A request is never left without an answer, unless nothing reaches the agent any more."""
    if not lives.reachable(decision.life(agent)):
        decision.note(f"{agent}: {request.method} while it is being stopped")
        return
    if request.method == "elicitation/create":
        # The method is known, and no mode of it is offered: that is what the protocol wants said.
        line = messages.error(request.id, messages.INVALID_PARAMS, "no mode of it is offered")
        lives.write(decision, agent, line)
        return
    if request.method != "session/request_permission":
        line = messages.error(
            request.id, messages.METHOD_NOT_FOUND, f"Method not found: {request.method}"
        )
        lives.write(decision, agent, line)
        return
    channel = sessions.channel_of(decision, agent, request.params)
    if channel is None:
        lives.write(
            decision, agent, messages.error(request.id, messages.INVALID_PARAMS, "no such session")
        )
        return
    permissions.requested(decision, channel, agent, request)
