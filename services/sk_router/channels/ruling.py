"""Which rule of the configuration answers a permission request, and with which option.

A rule fits by the kind of the call, by all the paths that it names and by its command. What isn't
known never fits, and an option that the agent doesn't offer is not made up: then a person is asked.
Pure: who answers and says so is decided elsewhere.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from sk_bus.graphemes import boundary
from sk_bus.model import AgentConfig, PermissionOption, PermissionRule, ToolCall
from sk_router.globs import command_fits, path_fits

# ACP's; an agent's own kinds are shown as ``other``, and count as that.
_KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode")
_TITLE = 120
_SHELLS = ("sh", "bash", "dash", "zsh")


@dataclass(frozen=True, slots=True)
class Ruling:
    """The rule that fits, its number in the agent's list (from 1), and the option it chooses."""

    rule: PermissionRule
    number: int
    option: PermissionOption


def ruling(
    config: AgentConfig, tool: ToolCall, options: Sequence[PermissionOption]
) -> Ruling | None:
    """What the first rule that fits answers; ``None`` where a person is to be asked."""
    for number, rule in enumerate(config.permissions, 1):
        if fits(rule, tool, config.cwd):
            # Of several of a kind the first: the agent's order is the only one there is.
            option = next((one for one in options if one.kind == rule.answer), None)
            return None if option is None else Ruling(rule, number, option)
    return None


def fits(rule: PermissionRule, tool: ToolCall, folder: str) -> bool:
    """Whether the rule is about this call; paths that aren't absolute count from ``folder``."""
    kinds = (tool.kind,) if tool.kind in _KINDS else (tool.kind, "other")
    if rule.kind not in kinds:
        return False
    if rule.path is not None:
        paths = {one.path for one in tool.locations} | {one.path for one in tool.diffs}
        if not paths or not all(path_fits(path, rule.path, folder) for path in paths):
            return False
    if rule.command is not None:
        command = command_of(tool)
        return command is not None and command_fits(command, rule.command)
    return True


def command_of(tool: ToolCall) -> str | None:
    """The command that the call would run, where its input says it; its title is only a title."""
    if not isinstance(tool.input, str) or not tool.input.startswith("{"):
        return None
    try:
        given = orjson.loads(tool.input)
    except orjson.JSONDecodeError:
        return None
    command, arguments = given.get("command"), given.get("args", [])
    if isinstance(command, str) and isinstance(arguments, list):
        words = [command, *arguments]
        if arguments and all(isinstance(word, str) for word in words):
            return shlex.join(words)
        return None if arguments else command or None
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return None
    match command:
        case [shell, "-c" | "-lc", script] if shell.rpartition("/")[2] in _SHELLS:
            return str(script)
        case []:
            return None
        case _:
            return shlex.join(command)


def titled(tool: ToolCall) -> str:
    """The call in a few words."""
    title = tool.title or tool.kind
    return title if len(title) <= _TITLE else title[: boundary(title, _TITLE)] + " …"


def worded(rule: PermissionRule) -> str:
    """The rule as it stands in the file, in one line."""
    parts = [f"kind: {rule.kind}"]
    parts += [f"path: {rule.path}"] * (rule.path is not None)
    parts += [f"command: {rule.command}"] * (rule.command is not None)
    return ", ".join([*parts, f"answer: {rule.answer}"])
