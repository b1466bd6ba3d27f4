"""The real agents that Sidekicks is tried with: where they come from, how they are set up so that
they talk to the scripted model and to nobody else, and what is known of each beforehand.

Data only. In commands, variables and files ``{at}`` is the folder that an agent is installed in,
``{model}`` the address of the model server. Each setting that isn't about the model keeps the agent
from looking for updates or counting its uses.
"""

import json
import platform
import sys
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class Step(StrEnum):
    """What is tried with each agent, in this order; the values stand in the table of the docs."""

    START = "start"
    ANSWER = "answer"
    ALLOWED = "tool allowed"
    REFUSED = "tool refused"
    CANCEL = "cancel"
    COMMANDS = "slash commands"
    RESTART = "memory: agent restarted"
    REOPENED = "memory: Sidekicks restarted"
    KILLS = "components killed"
    STOP = "stop"


Way = Literal["session/resume", "session/load", ""]
"""How a session is taken up again; empty: not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealAgent:
    """One agent, pinned.

    ``lacks`` are the steps that it doesn't offer, with what happens instead: an agent that offers
    one of them after all fails the run as well, so that nobody forgets to look. ``slash`` is a
    command that it understands: its model is never sent it as it stands. ``forgets``: now and then
    it loses a session that it could take up.
    """

    name: str
    title: str
    maker: str
    runtime: Literal["Node", "native", "Python"]
    version: str
    command: tuple[str, ...]
    npm: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    home: dict[str, str] = field(default_factory=dict)
    catalogue: str = ""
    has_model: bool = True
    way: Way = "session/load"
    forgets: bool = False
    slash: str = ""
    lacks: dict[Step, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


# A Node of its own, as an npm package, for what the machine's may be too old for.
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
_MACHINE = f"{sys.platform}-{_MACHINES.get(platform.machine(), platform.machine())}"
_NODE = f"node-{_MACHINE}"

_OPENCODE = {
    "autoupdate": False,
    "share": "disabled",
    "model": "scripted/scripted",
    "small_model": "scripted/scripted",
    "permission": {"bash": "ask", "edit": "ask"},
    "provider": {
        "scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{model}/v1", "apiKey": "none"},
            "models": {
                "scripted": {
                    "name": "Scripted",
                    "tool_call": True,
                    "limit": {"context": 200_000, "output": 8192},
                }
            },
        }
    },
}

AGENTS: tuple[RealAgent, ...] = (
    RealAgent(
        name="example",
        title="the SDK's example",
        maker="Agent Client Protocol",
        runtime="Node",
        version="0.26.0",
        npm=("@agentclientprotocol/sdk@0.26.0",),
        command=("node", "{at}/node_modules/@agentclientprotocol/sdk/dist/examples/agent.js"),
        has_model=False,
        way="",
        lacks={
            Step.COMMANDS: "announces none",
            Step.RESTART: "no session can be taken up: the channel says so",
            Step.REOPENED: "no session can be taken up: the channel says so",
        },
        notes=(
            "Plays one little piece, with a permission request, whatever it is told; no model.",
            "After a refusal it never says how the call ended: shown as unreported.",
            "Ends a turn that was cancelled while it asked with `end_turn`: shown as cancelled.",
        ),
    ),
    RealAgent(
        name="gemini",
        title="Gemini CLI",
        maker="Google",
        runtime="Node",
        version="0.61.0",
        npm=("@google/gemini-cli@0.61.0",),
        command=("{at}/node_modules/.bin/gemini", "--acp"),
        catalogue="gemini",
        forgets=True,
        slash="/help",
        env={
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": "{model}",
            "GEMINI_MODEL": "gemini-3.8-flash",
            "GEMINI_CLI_NO_RELAUNCH": "1",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        home={
            ".gemini/settings.json": json.dumps(
                {
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": False},
                    "general": {"enableAutoUpdate": False},
                }
            )
        },
        notes=(
            "Asks leave for calls that it never announced: the card is made from the request.",
            "After a refusal it never says how the call ended: shown as unreported.",
            "Replays the past after its answer to `session/load`: dropped until it is silent.",
            "Now and then denies a session of its own: memory lost, and it is told the past.",
        ),
    ),
    RealAgent(
        name="copilot",
        title="Copilot CLI",
        maker="GitHub",
        runtime="Node",
        version="1.0.102",
        npm=("@github/copilot@1.0.102",),
        command=("{at}/node_modules/.bin/copilot", "--acp"),
        catalogue="copilot",
        slash="/context",
        env={
            "COPILOT_PROVIDER_BASE_URL": "{model}/v1",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        },
        notes=("Announces its commands before `session/new` is answered: kept until it is.",),
    ),
    RealAgent(
        name="opencode",
        title="OpenCode",
        maker="Anomaly",
        runtime="native",
        version="1.18.33",
        npm=("opencode-ai@1.18.33",),
        # What .bin has works after the package's install script only, which links this.
        command=(f"{{at}}/node_modules/opencode-{_MACHINE}/bin/opencode", "acp"),
        catalogue="opencode",
        way="session/resume",
        slash="/init",
        env={
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        },
        home={".config/opencode/opencode.json": json.dumps(_OPENCODE)},
        notes=(
            "Without a provider of your own it answers from a model on its maker's server.",
            "Asks us to write files, unoffered: refused, and it writes them itself.",
        ),
    ),
    RealAgent(
        name="kimi",
        title="Kimi Code",
        maker="Moonshot AI",
        runtime="Node",
        version="2.1.0",
        npm=("@moonshot-ai/kimi-code@2.1.0", f"{_NODE}@24"),
        command=(f"{{at}}/node_modules/{_NODE}/bin/node", "{at}/node_modules/.bin/kimi", "acp"),
        catalogue="kimi",
        way="session/resume",
        slash="/help",
        env={
            "KIMI_MODEL_NAME": "scripted",
            "KIMI_MODEL_API_KEY": "none",
            "KIMI_MODEL_BASE_URL": "{model}/v1",
            "KIMI_MODEL_PROVIDER_TYPE": "openai",
            "KIMI_CODE_NO_AUTO_UPDATE": "1",
        },
        notes=("Dies at its import on Node below 22.19: here it has a Node of its own.",),
    ),
    RealAgent(
        name="fast-agent",
        title="fast-agent",
        maker="evalstate",
        runtime="Python",
        version="0.10.48",
        pip=("fast-agent-mcp==0.10.48",),
        command=(
            "{at}/bin/fast-agent",
            *("--no-update-check", "acp", "--shell", "--model", "generic.scripted"),
        ),
        catalogue="fast-agent",
        way="session/resume",
        slash="/status",
        env={"GENERIC_API_KEY": "none", "GENERIC_BASE_URL": "{model}/v1"},
        lacks={
            Step.ALLOWED: "asks for a client's terminal only, runs its own shell unasked",
            Step.REFUSED: "asks for a client's terminal only, runs its own shell unasked",
        },
        notes=(
            "The package `fast-agent-acp` is empty at this version: install `fast-agent-mcp`.",
            "Replays the past on `session/resume` too: not shown again.",
            "Answers `refusal` instead of an error when the model fails.",
        ),
    ),
)
