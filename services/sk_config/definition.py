"""What starts an agent, whole and expanded: the part of the configuration that stays off the bus.

A definition is canonical JSON and named by its SHA-256. Two that start the same process in the
same way have the same name; another name means that a running agent is outdated.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sk_bus.errors import problem
from sk_bus.masking import secret_parts
from sk_bus.model import Problem
from sk_config.surroundings import Surroundings, UnsetVariableError, unfilled_in

if TYPE_CHECKING:
    from sk_config.schema import AgentSection, McpServer

Path = tuple[str | int, ...]
Tell = Callable[[Path, Problem], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """``content`` is the file as the executor reads it; ``secrets`` are to be masked."""

    digest: str
    content: bytes
    cwd: str
    secrets: frozenset[str]


def canonical(value: Any) -> bytes:
    """The one JSON text that stands for ``value``."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def definition(
    agent: "AgentSection", at: Path, surroundings: Surroundings, tell: Tell
) -> Definition:
    """The definition of ``agent``, which stands at ``at`` in the file; ``tell`` hears problems."""
    fill = _Filler(surroundings, tell)
    env = fill.pairs(agent.env, (*at, "env"))
    search = env.get("PATH", surroundings.variables.get("PATH", ""))
    cwd = surroundings.place(fill.path(agent.cwd, (*at, "cwd"))) if agent.cwd else None
    if cwd is not None and not surroundings.directory(cwd):
        message = "there is no folder {path} to work in: make it, or name another"
        made = problem("no-such-folder", message, path=cwd)
        tell((*at, "cwd"), _warning(made))
    servers = [
        _server(server, (*at, "mcpServers", index), search, fill)
        for index, server in enumerate(agent.mcpServers)
    ]
    content = canonical(
        {
            "name": agent.name,
            "command": fill.program(agent.command, (*at, "command"), search),
            "args": fill.texts(agent.args, (*at, "args")),
            "env": env,
            "cwd": cwd or surroundings.folder,
            "mcpServers": servers,
            "path": search,
        }
    )
    return Definition(
        digest=digest_of(content),
        content=content,
        cwd=cwd or surroundings.folder,
        secrets=frozenset(fill.secrets),
    )


def _server(server: "McpServer", at: Path, search: str, fill: "_Filler") -> dict[str, Any]:
    """An MCP server as ``session/new`` of ACP takes it (stdio has no ``type`` there)."""
    if server.type == "stdio":
        return {
            "name": server.name,
            "command": fill.program(server.command, (*at, "command"), search),
            "args": fill.texts(server.args, (*at, "args")),
            "env": _named(fill.pairs(server.env, (*at, "env"))),
        }
    return {
        "type": server.type,
        "name": server.name,
        "url": fill.text(server.url, (*at, "url")),
        "headers": _named(fill.pairs(server.headers, (*at, "headers"))),
    }


def _named(pairs: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs.items()]


def _warning(made: Problem) -> Problem:
    return replace(made, warning=True)


class _Filler:
    """Expands what stands at a path, tells what is wrong with it, and remembers the secrets."""

    def __init__(self, surroundings: Surroundings, tell: Tell) -> None:
        self._surroundings = surroundings
        self._tell = tell
        self._unset: set[Path] = set()
        self.secrets: set[str] = set()

    def text(self, text: str, at: Path) -> str:
        try:
            return self._surroundings.expanded(text)
        except UnsetVariableError as unset:
            self._unset.add(at)
            self._tell(
                at,
                problem(
                    "unset-variable",
                    "the variable {name} isn't set where Sidekicks was started: set it there and"
                    " start Sidekicks again",
                    name=unset.name,
                ),
            )
            return text

    def path(self, text: str, at: Path) -> str:
        """As ``text``; in a path nobody means a plain ``$HOME``, as one may in an argument."""
        name = unfilled_in(text)
        if name is not None:
            variable, braced = f"${name}", f"${{{name}}}"
            message = "{variable} isn't filled in: write {braced}"
            made = problem("unfilled-variable", message, variable=variable, braced=braced)
            self._tell(at, _warning(made))
        return self.text(text, at)

    def texts(self, texts: list[str], at: Path) -> list[str]:
        return [self.text(text, (*at, index)) for index, text in enumerate(texts)]

    def pairs(self, pairs: dict[str, str], at: Path) -> dict[str, str]:
        made = {}
        for name, value in pairs.items():
            if not name or "=" in name or "\0" in name:
                self._tell(
                    (*at, name),
                    problem("bad-variable-name", "a variable's name isn't empty and has no ="),
                )
            made[name] = self.text(value, (*at, name))
            self.secrets.update(secret_parts(made[name]))
        return made

    def program(self, command: str, at: Path, search: str) -> str:
        expanded = self.path(command, at)
        found = self._surroundings.program(expanded, search)
        if found is not None:
            return found
        if not expanded or at in self._unset:
            return expanded  # said already
        if "/" in expanded:
            message = "{command} is no program that can be run: install it, or mend the path"
        else:
            message = "{command} isn't found on PATH: install it, or write its whole path"
        # As it is written: what a variable stands for need not be said aloud.
        self._tell(at, _warning(problem("command-not-found", message, command=command)))
        return self._surroundings.place(expanded) if "/" in expanded else expanded
