"""The first configuration file: commented, with the demo agent and what is installed already.

Knows neither where it will be written nor how programs are found; the catalogue of known agents is
data beside this module.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_HEAD = """\
# The configuration of Sidekicks. Saving this file applies it at once; a mistake changes nothing
# and is shown with its line. All fields: sk-cli config schema

# theme: system          # system, light, dark
# language: system       # system, en, fr

limits:
  maxRunningAgents: 3        # most agent processes at one time
  stopIdleAgentsAfter: 10m   # 90s, 10m, 1h30m; 0 or never

# What one types after @ is an agent's name. An agent is any program that speaks the Agent Client
# Protocol over its standard input and output.
agents:
  - name: demo
    title: Demo
    icon: "🎈"
    description: Needs no network and no account. Say hello to it.
    command: sk-demo-agent
"""

_NONE_FOUND = """
  # No other agent was found on PATH. One of yours could look like this:
"""

_EXAMPLE = """
  # - name: mine
  #   title: My agent
  #   command: my-agent          # on PATH, or with a slash relative to this file
  #   args: [--acp]
  #   env:
  #     API_KEY: ${MY_API_KEY}   # taken from the environment of make up
  #   cwd: ~/projects            # default: the folder of this file
  #   startTimeout: 5m           # a first npx or uvx download takes minutes; default 30s
  #   mcpServers:
  #     - name: files
  #       command: my-mcp-server
  #   permissions:               # requests that fit are answered without asking
  #     - {kind: read, path: "/home/me/projects/**", answer: allow_once}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent:
    """A program that speaks ACP; ``program`` is what is looked for on PATH."""

    name: str
    title: str
    description: str
    program: str
    args: tuple[str, ...] = ()


def catalogue(text: str) -> tuple[KnownAgent, ...]:
    """The known agents that ``text`` (JSON) lists, the preferred program of a name first."""
    return tuple(
        KnownAgent(**{**entry, "args": tuple(entry.get("args", ()))}) for entry in json.loads(text)
    )


def starter(known: Iterable[KnownAgent], installed: Callable[[str], bool]) -> str:
    """The text of a first configuration file."""
    found: dict[str, KnownAgent] = {}
    for agent in known:
        if agent.name not in found and installed(agent.program):
            found[agent.name] = agent
    return _HEAD + "".join(map(_entry, found.values())) + ("" if found else _NONE_FOUND) + _EXAMPLE


def _entry(agent: KnownAgent) -> str:
    lines = [
        f"  - name: {agent.name}",
        f"    title: {_quoted(agent.title)}",
        f"    description: {_quoted(agent.description)}",
        f"    command: {_quoted(agent.program)}",
    ]
    if agent.args:
        lines.append(f"    args: [{', '.join(map(_quoted, agent.args))}]")
    return "\n" + "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
