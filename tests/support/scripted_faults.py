"""What the scripted agent does wrong in a turn, on demand. Each is known of some agent or library.

Lines that are no ACP, or odd ACP:
    !noise             lines on stdout that are no frames
    !invalid-utf8      a frame whose text is no UTF-8
    !overlong N        one line of N bytes that is no JSON
    !batch             two updates as a JSON array
    !deep N            an update of an unknown kind, N levels deep
    !surrogate         a chunk with half of a surrogate pair, and a number that has no end
    !unknown           an update, a content block and a request of kinds that nobody knows
    !extra             a chunk with fields that nobody knows, and a notification likewise
    !formless          updates that lack what they should have
    !mode-id           a current_mode_update with ``modeId``, as the documentation once had it
    !partial-config    a config_option_update with one option of two
    !wrong-session     a chunk for a session that nobody opened
    !echo-user         the prompt back as user_message_chunk
    !stderr N          N lines on stderr
    !flood N           N bytes on stderr without a line end

Requests:
    !odd-ids           requests with ids of all kinds; says how many were echoed exactly
    !fs, !terminal, !elicitation
                       requests that the client advertised no support for; says the error codes
    !stray-permission  ask for permission in a session that nobody opened
    !strange-options   permission with options of unknown kind, of one kind twice, and one formless
    !no-options        permission without any option
    !withdraw          ask for permission, and take it back by ``$/cancel_request``
    !late-permission   ask for permission once cancelled

The end of the turn:
    !late MS           answer the prompt, then send one more chunk after MS milliseconds
    !late-tool MS      the same with a tool call's completion
    !early             answer the prompt before its chunks
    !garbage           lines that are no ACP right behind the answer
    !twice             answer the prompt twice
    !both              answer with a result and an error
    !error             answer with an error
    !null, !no-reason  answer with null, or with an object that has no stopReason
    !wrong-id          answer under an id that nobody used, and not under the right one
    !string-id         answer with the id as a string
    !silent            never answer, not even after a cancel
    !hang-cancel       do nothing until a cancel, and then neither
    !cancel-error      do nothing until a cancel, then answer with an error
    !cancel-reason W   do nothing until a cancel, then answer with that stopReason

The end of the agent:
    !exit N            exit with N in the middle of the turn
    !kill              SIGKILL oneself
    !half              write half a line, then exit 0
    !close             close stdout and stay
    !deaf              never read stdin again
    !grandchild        start a process that ignores SIGTERM and holds stdout
    !daemon            start a process in a session of its own that ignores SIGTERM
"""

import json
import os
import signal
import time
from typing import Any

from tests.support.scripted_sessions import MODEL
from tests.support.scripted_turn import OPTIONS, GoodTurn

NOISE = (
    b"Starting\xe2\x80\xa6",
    b'"x"',
    b"12",
    b"null",
    b"[1]",
    b"{}",
    b'{"level":"info","id":1}',
    b"\x1b[31mred\x1b[0m",
    b"",
    b"\xff\xfe bad",
    b"with CR\r",
)
ODD_IDS = (0, "0", "", None, -1, 2**53, 1.5, "9f1c7c0e-0000-4000-8000-1234567890ab", "ünï")
FS = ("fs/read_text_file", "fs/write_text_file")
TERMINAL = tuple(f"terminal/{one}" for one in ("create", "output", "wait_for_exit", "kill"))
CHUNK = "agent_message_chunk"


class Turn(GoodTurn):
    """A turn that can go wrong in every way above."""

    EVEN_CANCELLED = (
        "!silent",
        "!hang-cancel",
        "!wrong-id",
        "!cancel-error",
        "!cancel-reason",
        "!late-permission",
    )

    # --- lines ------------------------------------------------------------------------------

    def _raw(self, update: bytes) -> None:
        """An update as it is, in a frame of this session."""
        head = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":'
        session = json.dumps(self._session).encode()
        self._agent.write(head.encode() + session + b',"update":' + update + b"}}\n")

    def do_noise(self) -> None:
        for line in NOISE:
            self._agent.write(line + b"\n")

    def do_invalid_utf8(self) -> None:
        self._raw(b'{"sessionUpdate":"agent_message_chunk","content":{"text":"b\xe9d"}}')

    def do_overlong(self, length: str) -> None:
        self._agent.write(b"y" * int(length) + b"\n")

    def do_batch(self) -> None:
        update = {"sessionUpdate": CHUNK, "content": {"type": "text", "text": "batched"}}
        params = {"sessionId": self._session, "update": update}
        frame = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        self._agent.write(json.dumps([frame, frame]).encode() + b"\n")

    def do_deep(self, levels: str) -> None:
        deep = b"[" * int(levels) + b"]" * int(levels)
        # Long enough that the executor looks into it for what it keeps beside the log.
        self._raw(b'{"sessionUpdate":"deep","long":"' + b"x" * 20_000 + b'","deep":' + deep + b"}")

    def do_surrogate(self) -> None:
        self._raw(
            b'{"sessionUpdate":"agent_message_chunk",'
            b'"content":{"type":"text","text":"half\\ud83d "},"_meta":{"n":'
            + b"9" * 400
            + b',"nan":NaN}}'
        )

    def do_unknown(self) -> None:
        self._update("mood_changed", mood="fine")
        self._update(CHUNK, content={"type": "hologram", "data": [1, 2]})
        self._refused("craft/drain")

    def do_extra(self) -> None:
        block = {"type": "text", "text": "extra ", "annotations": None, "weight": 3}
        self._update(CHUNK, content=block, _meta={"x": {}}, messageId=None, mood=[])
        self._agent.send({"method": "_vendor/ping", "params": {"a": 1}})
        self._agent.send({"method": "session/purr"})

    def do_formless(self) -> None:
        self._update(CHUNK)
        self._update(CHUNK, content="just text")
        self._update(CHUNK, content={"type": "text", "text": 7})
        self._update("tool_call", title="no id")
        self._update("plan", entries={"content": "no list"})
        self._update("usage_update", used="many")
        self._raw(b'{"content":{"type":"text","text":"no kind"}}')
        self._raw(b'"no object"')
        self._agent.send({"method": "session/update", "params": {"sessionId": self._session}})
        self._agent.send({"method": "session/update", "params": []})
        self._agent.send({"method": "session/update"})

    def do_mode_id(self) -> None:
        self._update("current_mode_update", modeId="code")

    def do_partial_config(self) -> None:
        self._update("config_option_update", configOptions=[MODEL])

    def do_wrong_session(self) -> None:
        self._agent.say("nobody's", "stray ")

    def do_echo_user(self) -> None:
        for block in self._prompt:
            self._update("user_message_chunk", content=block)

    def do_stderr(self, number: str) -> None:
        for k in range(int(number)):
            os.write(2, b"stderr line %d\n" % k)

    def do_flood(self, length: str) -> None:
        view = memoryview(b"z" * int(length) + b"\n")
        while view:
            view = view[os.write(2, view) :]

    # --- requests ---------------------------------------------------------------------------

    def _refused(self, method: str, **given: Any) -> None:
        """Ask for something; say the code of the refusal."""
        params = {"sessionId": self._session, "path": "/etc/hostname", "command": "true"}
        answer = self._agent.request(method, params, **given).get()
        self._say(f"[{answer.get('error', {}).get('code')}] ")

    def _ask(self, options: list[Any], session: str | None = None) -> Any:
        call = {"toolCallId": f"call-{self._id}", "title": "Write", "kind": "edit"}
        params = {"sessionId": session or self._session, "toolCall": call, "options": options}
        return self._agent.request("session/request_permission", params)

    def _told(self, answer: Any) -> None:
        said = answer.get()
        outcome = said.get("result", {}).get("outcome", {})
        error = said.get("error", {}).get("code")
        self._say(f"[{outcome.get('optionId') or outcome.get('outcome') or error}] ")

    def do_odd_ids(self) -> None:
        answers = [self._agent.request("_vendor/x", {}, id=one) for one in ODD_IDS]
        exact = sum(answer.get()["error"]["code"] == -32601 for answer in answers)
        self._say(f"[{exact} of {len(ODD_IDS)}] ")

    def do_fs(self) -> None:
        for method in FS:
            self._refused(method)

    def do_terminal(self) -> None:
        for method in TERMINAL:
            self._refused(method)

    def do_elicitation(self) -> None:
        self._refused("elicitation/create")

    def do_stray_permission(self) -> None:
        self._told(self._ask(OPTIONS, session="nobody's"))

    def do_strange_options(self) -> None:
        options = [
            {"optionId": "proceed_once", "name": "Proceed", "kind": "allow_persistent"},
            {"optionId": "A", "name": "This folder", "kind": "allow_always"},
            {"optionId": "B", "name": "Everywhere", "kind": "allow_always"},
            "no option",
        ]
        self._told(self._ask(options))

    def do_no_options(self) -> None:
        self._told(self._ask([]))

    def do_withdraw(self) -> None:
        answer = self._ask(OPTIONS)
        request = self._agent.last_id
        self._agent.send({"method": "$/cancel_request", "params": {"requestId": request}})
        self._told(answer)

    def do_late_permission(self) -> None:
        self._cancelled.wait()
        self._told(self._ask(OPTIONS))

    # --- how the turn ends ------------------------------------------------------------------

    def do_late(self, pause: str) -> None:
        def late() -> None:
            time.sleep(float(pause.removesuffix("ms")) / 1000)
            self._say("late ")

        self._after.append(late)

    def do_late_tool(self, pause: str) -> None:
        self._update("tool_call", toolCallId="slow", title="Slow", status="in_progress")

        def late() -> None:
            time.sleep(float(pause.removesuffix("ms")) / 1000)
            self._update("tool_call_update", toolCallId="slow", status="completed")

        self._after.append(late)

    def do_early(self) -> None:
        self._answer({"stopReason": self._reason})

    def do_garbage(self) -> None:
        self._after.append(self.do_noise)

    def do_twice(self) -> None:
        self._after.append(lambda: self._answer({"stopReason": self._reason}))

    def do_both(self) -> None:
        self._answered = True
        error = {"code": -32603, "message": "both"}
        self._agent.send({"id": self._id, "result": {"stopReason": "end_turn"}, "error": error})

    def do_error(self) -> None:
        self._answered = True
        self._agent.refuse(self._id, -32603, "Internal error", data={"details": "no tokens"})

    def do_null(self) -> None:
        self._answer(None)

    def do_no_reason(self) -> None:
        self._answer({})

    def do_wrong_id(self) -> None:
        self._answered = True
        self._agent.answer(4711, {"stopReason": "end_turn"})

    def do_string_id(self) -> None:
        self._answered = True
        self._agent.answer(str(self._id), {"stopReason": "end_turn"})

    def do_silent(self) -> None:
        self._mute = True

    def do_hang_cancel(self) -> None:
        self._mute = True
        self._cancelled.wait()

    def do_cancel_error(self) -> None:
        self._cancelled.wait()
        self.do_error()

    def do_cancel_reason(self, word: str) -> None:
        self._cancelled.wait()
        self._answer({"stopReason": word})

    # --- how the agent ends -----------------------------------------------------------------

    def do_exit(self, code: str) -> None:
        os._exit(int(code))

    def do_kill(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_half(self) -> None:
        self._agent.write(b'{"jsonrpc": "2.0", "method": "session/upd')
        os._exit(0)

    def do_close(self) -> None:
        os.close(1)
        self._mute = True

    def do_deaf(self) -> None:
        self._agent.be_deaf()

    def do_grandchild(self) -> None:
        self._agent.start(apart=False)

    def do_daemon(self) -> None:
        self._agent.start(apart=True)
