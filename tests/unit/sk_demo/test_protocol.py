"""The demo agent's machine: what it says to which message, and when."""

from typing import Any

import pytest

from sk_demo.offers import SCENES
from sk_demo.protocol import Agent, Ended
from sk_demo.scenes import long_text


class Client:
    """Plays one agent with a clock of its own, and keeps everything that it sent."""

    def __init__(self, *, pace: float = 10) -> None:
        self.agent = Agent(pace=pace)
        self.now = 0.0
        self.sent: list[dict[str, Any]] = []
        self.asks: list[dict[str, Any]] = []
        self.request("initialize", protocolVersion=1)
        self.session = self.request("session/new", cwd="/", mcpServers=[])["result"]["sessionId"]
        self.sent.clear()

    def send(self, message: Any) -> list[dict[str, Any]]:
        out = self.agent.handle(message, self.now)
        self.sent += out
        return out

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        return self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})[0]

    def prompt(self, text: str, *, request: int = 7) -> None:
        params = {"sessionId": self.session, "prompt": [{"type": "text", "text": text}]}
        self.send({"jsonrpc": "2.0", "id": request, "method": "session/prompt", "params": params})

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def play(self, *, steps: int | None = None) -> None:
        """Let time pass until the agent has nothing more to do, or for so many steps."""
        while (due := self.agent.due()) is not None and steps != 0:
            self.now = max(self.now, due)
            self.sent += self.agent.step(self.now)
            steps = None if steps is None else steps - 1

    @property
    def updates(self) -> list[dict[str, Any]]:
        return [m["params"]["update"] for m in self.sent if m.get("method") == "session/update"]

    @property
    def text(self) -> str:
        return "".join(
            update["content"].get("text", "")
            for update in self.updates
            if update["sessionUpdate"] == "agent_message_chunk"
        )

    @property
    def kinds(self) -> list[str]:
        return list(dict.fromkeys(update["sessionUpdate"] for update in self.updates))

    @property
    def stop_reason(self) -> str | None:
        ended = [m for m in self.sent if m.get("id") == 7 and "result" in m]
        return ended[-1]["result"]["stopReason"] if ended else None

    @property
    def asked(self) -> dict[str, Any]:
        return next(m for m in self.sent if m.get("method") == "session/request_permission")

    def answer(self, outcome: dict[str, str]) -> None:
        self.send({"jsonrpc": "2.0", "id": self.asked["id"], "result": {"outcome": outcome}})


def test_the_first_answer_greets_and_offers_every_word() -> None:
    client = Client()
    client.prompt("hello")
    client.play()
    assert client.text.startswith("Hello!")
    assert all(f"`{word}" in client.text for word in SCENES)
    assert client.stop_reason == "end_turn"


def test_every_offered_word_is_announced_as_a_slash_command() -> None:
    agent = Agent(pace=0)
    agent.handle({"id": 1, "method": "initialize", "params": {"protocolVersion": 1}}, 0)
    _, announced = agent.handle({"id": 2, "method": "session/new", "params": {"cwd": "/"}}, 0)
    names = [c["name"] for c in announced["params"]["update"]["availableCommands"]]
    assert names == list(SCENES)


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("plan", "plan"),
        ("/plan", "plan"),
        ("@demo plan", "plan"),
        ("Show me a plan, please.", "plan"),
        ("think", "agent_thought_chunk"),
        ("tool", "tool_call"),
        ("diff", "tool_call_update"),
        ("carol: hello\n\ntool\n\nAnswer in your own words.", "tool_call"),
    ],
)
def test_a_word_shows_what_it_names(prompt: str, kind: str) -> None:
    client = Client()
    client.prompt(prompt)
    client.play()
    assert kind in client.kinds
    assert client.stop_reason == "end_turn"


@pytest.mark.parametrize("count", [1, 10, 11, 300])
def test_long_says_exactly_the_numbered_words(count: int) -> None:
    client = Client(pace=0)
    client.prompt(f"long {count}")
    client.play()
    assert client.text == long_text(count)
    assert len(client.text.split()) == count


def test_an_answer_takes_the_pace_of_its_words() -> None:
    client = Client(pace=10)
    client.prompt("long 100")
    client.play()
    assert 990 <= client.now <= 1010


def test_every_answer_ends_with_the_usage() -> None:
    client = Client()
    client.prompt("code")
    client.play()
    usage = client.updates[-1]
    assert usage["sessionUpdate"] == "usage_update"
    assert 0 < usage["used"] <= usage["size"]


def test_cancel_ends_the_turn_with_cancelled() -> None:
    client = Client()
    client.prompt("long 1000")
    client.play(steps=5)
    client.notify("session/cancel", sessionId=client.session)
    assert client.stop_reason == "cancelled"
    client.play()
    assert len(client.text.split()) == 5


def test_cancel_ends_an_open_tool_call_too() -> None:
    client = Client()
    client.prompt("tool")
    while not any(u.get("status") == "in_progress" for u in client.updates):
        client.play(steps=1)
    client.notify("session/cancel", sessionId=client.session)
    assert client.updates[-1]["status"] == "failed"
    assert client.stop_reason == "cancelled"


def test_cancel_request_ends_the_prompt_and_withdraws_the_question() -> None:
    client = Client()
    client.prompt("permission")
    client.play()
    client.notify("$/cancel_request", requestId=7)
    withdrawn = {"requestId": client.asked["id"]}
    assert any(m.get("params") == withdrawn for m in client.sent)
    assert client.sent[-1]["error"]["code"] == -32800


def test_permission_waits_for_its_answer() -> None:
    client = Client()
    client.prompt("permission")
    client.play()
    kinds = [option["kind"] for option in client.asked["params"]["options"]]
    assert kinds == ["allow_once", "allow_always", "reject_once"]
    assert client.stop_reason is None


@pytest.mark.parametrize(
    ("option", "status", "said"),
    [
        ("allow-once", "completed", "Done."),
        ("allow-always", "completed", "not ask again"),
        ("reject-once", "failed", "refused"),
    ],
)
def test_the_chosen_option_decides(option: str, status: str, said: str) -> None:
    client = Client()
    client.prompt("permission")
    client.play()
    client.answer({"outcome": "selected", "optionId": option})
    client.play()
    tools = [u for u in client.updates if u["sessionUpdate"] == "tool_call_update"]
    assert tools[-1]["status"] == status
    assert said in client.text
    assert client.stop_reason == "end_turn"


def test_allow_always_is_remembered_in_its_session_only() -> None:
    client = Client()
    client.prompt("permission")
    client.play()
    client.answer({"outcome": "selected", "optionId": "allow-always"})
    client.play()
    client.sent.clear()
    client.prompt("permission")
    client.play()
    assert "didn't ask" in client.text
    client.session = client.request("session/new", cwd="/")["result"]["sessionId"]
    client.prompt("permission")
    client.play()
    assert client.asked["params"]["sessionId"] == client.session


def test_a_cancelled_permission_cancels_the_turn() -> None:
    client = Client()
    client.prompt("permission")
    client.play()
    client.answer({"outcome": "cancelled"})
    client.play()
    assert client.stop_reason == "cancelled"


def test_an_answer_that_comes_after_the_cancel_is_ignored() -> None:
    client = Client()
    client.prompt("permission")
    client.play()
    client.notify("session/cancel", sessionId=client.session)
    before = len(client.sent)
    client.answer({"outcome": "cancelled"})
    client.play()
    assert len(client.sent) == before


def test_sessions_answer_at_the_same_time() -> None:
    client = Client()
    first = client.session
    client.prompt("long 20", request=7)
    client.session = client.request("session/new", cwd="/")["result"]["sessionId"]
    client.prompt("long 20", request=8)
    client.play()
    order = [m["params"]["sessionId"] for m in client.sent if m.get("method") == "session/update"]
    last_of_first = len(order) - order[::-1].index(first)
    assert client.session in order[:last_of_first]
    assert {m["id"] for m in client.sent if "result" in m and m["id"] in (7, 8)} == {7, 8}


def test_a_second_prompt_in_a_busy_session_is_refused() -> None:
    client = Client()
    client.prompt("slow")
    client.prompt("hello", request=8)
    assert client.sent[-1]["error"]["code"] == -32600


def test_error_fails_the_prompt_with_its_reason_in_data() -> None:
    client = Client()
    client.prompt("error")
    client.play()
    assert client.sent[-1]["error"]["code"] == -32603
    assert "demo" in client.sent[-1]["error"]["data"]["details"]


def test_crash_ends_the_process() -> None:
    client = Client()
    client.prompt("crash")
    with pytest.raises(Ended) as ended:
        client.play()
    assert ended.value.code == 3
    assert ended.value.lines


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ([], -32600),
        (5, -32600),
        ({"id": 1, "method": "fs/nothing"}, -32601),
        ({"id": 1, "method": "session/new", "params": {"cwd": "relative"}}, -32602),
        ({"id": 1, "method": "session/prompt", "params": {"sessionId": "?"}}, -32602),
    ],
)
def test_a_bad_request_gets_the_error_that_says_so(message: Any, code: int) -> None:
    (answer,) = Client().send(message)
    assert answer["error"]["code"] == code


def test_nothing_but_initialize_is_answered_first() -> None:
    (answer,) = Agent(pace=0).handle({"id": 1, "method": "session/new", "params": {}}, 0)
    assert answer["error"]["code"] == -32600


def test_a_code_that_was_named_is_remembered_and_told() -> None:
    client = Client()
    client.prompt("@demo the code is 4711")
    client.play()
    assert "4711" in client.text
    client.sent.clear()
    client.prompt("what was the code?")
    client.play()
    assert client.text == "The code is **4711**: you said so."


def test_a_code_is_read_in_what_the_others_said() -> None:
    client = Client()
    told = "[0123456789ab] alice:\nThe code is heron."
    texts = ["These are new to you.\n\n" + told, "which code?", "\n\n[0123456789ab] End."]
    blocks = [{"type": "text", "text": text} for text in texts]
    params = {"sessionId": client.session, "prompt": blocks}
    client.send({"jsonrpc": "2.0", "id": 7, "method": "session/prompt", "params": params})
    client.play()
    assert client.text == "The code is **heron**: alice said so."


def test_recall_lists_what_was_heard() -> None:
    client = Client()
    client.prompt("recall")
    client.play()
    assert client.text == "I have heard nothing yet in this conversation."
    client.prompt("/recall")
    client.play()
    assert client.text.endswith("oldest first:\n\n- you: recall\n")
