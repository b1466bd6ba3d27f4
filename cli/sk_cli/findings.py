"""What `doctor` makes of what it saw: each finding with its remedy. Pure."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sk_cli.render import one_line, size
from sk_cli.spans import spoken
from sk_cli.traffic import Frame
from sk_cli.words import t

State = Literal["ok", "warn", "fail"]

# Below so much free disk (bytes) the journal may soon not grow; below the other it can't.
_LITTLE, _NONE = 10**9, 10**8
# The log's clock and the machine's differ by less (ms), unless somebody has set one.
_JUMP = 5_000
_SILENT = 10.0
_LOGIN_NEEDED = -32000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """``id`` is for scripts; ``then`` is the remedy, where something is to be done."""

    id: str
    state: State
    text: str
    then: str = ""


def ok(id_: str, text: str) -> Finding:
    return Finding(id=id_, state="ok", text=text)


def warn(id_: str, text: str, then: str = "") -> Finding:
    return Finding(id=id_, state="warn", text=text, then=then)


def fail(id_: str, text: str, then: str = "") -> Finding:
    return Finding(id=id_, state="fail", text=text, then=then)


def versions(found: Mapping[str, str | None]) -> Finding:
    """The libraries by name; a version that is ``None`` is missing."""
    missing = [name for name, version in found.items() if version is None]
    if missing:
        return fail("versions", t("doctor.missing", names=", ".join(missing)), "make up")
    return ok("versions", ", ".join(f"{name} {version}" for name, version in found.items()))


def mode(id_: str, path: str, bits: int) -> Finding:
    """A file or folder of ours that nobody else may open."""
    if bits & 0o077:
        return fail(id_, t("doctor.open", path=path, mode=f"{bits:04o}"), f"chmod go= {path}")
    return ok(id_, t("doctor.private", path=path))


def disk(path: str, free: int) -> Finding:
    said = t("doctor.disk", size=size(free), path=path)
    if free < _NONE:
        return fail("disk", said, t("doctor.disk.then"))
    return warn("disk", said, t("doctor.disk.then")) if free < _LITTLE else ok("disk", said)


def component(name: str, state: str, beat: float | None, problem: str) -> Finding:
    """One component, and how long ago it was heard of."""
    id_ = f"component:{name}"
    remedy = f"sk-cli logs {name} -n 50   |   sk-cli restart {name}"
    said = t(f"state.{state}") + (f": {one_line(problem, 200)}" if problem else "")
    if state == "starting":
        return warn(id_, t("words.is", what=name, how=said), remedy)
    if state != "running":
        return fail(id_, t("words.is", what=name, how=said), remedy)
    if beat is not None and beat > _SILENT:
        return fail(id_, t("doctor.silent", name=name, time=spoken(beat)), remedy)
    return ok(id_, t("words.is", what=name, how=said))


def clock(last: int | None, now: int) -> Finding:
    """``last`` is when (ms) the log's last event came, ``now`` the machine's clock."""
    if last is not None and last - now > _JUMP:
        behind = spoken((last - now) / 1000)
        return warn("clock", t("doctor.clock", time=behind), t("doctor.clock.then"))
    return ok("clock", t("doctor.clock.ok"))


def page(status: int | None, address: str) -> Finding:
    """The answer of the page's address; ``None`` when nobody answers there."""
    match status:
        case None:
            return fail(
                "page",
                t("doctor.page.silent", address=address),
                "sk-cli logs gateway -n 50   |   sk-cli restart gateway",
            )
        case 200:
            return ok("page", t("doctor.page", address=address))
        case 404:
            return fail("page", t("doctor.page.unbuilt"), "make ui")
        case _:
            return fail("page", t("doctor.page.status", status=status), "sk-cli logs gateway -n 50")


# --- one agent ----------------------------------------------------------------------------------


def program(agent: str, definition: Mapping[str, Any], found: str | None) -> Finding:
    """Where the agent's command is, and which PATH was searched."""
    command = one_line(str(definition.get("command", "")))
    if found is not None:
        return ok("agent:command", t("doctor.command", agent=agent, path=found))
    searched = one_line(str(definition.get("path", "")))
    return fail(
        "agent:command",
        t("doctor.command.missing", agent=agent, command=command, path=searched),
        t("doctor.command.then"),
    )


def handshake(agent: str, frames: Iterable[Frame]) -> list[Finding]:
    """What the agent answered to ``initialize`` in its last life, as far as it is in the log."""
    asked: Frame | None = None
    answered: tuple[Frame, dict[str, Any]] | None = None
    login = False
    for frame in frames:
        body = _json(frame.line)
        if frame.to and frame.n == 1:
            asked, answered, login = frame, None, False
        elif not frame.to and asked is not None and frame.inc == asked.inc:
            if body.get("id") == 1 and answered is None and "method" not in body:
                answered = (frame, body)
            error = body.get("error")
            login = login or (isinstance(error, dict) and error.get("code") == _LOGIN_NEEDED)
    if asked is None or answered is None:
        return [
            fail(
                "agent:initialize",
                t("doctor.initialize.none", agent=agent),
                f"sk-cli agents logs {agent}   |   sk-cli agents traffic {agent}",
            )
        ]
    frame, body = answered
    result = body.get("result")
    if not isinstance(result, dict):
        refusal = one_line(str(body.get("error")), 300)
        return [
            fail(
                "agent:initialize",
                t(
                    "doctor.initialize.error",
                    agent=agent,
                    said=refusal,
                ),
                f"sk-cli agents logs {agent}",
            )
        ]
    took = spoken((frame.ts - asked.ts) / 1000)
    version = result.get("protocolVersion")
    named = _object(result.get("agentInfo"))
    who = " ".join(str(named[key]) for key in ("name", "version") if named.get(key))
    said = t("doctor.initialize", agent=agent, time=took, version=version, who=one_line(who or "–"))
    return [
        ok("agent:initialize", said),
        ok("agent:capabilities", _capabilities(_object(result.get("agentCapabilities")))),
        _login(agent, result.get("authMethods"), needed=login),
    ]


def _capabilities(offered: dict[str, Any]) -> str:
    """What the agent can do, in ACP's own words."""
    found = []
    for key, value in sorted(offered.items()):
        if isinstance(value, dict):
            found += [f"{key}.{name}" for name, has in sorted(value.items()) if _has(has)]
        elif _has(value):
            found.append(key)
    return t("doctor.capabilities", names=one_line(", ".join(found) or "–"))


def _has(value: object) -> bool:
    return value is not False and value is not None


def _login(agent: str, methods: object, *, needed: bool) -> Finding:
    listed = [_object(one) for one in methods] if isinstance(methods, list) else []
    names = one_line(", ".join(str(one.get("name") or one.get("id")) for one in listed)) or "–"
    if needed:
        said = t("doctor.login.needed", agent=agent, names=names)
        return fail("agent:login", said, t("doctor.login.then", agent=agent))
    key = "doctor.login.offered" if listed else "doctor.login.none"
    return ok("agent:login", t(key, agent=agent, names=names))


def _json(line: str) -> dict[str, Any]:
    try:
        return _object(json.loads(line))
    except ValueError:
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
