"""The world around the router, as a small model that carries out scripts.

Orders are carried out at once, agents answer or don't, processes end. What is published is looked
at as it comes, never the router's own state: a broken promise fails where it is broken.
"""

import json
from collections import Counter, defaultdict
from typing import Any

from sk_bus.commands import (
    AddMember,
    AnswerPermission,
    Cancel,
    Create,
    Delete,
    Direct,
    EditQueued,
    Prepare,
    RemoveMember,
    RemoveQueued,
    Send,
    Shutdown,
)
from sk_bus.events import (
    CommandResult,
    MessageUpdated,
    PermissionRequested,
    PermissionResolved,
)
from sk_bus.internal import DoSend, DoStart, DoStop, DoTurn, SessionChanged
from sk_bus.model import AgentName
from tests.support.playbook import (
    Playbook,
    agent,
    chunk,
    configured,
    permission,
)
from tests.unit.sk_router.told import Told

NAMES = ("alice", "bob", "carol")
# Of an earlier session, one takes up the thread, one reads it again, one knows nothing.
OFFERS = {"alice": ("resume", "load", "close"), "bob": ("load",), "carol": ()}
LIMIT = 2


class World:
    """Carries a script out, and looks at everything that is published."""

    def __init__(self) -> None:
        self.p = Playbook(*NAMES, maxRunningAgents=LIMIT)
        self.limit = LIMIT
        self.alive: dict[str, int] = {}
        self.stopped: set[tuple[str, int]] = set()
        self.lines: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
        self.unanswered: dict[tuple[str, int], dict[int, str]] = defaultdict(dict)
        self.sessions: dict[tuple[str, int], list[str]] = defaultdict(list)
        self.asked: list[PermissionRequested] = []
        self.requests: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
        self.given_up: set[tuple[str, int, int]] = set()
        self.turns: set[str] = set()
        self.pending: dict[str, str] = {}
        self.ready: set[tuple[str, int]] = set()
        self.commands: list[str] = []
        self.accepted: list[str] = []
        self.rooms: dict[str, str] = {}
        self.deleted: list[str] = []
        self.bound: dict[tuple[str, int, str], tuple[str, str]] = {}
        self.told = Told()
        self._texts = 0
        self._seen = 0

    # --- what is published ------------------------------------------------------------------

    def look(self) -> None:
        for event in self.p.log[self._seen :]:
            match event:
                case DoStart(agent=name, inc=inc):
                    assert name not in self.alive, "two processes of one agent"
                    assert len(self.alive) < self.limit, "beyond the limit"
                    self.alive[name] = inc
                case DoStop(agent=name, inc=inc):
                    assert self.alive.get(name) == inc, "a stop of nothing"
                    assert (name, inc) not in self.stopped, "stopped twice"
                    self.stopped.add((name, inc))
                    self._may_stop(name, inc)
                case DoSend():
                    self._sent(event)
                case DoTurn(agent=name, open=True):
                    assert name not in self.turns, "an agent in two turns"
                    self.turns.add(name)
                case SessionChanged():
                    self._bind(event)
                    self.told.session(event)
                case MessageUpdated(message=message):
                    self.told.message(message)
                case DoTurn(agent=name):
                    self.turns.discard(name)
                case PermissionRequested():
                    self.asked.append(event)
                    self.pending[event.id] = event.agent
                case PermissionResolved(id=id_):
                    self.pending.pop(id_, None)
                case _:
                    pass
        self._seen = len(self.p.log)

    def _bind(self, event: SessionChanged) -> None:
        place = (event.channel, event.agent)
        self.bound = {key: at for key, at in self.bound.items() if at != place}
        if event.inc and event.sessionId is not None:
            key = (event.agent, event.inc, event.sessionId)
            assert key not in self.bound, "one session of two channels"
            self.bound[key] = place

    def _may_stop(self, name: str, inc: int) -> None:
        """Invariant 10: nobody who is at work or waited for makes room, or is idle."""
        if self.p.state.lives[name].ending not in ("idle", "evicted"):
            return
        assert name not in self.turns, "it was answering"
        assert name not in self.pending.values(), "somebody is being asked"
        waited = [n for n in self.unanswered[name, inc] if (name, inc, n) not in self.given_up]
        assert waited == [], "an answer of it is awaited"

    def _sent(self, event: DoSend) -> None:
        key = (event.agent, event.inc)
        assert self.alive.get(event.agent) == event.inc, "a line to nobody"
        assert key not in self.stopped, "a line into a closed stdin"
        frame = json.loads(event.line)
        self.lines[key].append(frame)
        assert event.n == len(self.lines[key]), "a hole in the lines"
        assert (frame.get("method") == "initialize") is (event.n == 1)
        if "method" in frame and "id" in frame:
            assert frame["id"] == event.n
            open_ = self.unanswered[key]
            if frame["method"] == "session/prompt":
                assert "session/prompt" not in open_.values(), "two prompts in flight"
                place = self.bound[*key, frame["params"]["sessionId"]]
                texts = [block["text"] for block in frame["params"]["prompt"]]
                self.told.prompt(place, [one for one in texts if isinstance(one, str)])
            open_[event.n] = frame["method"]
            if frame["method"] in ("session/load", "session/resume", "session/prompt"):
                self.sessions[key].append(frame["params"]["sessionId"])
            if frame["method"] == "session/close":
                self.given_up.add((*key, event.n))
        if frame.get("method") == "$/cancel_request":
            self.given_up.add((*key, frame["params"]["requestId"]))

    # --- what happens -----------------------------------------------------------------------

    def perform(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("send", name, text):
                self._send(name, text)
            case ("talk", name, text):
                self._send(name, text)
                self._serve(name)
            case ("converse", name, lives):
                self._converse(name, lives)
            case ("serve", name):
                self._serve(name)
            case ("cancel", name):
                if channel := self._channel(name):
                    self._command(Cancel, channel=channel)
            case ("command", kind, name):
                self._command(kind, agent=AgentName(name))
            case ("up", name):
                if name in self.alive:
                    self.p.up(name)
            case ("respond", name, how):
                self._respond(name, well=how == "well")
            case ("updates", name, updates):
                for session in self._sessions(name)[-1:]:
                    self.p.updates(name, *updates, session=session)
            case ("ask", name, request):
                for session in self._sessions(name)[-1:]:
                    options = (("yes", "allow_once"), ("no", "reject_once"))
                    self.requests[name, self.alive[name]][json.dumps(request)] += 1
                    self.p.writes(name, permission(request, *options, session=session))
            case ("answer", index, option):
                for one in self.asked[::-1][index : index + 1]:
                    self._command(AnswerPermission, permission=one.id, optionId=option)
            case ("withdraw", name, request):
                if name in self.alive:
                    data = {"method": "$/cancel_request", "params": {"requestId": request}}
                    self.p.writes(name, data)
            case ("exit", name):
                self._exit(name)
            case ("time", milliseconds):
                self.p.passes(milliseconds)
            case ("configure", names, limit, digest):
                self._configure(names, limit, digest)
            case ("router dies",):
                self.p.restart()
            case ("shutdown",):
                self._command(Shutdown)
            case (what, room, *more):
                self._in_room(what, room, *more)
            case _:
                raise AssertionError(step)
        self.look()

    def _configure(self, names: list[str], limit: int, digest: str) -> None:
        self.limit = max(limit, len(self.alive))
        agents = [agent(name, digest=digest) for name in names]
        self.p.give(configured(*agents, maxRunningAgents=limit))
        self.look()
        self.limit = limit

    def _in_room(self, *step: Any) -> None:
        match step:
            case ("say", room, text):
                self._say(room, text)
            case ("discuss", room, text):
                self._say(room, text)
                self._go_on(9)
            case ("go on", _, turns):
                self._go_on(turns)
            case ("join", room, name):
                self._command(AddMember, channel=self._room(room), agent=AgentName(name))
            case ("leave", room, name):
                self._command(RemoveMember, channel=self._room(room), agent=AgentName(name))
            case ("stop room", room):
                self._command(Cancel, channel=self._room(room))
            case ("prepare", room):
                self._command(Prepare, channel=self._room(room))
            case ("edit", room, index, text):
                for waiting in self._waiting(room)[index : index + 1]:
                    edited = self._numbered(text)
                    fields = {"channel": self._room(room), "messageId": waiting, "text": edited}
                    self._command(EditQueued, **fields)
            case ("take back", room, index):
                for waiting in self._waiting(room)[index : index + 1]:
                    self._command(RemoveQueued, channel=self._room(room), messageId=waiting)
            case ("delete", room):
                channel = self._room(room)
                self._command(Delete, channel=channel)
                if channel in self.p.state.channels and not self.p.state.deletions:
                    return  # refused: everything closes
                self.deleted.append(channel)
                del self.rooms[room]
            case _:
                raise AssertionError(step)

    def _command(self, kind: type[Any], **fields: Any) -> CommandResult | None:
        result = self.p.command(kind, **fields)
        self.commands.append(f"command-{self.p._commands}")
        if result is not None:
            assert self.p.said[-1] == result or isinstance(self.p.said[-1], CommandResult)
        return result

    def _go_on(self, turns: int) -> None:
        """Let agents answer, each in its turn."""
        for name in (NAMES * 3)[:turns]:
            self._serve(name)
            self._answer(name)
            self.p.passes(300)

    def _room(self, room: str) -> str:
        """The named channel, made where there is none."""
        if room not in self.rooms:
            made = self._command(Create, name=f"{room} {len(self.deleted)}")
            assert made is not None
            self.rooms[room] = made.value if made.ok else "c0000000000000000.0"
        return self.rooms[room]

    def _say(self, room: str, text: str) -> None:
        sent = self._command(Send, channel=self._room(room), text=self._numbered(text))
        assert sent is not None
        if sent.ok:
            self.accepted.append(sent.value)

    def _numbered(self, text: str) -> str:
        self._texts += 1
        return f"{text} #{self._texts}"

    def _waiting(self, room: str) -> list[str]:
        talk = self.p.state.talks.get(self._room(room))
        return list(talk.queue) if talk is not None else []

    def _answer(self, name: str) -> None:
        """Answer the prompt under way, with a text."""
        if (
            name in self.alive
            and "session/prompt" in self.unanswered[name, self.alive[name]].values()
        ):
            self.p.updates(name, chunk(self._numbered("so")), session=self._sessions(name)[-1])
            self._respond(name, well=True)
            self.look()

    def _channel(self, name: str) -> str | None:
        found = [one.id for one in self.p.state.channels.values() if one.direct == name]
        return found[0] if found else None

    def _send(self, name: str, text: str) -> None:
        if self._channel(name) is None:
            self._command(Direct, agent=AgentName(name))
        channel = self._channel(name)
        if channel is not None:
            sent = self._command(Send, channel=channel, text=text)
            if sent is not None and sent.ok:
                self.accepted.append(sent.value)

    def _sessions(self, name: str) -> list[str]:
        return self.sessions[name, self.alive[name]] if name in self.alive else []

    def _respond(self, name: str, *, well: bool) -> None:
        """Answer the oldest request."""
        if name not in self.alive:
            return
        key = (name, self.alive[name])
        for n, method in sorted(self.unanswered[key].items())[:1]:
            del self.unanswered[key][n]
            if not well:
                self.p.answers(name, n, error={"code": -32603, "message": "no"})
            elif method == "initialize":
                self.ready.add(key)
                self.p.initialized(name, *OFFERS[name])
            elif method == "session/new":
                self.sessions[key].append(f"{name}-{n}")
                self.p.answers(name, n, {"sessionId": f"{name}-{n}"})
            elif method == "session/prompt":
                self.p.answers(name, n, {"stopReason": "end_turn"})
            else:
                self.p.answers(name, n, {})

    def _serve(self, name: str) -> None:
        """Go as far as a prompt, if there is one."""
        self.look()
        if name in self.alive:
            self.p.up(name)
            self.look()
        for _ in range(3):
            if name in self.alive:
                open_ = self.unanswered[name, self.alive[name]]
                if "session/prompt" not in open_.values():
                    self._respond(name, well=True)
                    self.look()
                    if any(gate.agent == name for gate in self.p.state.gates.values()):
                        self.p.passes(300)
                        self.look()

    def _converse(self, name: str, lives: int) -> None:
        """A message and its whole answer in each of so many lives, if nothing hinders."""
        for life in range(lives):
            if life:
                self._exit(name)
            self._send(name, "a")
            self._serve(name)
            for session in self._sessions(name)[-1:]:
                self.p.updates(name, chunk("so"), session=session)
            self._respond(name, well=True)
            self.p.passes(2_000)
            self.look()

    def _exit(self, name: str) -> None:
        if name in self.alive:
            inc = self.alive.pop(name)
            self.turns.discard(name)
            self.p.exits(name, asked=(name, inc) in self.stopped, code=0)
            self.look()

    def come_to_rest(self) -> None:
        """Everybody answers, people too; what is being stopped ends, time passes."""
        for _ in range(400):
            before = len(self.p.log)
            for name in NAMES:
                if name in self.alive and (name, self.alive[name]) in self.stopped:
                    self._exit(name)
                if name in self.alive:
                    self.p.up(name)
                    self.look()
                    self._respond(name, well=True)
                    self.look()
            self.p.passes(400)
            self.look()
            if len(self.p.log) == before:
                if not self.pending:
                    break
                # One that asks is in use, and may keep another from starting.
                for id_ in sorted(self.pending):
                    self._command(AnswerPermission, permission=id_, optionId="yes")
                    self.look()
        self.p.passes(40_000)
        self.look()
        for name in NAMES:
            if name in self.alive and (name, self.alive[name]) in self.stopped:
                self._exit(name)


def played(script: list[tuple[Any, ...]]) -> World:
    world = World()
    for step in script:
        world.perform(step)
    world.come_to_rest()
    return world
