"""What an agent's error means to a person: its own words, and what can be done about it."""

from typing import Any

from sk_bus.errors import problem
from sk_bus.model import AgentName, Problem
from sk_router.acp import messages
from sk_router.records import AuthMethod, Life


def of(agent: AgentName, life: Life, error: dict[str, Any]) -> Problem:
    """The error of an answer."""
    said, code = messages.worded(error), messages.code(error)
    if code != messages.AUTHENTICATION_REQUIRED:
        return Problem(id="agent-error", message=said, params={"agent": agent, "code": code})
    if life.methods:
        advice = "It offers: {offered}. Log in with its own program, then send the message again"
    else:
        advice = "It names no way to log in: see its documentation, then send the message again"
    return problem(
        "login-needed",
        "{agent} wants a login ({said}). " + advice,
        agent=agent,
        said=said,
        code=code,
        offered=", ".join(_named(method) for method in life.methods) or "none",
        methods=[_plain(method) for method in life.methods],
    )


def wants_login(error: dict[str, Any] | None) -> bool:
    return error is not None and messages.code(error) == messages.AUTHENTICATION_REQUIRED


def _named(method: AuthMethod) -> str:
    return f"{method.name} ({method.description})" if method.description else method.name


def _plain(method: AuthMethod) -> dict[str, str]:
    return {"id": method.id, "name": method.name, "description": method.description}
