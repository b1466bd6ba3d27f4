"""The scripted model: what it is asked, what it answers, how that is written, and its server."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.real.asking import Asked, Dialect, Said, Tool, asked, dialect
from tests.real.model_server import ModelServer
from tests.real.script import Call, Fail, Say, SayUntil, answer, code, filled, prompt
from tests.real.speaking import writer
from tests.support.shim_client import eventually

SHELL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {"type": "string"},
        "timeout": {"type": "integer"},
        "description": {"type": "string"},
    },
    "required": ["command", "description"],
}
PATHS: dict[Dialect, str] = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "gemini": "/v1beta/models/g-1:streamGenerateContent",
}
# The same conversation in each dialect: a prompt, an answer, a call with its result, a prompt.
BODIES: dict[Dialect, dict[str, Any]] = {
    "chat": {
        "model": "m",
        "stream": True,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "one"},
            {"role": "tool", "content": "result"},
            {"role": "user", "content": [{"type": "text", "text": "second"}]},
        ],
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}],
    },
    "responses": {
        "model": "m",
        "stream": True,
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "first"}]},
            {"role": "assistant", "content": [{"type": "output_text", "text": "one"}]},
            {"type": "function_call", "name": "bash", "arguments": "{}"},
            {"type": "function_call_output", "output": "result"},
            {"role": "user", "content": "second"},
        ],
        "tools": [{"type": "function", "name": "bash", "parameters": SHELL}, {"type": "custom"}],
    },
    "messages": {
        "model": "m",
        "stream": True,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": [{"type": "text", "text": "one"}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "content": [{"type": "text", "text": "result"}]},
                    {"type": "text", "text": "second"},
                ],
            },
        ],
        "tools": [{"name": "bash", "input_schema": SHELL}],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "first"}]},
            {"role": "model", "parts": [{"text": "one"}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "bash"}}]},
            {"role": "user", "parts": [{"text": "second"}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "bash", "parametersJsonSchema": SHELL}]}],
    },
}


def question(*said: str, tools: bool = True, **more: Any) -> Asked:
    """A request whose turns are a person's and, where they begin with ``>``, a tool's."""
    return Asked(
        dialect=more.pop("dialect", "chat"),
        model="m",
        stream=True,
        said=tuple(Said("tool" if one.startswith(">") else "user", one) for one in said),
        tools=(Tool("read", {}), Tool("bash", SHELL)) if tools else (),
        **more,
    )


def words(of: Asked) -> str:
    (step,) = answer(of)
    assert isinstance(step, Say)
    return "".join(step.words)


@pytest.mark.parametrize("name", PATHS)
def test_a_request_is_read_the_same_in_each_dialect(name: Dialect) -> None:
    got = asked(PATHS[name], BODIES[name])
    assert got is not None
    assert (got.dialect, got.stream, got.system) == (name, True, "Be brief.")
    assert [one.role for one in got.said if one.text or one.role == "tool"] == [
        *("user", "model", "tool", "user"),
    ]
    assert prompt(got) == "second"
    assert [(tool.name, tool.schema) for tool in got.tools] == [("bash", SHELL)]


def test_where_no_model_answers_nothing_is_asked() -> None:
    assert dialect("/v1/embeddings") is None
    assert asked("/v1/embeddings", {}) is None


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (("hello",), "hello"),
        (("left over ## hello",), "hello"),
        (("hello", "<reminder>be nice</reminder>"), "hello"),
        (("<reminder>be nice</reminder> hello",), "hello"),
        (("first", "> result", "second"), "second"),
        ((), ""),
    ],
)
def test_the_prompt_is_the_last_thing_that_a_person_said(said: tuple[str, ...], heard: str) -> None:
    assert prompt(question(*said)) == heard


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("hello there", "You said: hello there. That is all."),
        ("!say{to be said}", "to be said"),
        ("!words{3}", "word1 word2 word3"),
        ("!code{x}", code("x")),
        ("!recall{x}", "I have not been told that code."),
        (f"{code('x')} ## !recall{{x}}", f"It was {code('x').rpartition(' ')[2]}"),
        ("!what{}", "I don't know the directive what."),
    ],
)
def test_a_directive_decides(said: str, answered: str) -> None:
    assert words(question(said)) == answered


def test_the_shell_tool_is_called_once_then_the_turn_ends() -> None:
    said, call = answer(question("!shell{echo hi}"))
    assert isinstance(said, Say)
    assert call == Call("bash", {"command": "echo hi", "description": "scripted description"})
    assert words(question("!shell{echo hi}", "> hi")) == "The tool has answered."
    assert "no tool" in words(question("!shell{echo hi}", tools=False))


def test_errors_and_endless_answers_are_steps_of_their_own() -> None:
    assert answer(question("!fail{429}")) == (Fail(429),)
    assert answer(question("!until{later}")) == (SayUntil("later"),)


def test_a_title_and_a_form_are_what_they_are_asked_for() -> None:
    assert words(question("hi", tools=False, system="Write a title.")) == "A scripted title"
    form = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    assert words(question("hi", form=form)) == '{"ok": false}'


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"enum": ["a", "b"]}, "a"),
        ({"const": 7}, 7),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, None),
        ({"type": ["integer", "null"], "minimum": 5}, 5),
        ({"type": "array", "items": {"type": "string"}}, ["scripted"]),
        ({"$ref": "#/$defs/kind", "$defs": {"kind": {"const": "k"}}}, "k"),
    ],
)
def test_a_schema_is_filled_in(schema: dict[str, Any], value: object) -> None:
    assert filled("", schema, line="ls") == value


def test_a_command_that_is_a_list_goes_through_a_shell() -> None:
    assert filled("command", {"type": "array"}, line="ls") == ["bash", "-c", "ls"]


# --- how it is written --------------------------------------------------------------------------


def written(name: Dialect) -> tuple[list[Any], dict[str, Any]]:
    made = writer(7, question("hi", dialect=name), 12)
    events = made.begin()
    for piece in ("Hello ", "there", Call("bash", {"command": "ls"})):
        events += made.piece(piece)
    return [*events, *made.end()], made.whole()


def streamed_text(name: Dialect, events: list[Any]) -> str:
    match name:
        case "chat":
            return "".join(
                choice["delta"].get("content") or ""
                for _, data in events
                if isinstance(data, dict)
                for choice in data["choices"]
            )
        case "responses":
            kind = "response.output_text.delta"
            return "".join(data["delta"] for event, data in events if event == kind)
        case "messages":
            deltas = [data["delta"] for event, data in events if event == "content_block_delta"]
            return "".join(delta.get("text", "") for delta in deltas)
        case "gemini":
            contents = [data["candidates"][0]["content"] for _, data in events]
            return "".join(part.get("text", "") for one in contents for part in one["parts"])


def whole_text(name: Dialect, whole: dict[str, Any]) -> str:
    text: str
    match name:
        case "chat":
            text = whole["choices"][0]["message"]["content"]
        case "responses":
            text = whole["output"][0]["content"][0]["text"]
        case "messages":
            text = whole["content"][0]["text"]
        case "gemini":
            parts = whole["candidates"][0]["content"]["parts"]
            text = "".join(part.get("text", "") for part in parts)
    return text


@pytest.mark.parametrize("name", PATHS)
def test_the_pieces_of_a_stream_are_the_whole(name: Dialect) -> None:
    events, whole = written(name)
    assert streamed_text(name, events) == whole_text(name, whole) == "Hello there"
    assert json.dumps(whole).count('"bash"') == 1


def test_the_events_of_responses_are_numbered_without_a_hole() -> None:
    events, _ = written("responses")
    assert [data["sequence_number"] for _, data in events] == list(range(1, len(events) + 1))


def test_each_block_of_messages_is_opened_and_closed_in_turn() -> None:
    kinds = [event for event, _ in written("messages")[0]]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert kinds == [
        "message_start",
        *(block[0], block[1], block[1], block[2]),
        *block,
        "message_delta",
        "message_stop",
    ]


def test_a_stream_of_chat_ends_with_what_it_cost_and_a_mark() -> None:
    events, _ = written("chat")
    assert events[-1] == (None, "[DONE]")
    assert events[-2][1]["usage"] == {
        "prompt_tokens": 12,
        "completion_tokens": 3,
        "total_tokens": 15,
    }


# --- the server ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as made:
        yield made


def post(server: ModelServer, path: str, body: Any) -> http.client.HTTPResponse:
    made = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=90)
    made.request("POST", path, json.dumps(body))
    return made.getresponse()


def chat(said: str, *, stream: bool = True) -> dict[str, Any]:
    tools = BODIES["chat"]["tools"]
    return {"stream": stream, "messages": [{"role": "user", "content": said}], "tools": tools}


@pytest.mark.parametrize("name", PATHS)
def test_it_streams_in_each_dialect(server: ModelServer, name: Dialect) -> None:
    response = post(server, f"{PATHS[name]}?alt=sse", BODIES[name])
    body = response.read().decode()
    assert response.getheader("Content-Type") == "text/event-stream"
    data = [line[6:] for line in body.splitlines() if line.startswith("data: ")]
    events = [(one.get("type"), one) for one in map(json.loads, data[:-1])]
    assert "You said: second. " in streamed_text(name, events)


def test_it_answers_in_one_where_nobody_streams(server: ModelServer) -> None:
    body = json.loads(post(server, PATHS["chat"], chat("!say{whole}", stream=False)).read())
    assert whole_text("chat", body) == "whole"


def test_an_answer_goes_on_until_it_is_released(server: ModelServer) -> None:
    response = post(server, PATHS["chat"], chat("!until{test}"))
    read = response.read(2000)
    (entry,) = server.about("!until{test}")
    assert not entry.ended
    server.release("test")
    streamed = (read + response.read()).decode()
    assert "end." in streamed
    assert entry.text.startswith("word1 word2 ")
    assert entry.text.endswith(" the end.")


def test_it_knows_who_hung_up(server: ModelServer) -> None:
    response = post(server, PATHS["chat"], chat("!until{never}"))
    response.read(500)
    response.close()
    (entry,) = server.about("!until{never}")
    eventually(lambda: entry.hung_up)
    assert not entry.ended


def test_a_failure_is_an_http_status(server: ModelServer) -> None:
    assert post(server, PATHS["chat"], chat("!fail{429}")).status == 429


def test_what_it_does_not_know_is_noted(server: ModelServer) -> None:
    assert post(server, "/v1/embeddings", {}).status == 404
    assert server.unknown == ["/v1/embeddings"]
