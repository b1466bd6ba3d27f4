"""What an event says, in one line for a person. Pure; an event is a map as it travels."""

from typing import Any

from sk_cli.messages import kind_text, status_text
from sk_cli.render import one_line
from sk_cli.words import known, t

_SAID_ELSEWHERE = {"type", "channel", "agent"}


def where(event: dict[str, Any], names: dict[str, str]) -> str:
    """Where an event belongs: channel and agent; ``names`` gives channels their names."""
    channel = str(event.get("channel") or "")
    message = event.get("message") or {}
    agent = event.get("agent") or message.get("agent") or event.get("component") or ""
    return one_line(" ".join(filter(None, [names.get(channel, channel), str(agent)])))


def summary(event: dict[str, Any]) -> str:
    """What an event says. One of a type that is not known here is shown as it came."""
    match event:
        case {"type": "message:updated", "message": message}:
            return _message(message)
        case {"type": "message:delta", "kind": kind, "text": str(text)}:
            return f"{kind} +{len(text)}: {one_line(text, 60)}"
        case {"type": "message:delta", "kind": kind, "part": dict(part)}:
            return f"{one_line(str(kind))}: {_part(part)}"
        case {"type": "turn:changed", "busy": busy}:
            return _turn(event) if busy else t("event.idle") + _waiting(event)
        case {"type": "agent:state", "state": state}:
            marks = [state_text(mark) for mark in ("stopping", "outdated") if event.get(mark)]
            error = (event.get("error") or {}).get("message", "")
            said = ", ".join([state_text(str(state)), *marks])
            return one_line(t("words.is", what=said, how=error) if error else said, 120)
        case {"type": "agent:log", "line": line}:
            return one_line(str(line), 120)
        case {"type": "permission:requested", "toolCall": tool, "options": options, "id": id_}:
            offered = ", ".join(str(option.get("optionId")) for option in options)
            kind = kind_text(str(tool.get("kind")))
            return one_line(f"{kind} “{tool.get('title')}”: {offered} ({id_})", 160)
        case {"type": "permission:resolved", "by": by}:
            chosen = event.get("optionId") or t("event.cancelled")
            return one_line(t("event.resolved", option=chosen, by=by, id=event.get("id")))
        case {"type": "usage:changed", "usage": usage}:
            return t("event.usage", used=usage.get("used"), size=usage.get("size") or "?")
        case {"type": "commands:changed", "commands": commands}:
            return one_line(", ".join(f"/{one.get('name')}" for one in commands), 120)
        case {"type": "channels:changed", "channels": channels}:
            return t("event.channels", count=len(channels))
        case {"type": "component:state", "state": state, "pid": pid}:
            restarts = t("event.restarts", count=event.get("restarts"))
            return f"{state_text(str(state))}, pid {pid}, {restarts}"
        case {"type": "config:changed", "valid": valid, "path": path}:
            count = len(event.get("problems") or ())
            state = t("config.valid") if valid else t("config.problems", count=count)
            return one_line(t("words.is", what=path, how=state))
        case _:
            rest = {key: value for key, value in event.items() if key not in _SAID_ELSEWHERE}
            return one_line(" ".join(f"{key}={value}" for key, value in rest.items()), 160)


def state_text(state: str) -> str:
    """A state of an agent or a component; an unknown one as it came."""
    return t(f"state.{state}") if known(f"state.{state}") else one_line(state)


def _message(message: dict[str, Any]) -> str:
    texts = [part.get("text", "") for part in message.get("parts", ()) if part["type"] == "text"]
    shown = " ".join(text if isinstance(text, str) else text.get("head", "") for text in texts)
    role = message.get("role", "")
    who = {"user": t("author.you"), "system": "Sidekicks"}.get(role, message.get("agent"))
    state = [
        *([t("end.queued")] if message.get("queued") else []),
        *(["…"] if not message.get("done", True) else []),
        *([str(message["stopReason"])] if message.get("stopReason") else []),
        *([str(message["code"])] if message.get("code") else []),
        *([message["error"].get("message", "error")] if message.get("error") else []),
    ]
    mark = f"[{one_line(', '.join(state))}]" if state else ""
    return " ".join(filter(None, [f"{one_line(str(who))}:", one_line(shown, 80), mark]))


def _part(part: dict[str, Any]) -> str:
    if part.get("type") == "tool":
        tool = part["tool"]
        status = status_text(str(tool.get("status")))
        return one_line(f"{kind_text(str(tool.get('kind')))} {tool.get('title')} – {status}", 100)
    if part.get("type") == "plan":
        return t("event.steps", count=len(part.get("steps", ())))
    return one_line(str(part.get("type")))


def _turn(event: dict[str, Any]) -> str:
    answering = event.get("answering")
    said = t("event.answering", agent=answering) if answering else t("event.beginning")
    then = event.get("then") or ()
    after = t("event.then", agents=", ".join(then)) if then else ""
    return one_line(said + after + _waiting(event))


def _waiting(event: dict[str, Any]) -> str:
    queued = event.get("queued") or 0
    other = event.get("waitingFor")
    busy = t("event.waits-for", agent=other.get("agent")) if other else ""
    return (t("event.queued", count=queued) if queued else "") + busy
