"""What the scripted model answers: a function of what it is asked, so that a run can be repeated.

Directives in the last prompt decide. What stands before its last ``##`` is ignored: where a turn
had no answer (it was cancelled, or failed) many agents put the next prompt behind the former one,
in one message. Pure.

=================  ===========================================================================
``!say{text}``     answers the text
``!words{n}``      answers "word1 word2 …", a hundred words a second
``!until{key}``    the same, fifty a second, until the key is released; then "the end."
``!code{name}``    makes up a code: "The code of name is 7f3a12."
``!recall{name}``  the code of that name, if it stands in anything that the model is sent
``!shell{line}``   calls the shell tool with that line, then says that it was called
``!fail{status}``  an error of HTTP
=================  ===========================================================================
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.real.asking import Asked, Json, Tool

# The shell tool's name, in order of preference; else the first that contains one of these.
_SHELLS = (
    *("bash", "shell", "run_shell_command", "exec_command", "shell_command", "run_command"),
    *("execute_command", "execute_bash", "execute", "run_terminal_cmd", "terminal"),
)
_DIRECTIVE = re.compile(r"!(\w+)\{([^}]*)\}")
_REMINDER = re.compile(r"<([\w-]+)[^>]*>.*?</\1>", re.DOTALL)
_FEW = 40


@dataclass(frozen=True, slots=True)
class Say:
    """Text, word by word, so many seconds apart."""

    words: tuple[str, ...]
    apart: float = 0.005


@dataclass(frozen=True, slots=True)
class SayUntil:
    """Words until somebody releases ``key``."""

    key: str
    apart: float = 0.02


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP status instead of an answer."""

    status: int


Step = Say | SayUntil | Call | Fail


def prompt(asked: Asked) -> str:
    """What the model is to answer: the last message of a person's, without reminders."""
    return _prompt(asked)[1]


def answer(asked: Asked) -> tuple[Step, ...]:
    at, said = _prompt(asked)
    if asked.form is not None:
        return (Say((json.dumps(filled("", asked.form, line="true")),)),)
    if not asked.tools and re.search(r"\btitle\b", asked.system, re.IGNORECASE):
        return (say("A scripted title"),)
    if any(one.role != "user" for one in asked.said[at + 1 :]):
        return (say("The tool has answered."),)
    match _DIRECTIVE.search(said):
        case None:
            return (say(f"You said: {' '.join(said.split()[:8]) or 'nothing'}. That is all."),)
        case found:
            return tuple(_told(found[1], found[2], asked))


def code(name: str) -> str:
    """The sentence that makes up the code of that name."""
    return f"The code of {name} is {hashlib.sha256(name.encode()).hexdigest()[:6]}."


def say(text: str) -> Say:
    """A text as words that, joined, are that text."""
    return Say(tuple(re.findall(r"\S+\s*|\s+", text)))


def _prompt(asked: Asked) -> tuple[int, str]:
    for at in range(len(asked.said) - 1, -1, -1):
        one = asked.said[at]
        bare = _REMINDER.sub(" ", one.text).strip()
        if one.role == "user" and bare:
            return at, bare.rpartition("##")[2].strip()
    return -1, ""


def _told(directive: str, argument: str, asked: Asked) -> Iterator[Step]:
    match directive:
        case "say":
            yield say(argument)
        case "words":
            yield say(" ".join(f"word{n}" for n in range(1, int(argument) + 1)))
        case "until":
            yield SayUntil(argument)
        case "code":
            yield say(code(argument))
        case "recall":
            everything = " ".join((asked.system, *(one.text for one in asked.said)))
            known = re.search(rf"The code of {re.escape(argument)} is (\w+)\.", everything)
            yield say(f"It was {known[1]}." if known else "I have not been told that code.")
        case "shell":
            tool = _shell(asked.tools)
            if tool is None:
                yield say("I have no tool that runs a command.")
            else:
                yield say(f"I call {tool.name}. ")
                arguments = filled("", {"type": "object", **tool.schema}, line=argument)
                yield Call(tool.name, arguments)
        case "fail":
            yield Fail(int(argument))
        case other:
            yield say(f"I don't know the directive {other}.")


def _shell(tools: tuple[Tool, ...]) -> Tool | None:
    for name in _SHELLS:
        for tool in tools:
            if tool.name.lower() == name:
                return tool
    return next((tool for tool in tools if any(one in tool.name.lower() for one in _SHELLS)), None)


def filled(name: str, schema: Json, *, line: str, root: Json | None = None) -> Any:
    """A value that fits a JSON schema; what is called a command is ``line``.

    Of an object only what is required: what is optional (a limit of time, a folder) is the agent's.
    """
    root = root or schema
    if "$ref" in schema:
        known = root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {})
        return filled(name, known, line=line, root=root)
    if schema.get("enum") or "const" in schema:
        return schema["enum"][0] if schema.get("enum") else schema["const"]
    for choice in ("anyOf", "oneOf", "allOf"):
        if schema.get(choice):
            return filled(name, schema[choice][0], line=line, root=root)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    match str(kind[0] if isinstance(kind, list) else kind).lower():
        case "object":
            parts = schema.get("properties", {})
            wanted = schema.get("required") or list(parts)[:1]
            return {one: filled(one, parts.get(one, {}), line=line, root=root) for one in wanted}
        case "array" if name in {"command", "cmd", "argv"}:
            return ["bash", "-c", line]
        case "array":
            return [filled(name, schema.get("items", {}), line=line, root=root)]
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return False
        case "null":
            return None
        case _:
            is_command = re.search(r"command|cmd|^script$|^code$", name, re.IGNORECASE)
            return line if is_command else f"scripted {name}".strip()
