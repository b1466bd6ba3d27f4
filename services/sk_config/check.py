"""Text of a configuration file in, verdict out: each problem with its line and column.

Nothing here reads a file or knows what is in force. A verdict with a problem has no configuration.
"""

import difflib
import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, ValidationError

from sk_bus.errors import problem
from sk_bus.masking import masked_problem, masker
from sk_bus.model import (
    AgentConfig,
    AgentName,
    Limits,
    PermissionRule,
    Problem,
    PublicConfig,
)
from sk_config import schema
from sk_config.definition import Definition, definition
from sk_config.secrets import secrets_in
from sk_config.surroundings import Surroundings
from sk_config.tree import Odd, Path, Tree, tree_of

_MOST_PROBLEMS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``config`` is ``None`` when there are problems; ``definitions`` are in the agents' order."""

    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    config: PublicConfig | None = None
    definitions: tuple[Definition, ...] = ()
    secrets: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def valid(self) -> bool:
        return self.config is not None


def check(text: str, surroundings: Surroundings) -> Verdict:
    """Whatever ``text`` is, its verdict."""
    tree = tree_of(text)
    secrets = secrets_in(tree.data)
    findings = _Findings(tree)
    file = _file(tree, findings)
    definitions: list[Definition] = []
    if file is not None:
        _numbers(tree, findings)
        _names(file, findings)
        for index, agent in enumerate(file.agents):
            _servers(agent, ("agents", index, "mcpServers"), findings)
            _rules(agent, ("agents", index, "permissions"), findings)
            made = definition(agent, ("agents", index), surroundings, findings.tell)
            definitions.append(made)
            secrets |= made.secrets
    problems, warnings = findings.sorted(secrets)
    if problems or file is None:
        return Verdict(problems=problems, warnings=warnings, secrets=secrets)
    return Verdict(
        warnings=warnings,
        config=_public(file, definitions, surroundings),
        definitions=tuple(definitions),
        secrets=secrets,
    )


class _Findings:
    """What was found wrong, and where it stands."""

    def __init__(self, tree: Tree) -> None:
        self._places = tree.places
        self._found = list(tree.problems)
        # What can't be read is not judged as well.
        self._unread = {(one.line, one.column) for one in tree.problems}

    def tell(self, at: Path, made: Problem, *, key: bool = False) -> None:
        """Note ``made`` at the value there (or at its key); without a place, at what holds it."""
        while at and at not in self._places:
            at = at[:-1]
        place = self._places.get(at)
        line, column = (1, 1) if place is None else (place.line, place.column)
        if key and place is not None:
            line, column = place.key_line, place.key_column
        elif (line, column) in self._unread:
            return
        self._found.append(replace(made, line=line, column=column))

    def sorted(self, secrets: frozenset[str]) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
        """(problems, warnings) in the file's order, without secrets; the first hundred each."""
        # What an alias repeats is one problem, at its anchor.
        mask = masker(secrets)
        once = {(made.line, made.column, made.message): made for made in self._found}
        ordered = sorted(
            (masked_problem(made, mask) for made in once.values()),
            key=lambda made: (made.line or 0, made.column or 0),
        )
        problems = [made for made in ordered if not made.warning]
        warnings = [made for made in ordered if made.warning]
        return tuple(problems[:_MOST_PROBLEMS]), tuple(warnings[:_MOST_PROBLEMS])


# --- types, ranges, unknown fields ----------------------------------------------------------


def _file(tree: Tree, findings: _Findings) -> schema.File | None:
    if tree.problems and tree.data is None:
        return None
    if tree.data is not None and not isinstance(tree.data, dict):
        message = "the file is a mapping of fields, such as agents: and limits:"
        findings.tell((), problem("no-mapping", message))
        return None
    try:
        return schema.File.model_validate(tree.data or {})
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=True):
            _tell(detail, findings)
        return None


_NOUNS = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping of fields",
    "model_attributes_type": "a mapping of fields",
}


def _tell(detail: Any, findings: _Findings) -> None:
    at: Path = tuple(detail["loc"])
    field_name = str(at[-1]) if at else ""
    bounds: dict[str, Any] = detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            findings.tell(at, _unknown(at), key=True)
        case "missing":
            made = problem("missing-field", "{field} is missing", field=field_name)
            findings.tell(at[:-1] if detail["input"] is not None else at, made)
        case kind if kind in _NOUNS:
            findings.tell(at, _wrong_type(at, _NOUNS[kind], detail["input"]))
        case "literal_error":
            expected = str(bounds["expected"]).replace("'", "").replace(" or ", ", ")
            message = "{field} is one of: {expected}"
            findings.tell(at, problem("out-of-range", message, field=field_name, expected=expected))
        case "greater_than_equal":
            message = "{field} is at least {least}"
            findings.tell(
                at, problem("out-of-range", message, field=field_name, least=bounds["ge"])
            )
        case "less_than_equal":
            message = "{field} is at most {most}"
            findings.tell(at, problem("out-of-range", message, field=field_name, most=bounds["le"]))
        case "string_too_short":
            findings.tell(at, problem("out-of-range", "{field} may not be empty", field=field_name))
        case "string_too_long" | "too_long":
            unit = "characters" if detail["type"] == "string_too_long" else "entries"
            findings.tell(
                at,
                problem(
                    "out-of-range",
                    "{field} has at most {most} {unit}",
                    field=field_name,
                    most=bounds["max_length"],
                    unit=unit,
                ),
            )
        case id_:
            # Those that the schema raises itself: id, message and params are its own.
            findings.tell(at, Problem(id=id_, message=detail["msg"], params=dict(bounds)))


def _wrong_type(at: Path, noun: str, given: Any) -> Problem:
    message = "{field} must be {expected}, but is {given}"
    params: dict[str, object] = {"field": str(at[-1])}
    if isinstance(at[-1], int):
        message = "entry {entry} of " + message
        params = {"field": str(at[-2]), "entry": at[-1] + 1}
    hint = _hint(noun, given)
    if hint is not None:
        message += ": {hint}"
        params["hint"] = hint
    return problem("wrong-type", message, **params, expected=noun, given=_described(given))


def _described(given: Any) -> str:
    match given:
        case bool():
            return "true or false (as YAML reads yes, no, on and off)"
        case int() | float():
            return "a number (as YAML reads 8080, 012 and 12:30)"
        case str():
            return "text"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case Odd(kind):
            return kind
        case _:
            return "empty"


def _hint(noun: str, given: Any) -> str | None:
    """What to do about a value of another type, where that is plain."""
    match noun, given:
        case "text", bool() | int() | float() | Odd():
            return "put it in quotes"
        case "a whole number", str() if given.strip().isdecimal():
            return "take the quotes away"
        case "a whole number", str() if _NUMBER.fullmatch(given.strip()):
            return "write it with digits alone"
        case "true or false", str() if given.strip().lower() in _FLAGS:
            return "take the quotes away"
        case "a list", _ if given is not None:
            return "write [ ] around it, or each entry in a line that begins with -"
    return None


_NUMBER = re.compile(r"[+-]?[\d_.,]+(e[+-]?\d+)?", re.IGNORECASE)
_FLAGS = ("true", "false", "yes", "no", "on", "off")


def _unknown(at: Path) -> Problem:
    known = _fields_at(at[:-1])
    name = str(at[-1])
    by_folded = {field.casefold(): field for field in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    if near:
        message = "unknown field {field}: did you mean {nearest}?"
        return problem("unknown-field", message, field=name, nearest=by_folded[near[0]])
    for section, model in _SECTIONS.items():
        theirs = {field.casefold(): field for field in model.model_fields}
        field = theirs.get(name.casefold())
        if field is not None:
            place = ": ".join(str(step) for step in section) or "the top"
            message = "unknown field {field}: {nearest} belongs under {section}"
            return problem("unknown-field", message, field=name, nearest=field, section=place)
    message = "unknown field {field}; known here are {known}"
    return problem("unknown-field", message, field=name, known=", ".join(known))


_SECTIONS: dict[Path, type[BaseModel]] = {
    (): schema.File,
    ("limits",): schema.LimitsSection,
    ("history",): schema.HistorySection,
    ("agents",): schema.AgentSection,
    ("agents", "mcpServers"): schema.McpServer,
    ("agents", "permissions"): schema.PermissionRuleSection,
}


def _fields_at(at: Path) -> list[str]:
    section = _SECTIONS[tuple(step for step in at if isinstance(step, str))]
    return list(section.model_fields)


# --- what takes two values, or the vocabulary -----------------------------------------------


def _numbers(tree: Tree, findings: _Findings) -> None:
    """Whole numbers that are in range, and perhaps not the ones that somebody meant."""
    for at, number in tree.odd_numbers.items():
        if at == ("limits", "maxRunningAgents"):
            made = problem("odd-number", "YAML reads this as {number}: write that", number=number)
            findings.tell(at, _warning(made))


def _names(file: schema.File, findings: _Findings) -> None:
    seen: dict[str, str] = {}
    for index, agent in enumerate(file.agents):
        folded = unicodedata.normalize("NFKC", agent.name).casefold()
        if folded in seen:
            message = "a second agent named {name} (the first is {first}); case doesn't count"
            findings.tell(
                ("agents", index, "name"),
                problem("duplicate-name", message, name=agent.name, first=seen[folded]),
            )
        seen.setdefault(folded, agent.name)


def _servers(agent: schema.AgentSection, at: Path, findings: _Findings) -> None:
    for index, server in enumerate(agent.mcpServers):
        needed = "command" if server.type == "stdio" else "url"
        if not getattr(server, needed):
            message = "an MCP server of type {kind} needs {field}"
            findings.tell(
                (*at, index), problem("missing-field", message, kind=server.type, field=needed)
            )


def _warning(made: Problem) -> Problem:
    return replace(made, warning=True)


def _rules(agent: schema.AgentSection, at: Path, findings: _Findings) -> None:
    for index, rule in enumerate(agent.permissions):
        if rule.kind in schema.TOOL_KINDS:
            continue
        # Agents may invent kinds, so this is no error.
        made = problem(
            "unknown-kind",
            "no tool call of ACP is of kind {kind}; known are {known}",
            kind=rule.kind,
            known=", ".join(schema.TOOL_KINDS),
        )
        findings.tell((*at, index, "kind"), _warning(made))


# --- what may be said aloud -----------------------------------------------------------------


def _public(
    file: schema.File, definitions: list[Definition], surroundings: Surroundings
) -> PublicConfig:
    return PublicConfig(
        theme=file.theme,
        language=file.language,
        limits=Limits(
            maxRunningAgents=file.limits.maxRunningAgents,
            stopIdleAgentsAfter=file.limits.stopIdleAgentsAfter,
        ),
        agents=tuple(
            AgentConfig(
                name=AgentName(agent.name),
                title=agent.title or agent.name,
                digest=made.digest,
                cwd=made.cwd,
                icon=_icon(agent.icon, surroundings),
                description=agent.description,
                startTimeout=agent.startTimeout,
                permissions=tuple(
                    PermissionRule(
                        kind=rule.kind,
                        answer=rule.answer,
                        path=rule.path and _at_home(rule.path, surroundings),
                        command=rule.command,
                    )
                    for rule in agent.permissions
                ),
                mcpServers=len(agent.mcpServers),
                mcpTransports=tuple(server.type for server in agent.mcpServers),
            )
            for agent, made in zip(file.agents, definitions, strict=True)
        ),
        keepUnfinished=file.history.keepUnfinished,
    )


def _icon(icon: str, surroundings: Surroundings) -> str:
    """An image's absolute path; anything without a slash is an emoji and stays."""
    if "/" not in icon:
        return icon
    return surroundings.place(_at_home(icon, surroundings))


def _at_home(path: str, surroundings: Surroundings) -> str:
    return surroundings.home + path[1:] if path.startswith("~/") else path
