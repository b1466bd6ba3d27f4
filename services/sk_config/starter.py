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

# theme: system            # system, light, dark
# language: system         # system, en, fr

limits:
  maxRunningAgents: 3        # most agent processes at one time
  stopIdleAgentsAfter: 10m   # 90s, 10m, 1h30m; 0 or never

# history:
#   keepUnfinished: true     # keep what waits, and half an answer, when Sidekicks is closed

# What one types after @ is an agent's name. An agent is any program that speaks the Agent Client
# Protocol (ACP) over its standard input and output. What isn't here and was installed later, you
# add yourself: as in the example at the end.
agents:
  - name: demo
    title: Demo
    icon: "🎈"
    description: Needs no network and no account. Say hello to it.
    command: sk-demo-agent         # comes with Sidekicks
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
class Verified:
    """A version that was seen at work under ACP: prompts, tools, a cancel; ``on`` is a date."""

    version: str
    on: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent:
    """A program that speaks ACP; ``program`` is what is looked for on PATH.

    Not ``verified``: its documentation says so, and nobody here has seen it.
    """

    name: str
    title: str
    description: str
    program: str
    args: tuple[str, ...] = ()
    verified: Verified | None = None
    note: str = ""


def catalogue(text: str) -> tuple[KnownAgent, ...]:
    """The known agents that ``text`` (JSON) lists, the preferred program of a name first."""
    return tuple(
        KnownAgent(
            name=entry["name"],
            title=entry["title"],
            description=entry["description"],
            program=entry["program"],
            args=tuple(entry["args"]),
            verified=Verified(**entry["verified"]) if entry["verified"] else None,
            note=entry.get("note", ""),
        )
        for entry in json.loads(text)
    )


def starter(known: Iterable[KnownAgent], installed: Callable[[str], bool]) -> str:
    """The text of a first configuration file."""
    found: dict[str, KnownAgent] = {}
    for agent in known:
        if agent.name not in found and installed(agent.program):
            found[agent.name] = agent
    return _HEAD + "".join(map(_entry, found.values())) + ("" if found else _NONE_FOUND) + _EXAMPLE


def _entry(agent: KnownAgent) -> str:
    seen = agent.verified
    known = (
        f"Seen speaking ACP: version {seen.version}, on {seen.on}."
        if seen
        else "Said to speak ACP; not tried by us."
    )
    lines = [
        f"  # {known}",
        *([f"  # {agent.note}"] if agent.note else []),
        f"  - name: {agent.name}",
        f"    title: {_quoted(agent.title)}",
        f"    description: {_quoted(agent.description)}",
        f"    command: {_quoted(agent.program)}",
    ]
    if agent.args:
        lines.append(f"    args: [{', '.join(map(_quoted, agent.args))}]")
    lines.append(
        "    # cwd: ~/projects/mine   # the folder it works in; default: that of this file"
    )
    return "\n" + "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
