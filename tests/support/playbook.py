"""A log in which the router is the only one alive: inputs in, events out, and what really happened.

The fold is held against the live state after every input, and every line to an agent against the
schema of ACP, so each test proves that as well. Time stands still unless a test lets it pass.
"""

import json
from typing import Any

from sk_bus.commands import AddMember, AnyCommand, Create, Direct, Send
from sk_bus.events import (
    AgentStateChanged,
    CommandResult,
    ConfigChanged,
    MessageDelta,
    MessageUpdated,
)
from sk_bus.internal import (
    DoSend,
    DoStart,
    FactExited,
    FactFrame,
    FactUp,
    MemoryChanged,
    TimerFired,
)
from sk_bus.model import AgentConfig, AgentName, ChannelId, Limits, PublicConfig
from sk_bus.vocabulary import Event, decoded, encoded
from sk_bus.wire import packed, unpacked
from sk_router.decide import decide
from sk_router.decision import Decision, Input
from sk_router.evolve import evolve
from sk_router.state import State, restored, snapshot
from tests.support import acp_schema

EPOCH = 1_000


def agent(name: str, **more: Any) -> AgentConfig:
    made = {"title": name.title(), "digest": f"digest-of-{name}", "cwd": f"/home/{name}", **more}
    return AgentConfig(name=AgentName(name), **made)


def configured(*agents: str | AgentConfig, **limits: int) -> ConfigChanged:
    listed = tuple(agent(one) if isinstance(one, str) else one for one in agents)
    config = PublicConfig(agents=listed, limits=Limits(**limits))
    return ConfigChanged(path="/etc/sidekicks.yaml", valid=True, config=config)


class Playbook:
    """Feeds inputs one after the other (or several as one batch) and keeps what is said."""

    def __init__(self, *agents: str | AgentConfig, **limits: int) -> None:
        self.state = State()
        self.folded = State()
        self.seq = EPOCH
        self.mono = 50_000
        self.log: list[Event] = []
        self.said: list[Event] = []
        self.decision = Decision(self.state)
        self._ends: dict[str, int] = {}
        self._commands = 0
        if agents:
            self.give(configured(*agents, **limits))

    # --- inputs -----------------------------------------------------------------------------

    def give(self, *events: Event, mono: int | None = None) -> list[Event]:
        """Let the events happen as one batch; returns what the router says to them."""
        if mono is not None:
            self.mono = mono
        inputs = []
        for event in events:
            self.seq += 1
            inputs.append(Input(self.seq, 1_700_000_000_000 + self.mono, self.mono, event))
        self.decision = decide(self.state, inputs)
        self.said = self.decision.events
        self.seq += len(self.said)
        self.log += self.said
        for event in self.said:
            if isinstance(event, DoSend):
                acp_schema.check(event.line)
            again = decoded(unpacked(packed(encoded(event))))
            assert again is not None
            evolve(self.folded, again)
        assert snapshot(self.folded) == snapshot(self.state), "the fold is not the live state"
        return self.said

    def restart(self) -> None:
        """The router dies; another takes up what it published, from a snapshot of it."""
        again = restored(unpacked(packed(snapshot(self.state))))
        assert again == self.state, "a snapshot lost something"
        self.state = self.folded
        self.folded = again

    def command(self, kind: type[Any], **fields: Any) -> CommandResult | None:
        """Give a command with an id of its own; its result, when it has one at once."""
        self._commands += 1
        id_ = f"command-{self._commands}"
        self.give(kind(id=id_, **fields))
        return self.result(id_)

    def result(self, id_: str) -> CommandResult | None:
        """The result among what was said last; it is the only one, and the last of its batch."""
        found = [one for one in self.said if isinstance(one, CommandResult) and one.id == id_]
        assert len(found) <= 1, "two results"
        return found[0] if found else None

    def passes(self, milliseconds: int) -> list[Event]:
        """Let time pass, the timers firing in their order; what was said meanwhile."""
        until = self.mono + milliseconds
        heard: list[Event] = []
        while due := sorted((at, id_) for id_, at in self.state.timers.items() if at <= until):
            at, id_ = due[0]
            heard += self.give(TimerFired(id=id_), mono=max(at, self.mono))
        self.mono = until
        self.said = heard
        return heard

    # --- an agent's side --------------------------------------------------------------------

    def inc(self, name: str) -> int:
        return self.state.lives[name].inc

    def up(self, name: str) -> list[Event]:
        return self.give(FactUp(agent=AgentName(name), inc=self.inc(name), pid=4711))

    def frame(self, name: str, data: Any, **more: Any) -> FactFrame:
        line = data if isinstance(data, str) else json.dumps(data)
        end = self._ends[name] = self._ends.get(name, 0) + len(line) + 1
        return FactFrame(agent=AgentName(name), inc=self.inc(name), end=end, line=line, **more)

    def writes(self, name: str, *data: Any) -> list[Event]:
        """The agent writes frames, all in one batch."""
        return self.give(*[self.frame(name, one) for one in data])

    def updates(self, name: str, *updates: dict[str, Any], session: str = "s1") -> list[Event]:
        return self.writes(name, *[update(one, session) for one in updates])

    def answers(self, name: str, n: int, result: Any = None, error: Any = None) -> list[Event]:
        body = {"error": error} if error is not None else {"result": result}
        return self.writes(name, {"jsonrpc": "2.0", "id": n, **body})

    def exits(self, name: str, *, code: int = 0, asked: bool = True, **more: Any) -> list[Event]:
        more.setdefault("taken", self.state.lives[name].n)
        fact = FactExited(agent=AgentName(name), inc=self.inc(name), asked=asked, code=code, **more)
        return self.give(fact)

    # --- well-trodden ways ------------------------------------------------------------------

    def started(self, name: str, *offers: str, **result: Any) -> "Playbook":
        """Take the agent through its handshake; it ``offers`` load, resume, close."""
        self.up(name)
        self.initialized(name, *offers, **result)
        return self

    def initialized(self, name: str, *offers: str, **result: Any) -> None:
        capabilities: dict[str, Any] = {
            "loadSession": "load" in offers,
            "sessionCapabilities": {one: {} for one in offers if one != "load"},
        }
        answer = {"protocolVersion": 1, "agentCapabilities": capabilities, **result}
        self.answers(name, 1, answer)

    def direct(self, name: str) -> ChannelId:
        result = self.command(Direct, agent=AgentName(name))
        assert result is not None
        assert result.ok, result
        return result.value

    def channel(self, name: str, *members: str) -> ChannelId:
        """A named channel with these members."""
        result = self.command(Create, name=name)
        assert result is not None
        assert result.ok, result
        for member in members:
            joined = self.command(AddMember, channel=result.value, agent=AgentName(member))
            assert joined is not None
            assert joined.ok, joined
        return ChannelId(result.value)

    def send(self, channel: ChannelId, text: str) -> str:
        """Send a message; its id."""
        result = self.command(Send, channel=channel, text=text)
        assert result is not None
        assert result.ok, result
        return result.value

    def prompted(
        self, name: str, text: str = "hello", session: str = "s1", offers: tuple[str, ...] = ()
    ) -> ChannelId:
        """A direct conversation whose agent has just been sent its first prompt."""
        channel = self.direct(name)
        self.send(channel, text)
        self.started(name, *offers)
        self.answers(name, self.last_n(name), {"sessionId": session})
        return channel

    def opened(self, name: str, session: str, *offers: str) -> None:
        """Take an agent that was just started as far as the session of its first prompt."""
        self.started(name, *offers)
        self.answers(name, 2, {"sessionId": session})

    def replies(self, name: str, text: str, session: str, reason: str = "end_turn") -> list[Event]:
        """A whole answer to the prompt that was sent last."""
        self.updates(name, chunk(text), session=session)
        return self.answers(name, self.last_n(name), {"stopReason": reason})

    def last_n(self, name: str) -> int:
        return self.state.lives[name].n

    # --- what was said ----------------------------------------------------------------------

    def sent(self, name: str | None = None) -> list[dict[str, Any]]:
        """The lines among what was said last, as JSON."""
        return [
            json.loads(one.line)
            for one in self.said
            if isinstance(one, DoSend) and name in (None, one.agent)
        ]

    def all_sent(self, name: str) -> list[DoSend]:
        return [one for one in self.log if isinstance(one, DoSend) and one.agent == name]

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of a kind among what was said last."""
        return [one for one in self.said if isinstance(one, kind)]

    def codes(self) -> list[tuple[str, str]]:
        """The system messages among what was said last, as (code, agent)."""
        told = [one.message for one in self.of(MessageUpdated)]
        return [(one.code, one.agent) for one in told if one.code is not None]

    def prompts(self, name: str) -> list[str]:
        """The message that each prompt to the agent asks it to answer, of all times."""
        return [asked(json.loads(one.line)) for one in self.all_sent(name) if _prompts(one)]

    def answered(self, message: str) -> list[tuple[str, str | None]]:
        """What stands in answer to a message by now, as (agent, how it ended)."""
        return [
            (one["agent"], one.get("stopReason") or one.get("code"))
            for one in self.messages().values()
            if one.get("answers") == message and one.get("done", True)
        ]

    def states(self) -> list[tuple[str, ...]]:
        """Agents' states among what was said last, as (agent, state, mark…)."""
        return [
            (one.agent, one.state.value, *["stopping"] * one.stopping, *["outdated"] * one.outdated)
            for one in self.said
            if isinstance(one, AgentStateChanged)
        ]

    def started_lives(self) -> list[DoStart]:
        return [one for one in self.log if isinstance(one, DoStart)]

    def messages(self) -> dict[str, Any]:
        """Every message as a follower has it now: the fold of updates and deltas."""
        return folded(self.log)

    def script(self) -> str:
        """What was said last, readable, for the message of a failed test."""
        return "\n".join(repr(one) for one in self.said if not isinstance(one, MemoryChanged))


def _prompts(sent: DoSend) -> bool:
    return bool(json.loads(sent.line).get("method") == "session/prompt")


def asked(frame: dict[str, Any]) -> str:
    """The message to answer in a ``session/prompt``: in a channel a request stands behind it."""
    texts = [block["text"] for block in frame["params"]["prompt"]]
    return str(texts[-2 if "] End of the message." in texts[-1] else -1])


def folded(log: list[Event]) -> dict[str, Any]:
    """Messages by id, as anyone who follows from the start has them."""
    found: dict[str, Any] = {}
    for event in log:
        if isinstance(event, MessageUpdated):
            made = encoded(event)["message"]
            if event.message.rev:
                assert found[event.message.id]["rev"] == event.message.rev, "a delta is missing"
            found[event.message.id] = made
        elif isinstance(event, MessageDelta):
            message = found[event.messageId]
            message["rev"] += 1
            assert message["rev"] == event.rev, "a revision was left out"
            parts = message["parts"]
            assert event.index <= len(parts), "a part was left out"
            if event.part is not None:
                parts[event.index : event.index + 1] = [encoded(event)["part"]]
            elif event.index == len(parts):
                parts.append({"type": event.kind, "text": event.text})
            else:
                assert parts[event.index]["type"] == event.kind
                parts[event.index]["text"] += event.text
    return found


def update(data: dict[str, Any], session: str = "s1") -> dict[str, Any]:
    """A ``session/update`` frame."""
    return {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": session, "update": data},
    }


def chunk(text: str, message: str | None = None, kind: str = "agent_message_chunk") -> Any:
    data: dict[str, Any] = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    return data if message is None else {**data, "messageId": message}


def thought(text: str) -> Any:
    return chunk(text, kind="agent_thought_chunk")


def permission(request: Any, *options: tuple[str, str], session: str = "s1", **tool: Any) -> Any:
    """A ``session/request_permission``; options are (id, kind)."""
    listed = [{"optionId": id_, "name": id_.title(), "kind": kind} for id_, kind in options]
    call = {"toolCallId": "t1", **tool}
    params = {"sessionId": session, "toolCall": call, "options": listed}
    return {
        "jsonrpc": "2.0",
        "id": request,
        "method": "session/request_permission",
        "params": params,
    }


__all__ = ["AnyCommand", "Playbook", "agent", "chunk", "configured", "permission", "thought"]
