"""One turn of the scripted agent, performed word by word, when all is well.

!say WORD          one chunk with that word
!count N US        N chunks, the words "0 " … "N-1 ", US microseconds apart
!stream N MS       as !count, in milliseconds (``1ms`` or ``1``)
!permission [K]    ask K (1) times for permission, all at once, and wait for the answers
!ask FILE          ask for permission with the params in the file, and wait for the answer
!tool              a tool call and its completion
!tools N           N tool calls, of which one is completed
!orphan ID         a tool_call_update for a call that was never announced
!plan              a plan of two steps
!thought WORD      one chunk of thought
!usage             a usage_update
!commands          an available_commands_update
!mode              a current_mode_update
!config            a config_option_update, complete
!title             a session_info_update
!image             an image block
!play FILE         the updates in the file, one a line, as they stand there
!bigline N         one chunk of N characters "x"
!split             one chunk whose line is written byte by byte, in UTF-8
!string-ids        use strings as ids of requests from now on
!env NAME          say the value of an environment variable
!cwd               say the working directory
!echo              say the whole prompt, block by block
!wait MS           do nothing for a while
!until FILE        do nothing until there is that file
!hang              do nothing until a cancel, then answer it
!reason WORD       answer with that stopReason
"""

import inspect
import json
import os
import shlex
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tests.support.scripted_sessions import EFFORT, MODEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.scripted_agent import Scripted

OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def _message(blocks: list[str]) -> str:
    """The block to act on: the others tell the past, which is not to be lived again."""
    for before, block in pairwise(blocks):
        if before.rstrip().endswith("(this is the message to answer):"):
            return block
    ordering = [block for block in blocks if any(word[:1] == "!" for word in block.split())]
    return (ordering or blocks or [""])[-1]


class GoodTurn:
    """One prompt, performed word by word; once cancelled, only what is done even then."""

    EVEN_CANCELLED: ClassVar[tuple[str, ...]] = ()

    def __init__(self, agent: "Scripted", session: str, request_id: Any, prompt: list[Any]) -> None:
        self._agent = agent
        self._session = session
        self._id = request_id
        self._prompt = prompt
        self._reason = "end_turn"
        self._answered = False
        self._mute = False
        self._after: list[Callable[[], None]] = []

    def perform(self) -> None:
        """Do what the message says, then answer."""
        text = _message([block.get("text", "") for block in self._prompt])
        try:
            rest = shlex.split(text)
        except ValueError:
            rest = text.split()
        while rest:
            word = rest.pop(0)
            if not self._cancelled.is_set() or word in self.EVEN_CANCELLED:
                self._do(word, rest)
        if self._cancelled.is_set() and self._reason == "end_turn":
            self._reason = "cancelled"
        if not self._mute and not self._answered:
            self._answer({"stopReason": self._reason})
        for action in self._after:
            action()

    def _do(self, word: str, rest: list[str]) -> None:
        name = word[1:].replace("-", "_")
        action = getattr(self, f"do_{name}", None) if word.startswith("!") else None
        if action is None:
            self._say(word + " ")
            return
        given = []
        for parameter in inspect.signature(action).parameters.values():
            # What may be left out is a number: any other word is the next thing to say.
            optional = parameter.default is not parameter.empty
            if optional and not (rest and rest[0][:1].isdigit()):
                break
            given.append(rest.pop(0) if rest else "")
        action(*given)

    @property
    def _cancelled(self) -> threading.Event:
        return self._agent.cancelled(self._session)

    def _answer(self, result: Any) -> None:
        self._answered = True
        self._agent.answer(self._id, result)

    def _say(self, text: str) -> None:
        self._agent.say(self._session, text)

    def _update(self, kind: str, /, **fields: Any) -> None:
        self._agent.update(self._session, kind, **fields)

    # --- text -------------------------------------------------------------------------------

    def do_say(self, word: str) -> None:
        self._say(word)

    def do_count(self, number: str, pause: str = "0") -> None:
        for k in range(int(number)):
            if self._cancelled.is_set():
                return
            self._say(f"{k} ")
            if pause != "0":
                time.sleep(int(pause.removesuffix("us")) / 1e6)

    def do_stream(self, number: str, pause: str = "0") -> None:
        self.do_count(number, str(int(float(pause.removesuffix("ms")) * 1000)))

    def do_thought(self, word: str) -> None:
        self._update("agent_thought_chunk", content={"type": "text", "text": word})

    def do_image(self) -> None:
        block = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
        self._update("agent_message_chunk", content=block)

    def do_play(self, file: str) -> None:
        for line in Path(file).read_text(encoding="utf-8").split("\n"):
            if line:
                # As they stand: also the half of a character, which only ASCII can carry.
                params = {"sessionId": self._session, "update": json.loads(line)}
                message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
                self._agent.write(json.dumps(message).encode() + b"\n")

    def do_bigline(self, length: str) -> None:
        self._say("x" * int(length))

    def do_split(self) -> None:
        block = {"type": "text", "text": "häppchen🍰 "}
        update = {"sessionUpdate": "agent_message_chunk", "content": block}
        params = {"sessionId": self._session, "update": update}
        message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        for byte in json.dumps(message, ensure_ascii=False).encode() + b"\r\n":
            self._agent.write(bytes((byte,)))
            time.sleep(0.0005)

    def do_env(self, name: str) -> None:
        self._say(f"{name}={os.environ.get(name)} ")

    def do_cwd(self) -> None:
        self._say(str(Path.cwd()))

    def do_echo(self) -> None:
        self._say(json.dumps(self._prompt, ensure_ascii=False))

    # --- tools, plans, settings -------------------------------------------------------------

    def do_permission(self, times: str = "1") -> None:
        answers = []
        for k in range(int(times)):
            call = {
                "toolCallId": f"call-{self._id}-{k}",
                "title": f"Write file {k}",
                "kind": "edit",
            }
            params = {"sessionId": self._session, "toolCall": call, "options": OPTIONS}
            answers.append(self._agent.request("session/request_permission", params))
        for answer in answers:
            outcome = answer.get().get("result", {}).get("outcome", {})
            self._say(f"[{outcome.get('optionId') or outcome.get('outcome')}] ")

    def do_ask(self, file: str) -> None:
        params = json.loads(Path(file).read_text(encoding="utf-8"))
        answer = self._agent.request(
            "session/request_permission", {**params, "sessionId": self._session}
        )
        self._say(f"[{answer.get().get('result', {}).get('outcome', {}).get('outcome')}] ")

    def do_tool(self) -> None:
        call = "tool-1"
        self._update("tool_call", toolCallId=call, title="Read", kind="read", status="pending")
        block = {"type": "content", "content": {"type": "text", "text": "forty-two"}}
        self._update("tool_call_update", toolCallId=call, status="completed", content=[block])

    def do_tools(self, number: str) -> None:
        for k in range(int(number)):
            self._update("tool_call", toolCallId=f"tool-{k}", title=f"Tool {k}", status="pending")
        self._update("tool_call_update", toolCallId="tool-0", status="completed")

    def do_orphan(self, call: str) -> None:
        self._update("tool_call_update", toolCallId=call, status="in_progress", title="Late")

    def do_plan(self) -> None:
        steps = [
            {"content": "one", "priority": "high", "status": "completed"},
            {"content": "two", "priority": "low", "status": "pending"},
        ]
        self._update("plan", entries=steps)

    def do_usage(self) -> None:
        self._update("usage_update", used=1000, size=200000)

    def do_commands(self) -> None:
        commands = [{"name": "review", "description": "Review it", "input": {"hint": "what"}}]
        self._update("available_commands_update", availableCommands=commands)

    def do_mode(self) -> None:
        self._update("current_mode_update", currentModeId="code")

    def do_config(self) -> None:
        self._update("config_option_update", configOptions=[MODEL, EFFORT])

    def do_title(self) -> None:
        self._update("session_info_update", title="A title", updatedAt=None)

    # --- the course of the turn -------------------------------------------------------------

    def do_wait(self, pause: str) -> None:
        self._cancelled.wait(float(pause.removesuffix("ms")) / 1000)

    def do_until(self, file: str) -> None:
        while not Path(file).exists() and not self._cancelled.is_set():
            time.sleep(0.01)

    def do_hang(self) -> None:
        self._cancelled.wait()

    def do_reason(self, word: str) -> None:
        self._reason = word

    def do_string_ids(self) -> None:
        self._agent.string_ids = True
