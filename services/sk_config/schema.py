"""The configuration file's fields: type, default, limits and meaning of each, in one place.

The JSON Schema that the program prints is made from this. What needs the machine (PATH, variables,
folders) or two values at once is checked in :mod:`sk_config.check`.
"""

import unicodedata
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sk_config import durations

TOOL_KINDS = (
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
)
_DAY = 86_400_000


def _name(value: object) -> object:
    if isinstance(value, str) and not is_name(value):
        raise PydanticCustomError(
            "bad-name",
            "a name has 1 to 32 letters, digits, - _ or . and begins and ends with a letter or a"
            " digit",
        )
    return value


def is_name(text: str) -> bool:
    """Whether one could type ``text`` after ``@``."""

    def letter(char: str) -> bool:
        return unicodedata.category(char)[0] in "LMN"

    return (
        1 <= len(text) <= 32
        and all(letter(char) or char in "-_." for char in text)
        and letter(text[0])
        and letter(text[-1])
        and unicodedata.category(text[0])[0] != "M"
    )


def _duration(value: object) -> int:
    made = durations.milliseconds(value)
    if made is None:
        raise PydanticCustomError(
            "bad-duration", "a duration is written as 90s, 10m, 1h30m, 0 or never"
        )
    return made


def _between(low: int, high: int, *, never: bool) -> BeforeValidator:
    message = "possible is {low} to {high}" + ", or {never}" * never
    limits = {"low": durations.written(low), "high": durations.written(high)}
    if never:
        limits["never"] = "never"

    def limited(value: object) -> object:
        made = _duration(value)
        if not (low <= made <= high or (never and made == 0)):
            raise PydanticCustomError("out-of-range", message, limits)
        return made

    return BeforeValidator(limited)


_DURATION = WithJsonSchema(
    {"anyOf": [{"type": "string", "pattern": durations.PATTERN}, {"type": "integer", "const": 0}]}
)


def _pairs(value: object) -> object:
    """ACP's list of ``{name, value}`` as the mapping that it stands for."""
    if isinstance(value, list) and all(
        isinstance(item, dict) and set(item) == {"name", "value"} and isinstance(item["name"], str)
        for item in value
    ):
        return {item["name"]: item["value"] for item in value}
    return value


Pairs = Annotated[
    dict[str, StrictStr],
    BeforeValidator(_pairs),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": {"type": "string"}},
                {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
                        "required": ["name", "value"],
                        "additionalProperties": False,
                    },
                },
            ]
        }
    ),
]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_default(cls, data: object) -> object:
        """A known key with nothing behind it (its lines commented out) is as good as none."""
        if not isinstance(data, dict):
            return data
        return {
            key: value
            for key, value in data.items()
            if value is not None or key not in cls.model_fields
        }


class LimitsSection(_Section):
    """Bounds on what runs at one time."""

    maxRunningAgents: StrictInt = Field(
        3, ge=1, le=1000, description="The most agent processes at one time."
    )
    stopIdleAgentsAfter: Annotated[int, _between(1_000, 30 * _DAY, never=True), _DURATION] = Field(
        600_000,
        description="An idle agent is stopped after this long; 0 or never: not at all.",
        json_schema_extra={"default": "10m"},
    )


class HistorySection(_Section):
    """What is kept over an orderly close."""

    keepUnfinished: StrictBool = Field(
        default=False,
        description="Keep queued messages (as not sent) and interrupted answers over a close.",
    )


class McpServer(_Section):
    """An MCP server that is handed to the agent, as ACP defines it."""

    name: StrictStr = Field(min_length=1, max_length=128, description="Its name for the agent.")
    type: Literal["stdio", "http", "sse"] = Field(
        "stdio", description="How it is reached; http and sse need an agent that can."
    )
    command: StrictStr = Field("", description="stdio: the program; found as the agent's command.")
    args: list[StrictStr] = Field([], max_length=1000, description="stdio: its arguments.")
    env: Pairs = Field({}, description="stdio: variables of its environment.")
    url: StrictStr = Field("", description="http and sse: its address.")
    headers: Pairs = Field({}, description="http and sse: headers of each request.")


class PermissionRuleSection(_Section):
    """A request that fits is answered without asking, and the channel says by which rule."""

    kind: StrictStr = Field(
        min_length=1,
        max_length=64,
        description="The kind of tool call.",
        examples=list(TOOL_KINDS),
    )
    path: StrictStr | None = Field(
        None,
        min_length=1,
        max_length=1024,
        description=(
            "A glob that all paths of the call must fit, from cwd on or from /: * stays within a"
            " folder, ** doesn't. Unknown paths never fit."
        ),
        examples=["src/**", "~/notes/*.md"],
    )
    command: StrictStr | None = Field(
        None,
        min_length=1,
        max_length=1024,
        description=(
            "A glob that its command must fit: * stays within one simple command (no ; & | < > or"
            " line end), ** doesn't. An unknown command never fits."
        ),
        examples=["git status*", "npm test"],
    )
    answer: Literal["allow_once", "allow_always", "reject_once", "reject_always"] = Field(
        description="The kind of option that is chosen, where the agent offers one."
    )


class AgentSection(_Section):
    """A program that speaks the Agent Client Protocol over its standard input and output."""

    name: Annotated[StrictStr, BeforeValidator(_name)] = Field(
        description="What one types after @: 1 to 32 letters of any script, digits, - _ and . (not"
        " at an end), unique without regard to case.",
        json_schema_extra={"minLength": 1, "maxLength": 32},
    )
    title: StrictStr = Field("", max_length=64, description="Its name for people; default: name.")
    icon: StrictStr = Field("", max_length=512, description="An emoji, or the path of an image.")
    description: StrictStr = Field("", max_length=500, description="What it is good for.")
    command: StrictStr = Field(
        min_length=1,
        description="The program. Looked up on PATH, then beside sk-cli; with a slash, relative to"
        " this file. ~ and ${VAR} are expanded.",
    )
    args: list[StrictStr] = Field(
        [], max_length=1000, description="Its arguments. ~ and ${VAR} are expanded."
    )
    env: Pairs = Field(
        {}, description="Variables added to its environment. ~ and ${VAR} are expanded."
    )
    cwd: StrictStr = Field(
        "", description="The folder it works in, relative to this file; default: this file's."
    )
    mcpServers: list[McpServer] = Field(
        [], max_length=100, description="MCP servers that the agent is told to use."
    )
    startTimeout: Annotated[int, _between(1_000, 3_600_000, never=False), _DURATION] = Field(
        30_000,
        description="How long the agent may take to start, and to open a session. A first npx or"
        " uvx download takes minutes.",
        json_schema_extra={"default": "30s"},
    )
    permissions: list[PermissionRuleSection] = Field(
        [], max_length=100, description="Rules that answer permission requests; the first fits."
    )


class File(_Section):
    """The configuration of Sidekicks."""

    theme: Literal["system", "light", "dark"] = Field("system", description="The page's colours.")
    language: Literal["system", "en", "fr"] = Field("system", description="The page's language.")
    limits: LimitsSection = Field(LimitsSection.model_validate({}))
    history: HistorySection = Field(HistorySection.model_validate({}))
    agents: list[AgentSection] = Field(
        [], max_length=100, description="The agents, in the order in which they are shown."
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the configuration file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **File.model_json_schema(),
        "title": "Sidekicks configuration",
    }
