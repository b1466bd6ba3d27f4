"""What a language model is asked, in one form, out of the four dialects that agents speak.

Pure: it reads bodies of requests. The dialects are OpenAI's chat completions (``chat``) and
responses (``responses``), Anthropic's messages (``messages``) and Gemini's (``gemini``).
"""

from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]
Dialect = Literal["chat", "responses", "messages", "gemini"]
Role = Literal["user", "model", "tool"]

_ENDS: tuple[tuple[str, Dialect], ...] = (
    ("/chat/completions", "chat"),
    ("/responses", "responses"),
    ("/messages", "messages"),
    (":generateContent", "gemini"),
    (":streamGenerateContent", "gemini"),
)


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of the conversation so far; a tool's result is a turn of the role ``tool``."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call, and the JSON schema of its arguments."""

    name: str
    schema: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request. ``form`` is the JSON schema that the answer must fit, where one is named."""

    dialect: Dialect
    model: str
    stream: bool
    system: str = ""
    said: tuple[Said, ...] = ()
    tools: tuple[Tool, ...] = ()
    form: Json | None = None


def dialect(path: str) -> Dialect | None:
    """The dialect that is spoken at a path; ``None``: no model answers there."""
    return next((name for end, name in _ENDS if path.endswith(end)), None)


def asked(path: str, body: Json) -> Asked | None:
    """The request that ``body`` is, sent to ``path``."""
    match dialect(path):
        case "gemini":
            return _gemini(path, body)
        case "responses":
            return _openai(
                "responses", body, body.get("instructions"), body.get("input"), _text_format(body)
            )
        case "messages":
            form = _get(body, "output_config", "format", "schema")
            return _openai("messages", body, body.get("system"), body.get("messages"), form)
        case "chat":
            form = _get(body, "response_format", "json_schema", "schema")
            return _openai("chat", body, "", body.get("messages"), form)
        case None:
            return None


def _openai(name: Dialect, body: Json, system: Any, items: Any, form: Json | None) -> Asked:
    told, said = [_text(system)] if system else [], list[Said]()
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items or []:
        content = item.get("content")
        if item.get("role") in {"system", "developer"}:
            told.append(_text(content))
        elif item.get("role") == "tool" or str(item.get("type")).endswith("_call_output"):
            said.append(Said("tool", _text(content if content is not None else item.get("output"))))
        elif item.get("role") == "assistant":
            said.append(Said("model", _text(content)))
        elif item.get("role") == "user":
            # Anthropic's results stand in a message of the user's, beside reminders, or beside the
            # next prompt where a call was cancelled.
            said += [Said("tool", _text(one.get("content"))) for one in _results(content)]
            said.append(Said("user", _text(content)))
    return Asked(
        dialect=name,
        model=str(body.get("model") or "scripted"),
        stream=bool(body.get("stream")),
        system="\n".join(told),
        said=tuple(said),
        tools=tuple(_tools(body.get("tools") or [])),
        form=form,
    )


def _tools(listed: list[Json]) -> list[Tool]:
    found = [one.get("function") or one for one in listed if one.get("type") != "custom"]
    return [
        Tool(one["name"], one.get("parameters") or one.get("input_schema") or {})
        for one in found
        if one.get("name")
    ]


def _results(content: Any) -> list[Json]:
    blocks = content if isinstance(content, list) else []
    return [one for one in blocks if isinstance(one, dict) and one.get("type") == "tool_result"]


def _text_format(body: Json) -> Json | None:
    form: Json | None = _get(body, "text", "format", "schema")
    return form


def _gemini(path: str, body: Json) -> Asked:
    said = []
    for content in body.get("contents") or []:
        parts = content.get("parts") or []
        answers = any("functionResponse" in part for part in parts)
        role: Role = "tool" if answers else "model" if content.get("role") == "model" else "user"
        said.append(Said(role, _text(parts)))
    declared = [
        one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []
    ]
    config = body.get("generationConfig") or {}
    return Asked(
        dialect="gemini",
        model=path.rpartition("/")[2].partition(":")[0],
        stream=path.endswith(":streamGenerateContent"),
        system=_text(_get(body, "systemInstruction", "parts")),
        said=tuple(said),
        tools=tuple(
            Tool(one["name"], one.get("parametersJsonSchema") or one.get("parameters") or {})
            for one in declared
        ),
        form=config.get("responseJsonSchema") or config.get("responseSchema"),
    )


def _text(content: Any) -> str:
    if not content or isinstance(content, str):
        return content or ""
    blocks = [content] if isinstance(content, dict) else content
    return "\n".join(
        block if isinstance(block, str) else str(block.get("text") or "") for block in blocks
    )


def _get(body: Any, *keys: str) -> Any:
    for key in keys:
        body = (body or {}).get(key)
    return body
