"""How the model's answer is written, in each of the four dialects, streaming and whole.

Pure. A writer is told pieces (a word, a call of a tool) and gives what is to be sent for each; in
the end it has the whole answer for those who don't stream. An event is a name (where the dialect
has names) and its data.
"""

import json
from abc import ABC, abstractmethod
from typing import Any

from tests.real.asking import Asked, Json
from tests.real.script import Call

Event = tuple[str | None, Json | str]
Piece = str | Call


class Writer(ABC):
    """Writes the ``n``-th answer; ``tokens`` is what the question is said to have cost."""

    def __init__(self, n: int, asked: Asked, tokens: int) -> None:
        self._n = n
        self._model = asked.model
        self._tokens = tokens
        self._count = 0
        self.text = ""

    def begin(self) -> list[Event]:
        return []

    def piece(self, piece: Piece) -> list[Event]:
        self._count += 1
        if isinstance(piece, str):
            self.text += piece
            return self._word(piece)
        return self._call(piece)

    @abstractmethod
    def _word(self, word: str) -> list[Event]: ...

    @abstractmethod
    def _call(self, call: Call) -> list[Event]: ...

    @abstractmethod
    def end(self) -> list[Event]: ...

    @abstractmethod
    def whole(self) -> Json:
        """The answer in one; after ``end``."""


class Chat(Writer):
    """OpenAI's chat completions."""

    def __init__(self, n: int, asked: Asked, tokens: int) -> None:
        super().__init__(n, asked, tokens)
        self._calls: list[Json] = []
        self._base: Json = {"id": f"chatcmpl-{n}", "created": 1_700_000_000, "model": self._model}

    def begin(self) -> list[Event]:
        return [self._chunk({"role": "assistant", "content": ""})]

    def _word(self, word: str) -> list[Event]:
        return [self._chunk({"content": word})]

    def _call(self, call: Call) -> list[Event]:
        made = {
            "id": f"call_{self._n}_{len(self._calls)}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        self._calls.append(made)
        return [self._chunk({"tool_calls": [{"index": len(self._calls) - 1, **made}]})]

    def end(self) -> list[Event]:
        usage = self._base | {"object": "chat.completion.chunk", "choices": []}
        usage["usage"] = self._usage()
        return [self._chunk({}, self._reason()), (None, usage), (None, "[DONE]")]

    def whole(self) -> Json:
        message: Json = {"role": "assistant", "content": self.text}
        if self._calls:
            message["tool_calls"] = self._calls
        choice = {"index": 0, "message": message, "finish_reason": self._reason()}
        return self._base | {
            "object": "chat.completion",
            "choices": [choice],
            "usage": self._usage(),
        }

    def _chunk(self, delta: Json, reason: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return None, self._base | {"object": "chat.completion.chunk", "choices": [choice]}

    def _reason(self) -> str:
        return "tool_calls" if self._calls else "stop"

    def _usage(self) -> Json:
        return {
            "prompt_tokens": self._tokens,
            "completion_tokens": self._count,
            "total_tokens": self._tokens + self._count,
        }


class Responses(Writer):
    """OpenAI's responses: items, each opened, filled and closed, all events numbered."""

    def __init__(self, n: int, asked: Asked, tokens: int) -> None:
        super().__init__(n, asked, tokens)
        self._sent = 0
        self._items: list[Json] = []
        self._open: Json | None = None

    def begin(self) -> list[Event]:
        return [self._event("response.created", response=self._response("in_progress"))]

    def _word(self, word: str) -> list[Event]:
        made: list[Event] = []
        if self._open is None:
            self._open = {
                "id": f"msg_{self._n}_{len(self._items)}",
                "type": "message",
                "status": "in_progress",
                "role": "assistant",
                "content": [],
            }
            made.append(self._item("added", dict(self._open)))
            self._open["content"] = [{"type": "output_text", "text": "", "annotations": []}]
            part = dict(self._open["content"][0])
            made.append(self._event("response.content_part.added", part=part, **self._place()))
        self._open["content"][0]["text"] += word
        made.append(self._event("response.output_text.delta", delta=word, **self._place()))
        return made

    def _call(self, call: Call) -> list[Event]:
        made = self._closed()
        index = len(self._items)
        arguments = json.dumps(call.arguments)
        item = {
            "id": f"fc_{self._n}_{index}",
            "type": "function_call",
            "status": "completed",
            "call_id": f"call_{self._n}_{index}",
            "name": call.name,
            "arguments": arguments,
        }
        at = {"item_id": item["id"], "output_index": index}
        name = "response.function_call_arguments"
        made += [
            self._item("added", item | {"arguments": "", "status": "in_progress"}),
            self._event(f"{name}.delta", delta=arguments, **at),
            self._event(f"{name}.done", arguments=arguments, **at),
            self._item("done", item),
        ]
        self._items.append(item)
        return made

    def end(self) -> list[Event]:
        return [
            *self._closed(),
            self._event("response.completed", response=self._response("completed")),
        ]

    def whole(self) -> Json:
        return self._response("completed")

    def _closed(self) -> list[Event]:
        if self._open is None:
            return []
        part = self._open["content"][0]
        made = [
            self._event("response.output_text.done", text=part["text"], **self._place()),
            self._event("response.content_part.done", part=part, **self._place()),
        ]
        self._open["status"] = "completed"
        made.append(self._item("done", self._open))
        self._items.append(self._open)
        self._open = None
        return made

    def _place(self) -> Json:
        assert self._open is not None
        return {
            "item_id": self._open["id"],
            "output_index": len(self._items),
            "content_index": 0,
        }

    def _item(self, what: str, item: Json) -> Event:
        name = f"response.output_item.{what}"
        return self._event(name, output_index=len(self._items), item=item)

    def _event(self, kind: str, **fields: Any) -> Event:
        self._sent += 1
        return kind, {"type": kind, "sequence_number": self._sent, **fields}

    def _response(self, status: str) -> Json:
        made: Json = {
            "id": f"resp_{self._n}",
            "object": "response",
            "created_at": 1_700_000_000,
            "model": self._model,
            "status": status,
            "output": list(self._items),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
        if status == "completed":
            made["usage"] = {
                "input_tokens": self._tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": self._count,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": self._tokens + self._count,
            }
        return made


class Messages(Writer):
    """Anthropic's messages: blocks, one open at a time."""

    def __init__(self, n: int, asked: Asked, tokens: int) -> None:
        super().__init__(n, asked, tokens)
        self._blocks: list[Json] = []
        self._in_text = False

    def begin(self) -> list[Event]:
        return [self._event("message_start", message=self._message([], None, 1))]

    def _word(self, word: str) -> list[Event]:
        made: list[Event] = []
        if not self._in_text:
            made += [*self._closed(), self._opened({"type": "text", "text": ""})]
            self._in_text = True
        self._blocks[-1]["text"] += word
        return [*made, self._delta({"type": "text_delta", "text": word})]

    def _call(self, call: Call) -> list[Event]:
        closed = self._closed()
        self._in_text = False
        id_ = f"toolu_{self._n:016d}{len(self._blocks):04d}"
        opened = self._opened({"type": "tool_use", "id": id_, "name": call.name, "input": {}})
        self._blocks[-1]["input"] = call.arguments
        said = json.dumps(call.arguments)
        return [*closed, opened, self._delta({"type": "input_json_delta", "partial_json": said})]

    def end(self) -> list[Event]:
        delta = {"stop_reason": self._reason(), "stop_sequence": None}
        return [
            *self._closed(),
            self._event("message_delta", delta=delta, usage=self._usage(self._count)),
            self._event("message_stop"),
        ]

    def whole(self) -> Json:
        return self._message(self._blocks, self._reason(), self._count)

    def _opened(self, block: Json) -> Event:
        self._blocks.append(block)
        at = len(self._blocks) - 1
        return self._event("content_block_start", index=at, content_block=dict(block))

    def _closed(self) -> list[Event]:
        at = len(self._blocks) - 1
        return [self._event("content_block_stop", index=at)] if self._blocks else []

    def _delta(self, delta: Json) -> Event:
        return self._event("content_block_delta", index=len(self._blocks) - 1, delta=delta)

    def _reason(self) -> str:
        return "tool_use" if self._blocks and self._blocks[-1]["type"] == "tool_use" else "end_turn"

    def _usage(self, count: int) -> Json:
        return {
            "input_tokens": self._tokens,
            "output_tokens": count,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }

    def _message(self, content: list[Json], reason: str | None, count: int) -> Json:
        return {
            "id": f"msg_{self._n:024d}",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": self._usage(count),
        }

    def _event(self, kind: str, **fields: Any) -> Event:
        return kind, {"type": kind, **fields}


class Gemini(Writer):
    """Gemini's generateContent."""

    def __init__(self, n: int, asked: Asked, tokens: int) -> None:
        super().__init__(n, asked, tokens)
        self._parts: list[Json] = []

    def _word(self, word: str) -> list[Event]:
        return [self._part({"text": word})]

    def _call(self, call: Call) -> list[Event]:
        return [self._part({"functionCall": {"name": call.name, "args": call.arguments}})]

    def end(self) -> list[Event]:
        return [(None, self._content([{"text": ""}], finished=True))]

    def whole(self) -> Json:
        return self._content(self._parts, finished=True)

    def _part(self, part: Json) -> Event:
        self._parts.append(part)
        return None, self._content([part])

    def _content(self, parts: list[Json], *, finished: bool = False) -> Json:
        candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
        if finished:
            candidate["finishReason"] = "STOP"
        return {
            "candidates": [candidate],
            "modelVersion": self._model,
            "responseId": f"r{self._n}",
            "usageMetadata": {
                "promptTokenCount": self._tokens,
                "candidatesTokenCount": self._count,
                "totalTokenCount": self._tokens + self._count,
            },
        }


_WRITERS: dict[str, type[Writer]] = {
    "chat": Chat,
    "responses": Responses,
    "messages": Messages,
    "gemini": Gemini,
}


def writer(n: int, asked: Asked, tokens: int) -> Writer:
    return _WRITERS[asked.dialect](n, asked, tokens)
