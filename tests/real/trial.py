"""One real agent under a whole Sidekicks, step by step, as a person would try it.

Each step is a claim that is held against what came over the bus, what the model server was asked,
and what is on disk. A step that fails says what it saw.
"""

import asyncio
import itertools
import json
import shutil
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from sk_bus.commands import AddMember, Create, Prepare
from sk_bus.events import MessageUpdated, PermissionRequested
from sk_bus.internal import DoSend
from sk_bus.model import AgentName, ChannelId, Message, Role, ToolCall, ToolPart
from sk_bus.queries import Commands, Conversation, ConversationView
from tests.real.agents import RealAgent, Step
from tests.real.model_server import Entry, ModelServer
from tests.real.script import code
from tests.support.conversing import Person, person, text, why
from tests.support.instance import TestInstance
from tests.support.shim_client import eventually

SERVICES = ("bus", "config", "agents", "router", "history", "gateway")
_SHIM = "sk_agents/shim.py"
_FOR_EVER = 86_400.0
SLOW = 300.0  # seconds: a first start of a big agent on a busy machine, an answer that retries


@dataclass(frozen=True, slots=True)
class Installed:
    """An agent, and the folder that it is in."""

    agent: RealAgent
    at: Path

    def definition(self, name: str, model: str, home: Path, cwd: Path) -> dict[str, Any]:
        """What the configuration file says of it under that name."""
        folders = {"CONFIG": ".config", "DATA": ".local/share", "STATE": ".local/state"}
        xdg = {f"XDG_{kind}_HOME": str(home / path) for kind, path in folders.items()}
        command, *args = (self._filled(one, model) for one in self.agent.command)
        if "/" not in command:
            command = shutil.which(command) or command
        return {
            "name": name,
            "command": command,
            "args": args,
            "cwd": str(cwd),
            "env": xdg | {key: self._filled(one, model) for key, one in self.agent.env.items()},
            "startTimeout": "3m",
        }

    def furnish(self, home: Path, model: str) -> None:
        """Write the files that it looks for in its home."""
        for name, content in self.agent.home.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._filled(content, model))

    def _filled(self, template: str, model: str) -> str:
        return template.replace("{at}", str(self.at)).replace("{model}", model)


class Room:
    """A Sidekicks of these agents' own, up, with a model server and a home nobody used before."""

    def __init__(self, agents: dict[str, Installed]) -> None:
        self.model = ModelServer()
        self.instance = TestInstance(config=None)
        self.cwd = self.instance.directory / "work"
        self.cwd.mkdir()
        definitions = []
        for name, one in agents.items():
            one.furnish(self.instance.home, self.model.address)
            definitions.append(
                one.definition(name, self.model.address, self.instance.home, self.cwd)
            )
        self.instance.config.write_text(yaml.safe_dump({"agents": definitions}))
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._stack.enter_context(self.model)
        self._stack.enter_context(self.instance)
        await asyncio.to_thread(self.instance.up)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    def person(self) -> AbstractAsyncContextManager[Person]:
        return person(self.instance.paths, patience=SLOW)

    def offspring(self) -> dict[int, str]:
        """The processes that are no component of Sidekicks: holders, agents, what these started."""
        ours = set(self.instance.pids().values())
        return {pid: line for pid, line in self.instance.processes().items() if pid not in ours}

    def agents(self) -> dict[int, str]:
        """The same without the holders."""
        return {pid: line for pid, line in self.offspring().items() if _SHIM not in line}

    def held(self) -> set[int]:
        """The agents themselves, without what they started: the holders' own children."""
        everything = self.offspring()
        holders = {pid for pid, line in everything.items() if _SHIM in line}
        return {pid for pid in everything if _parent(pid) in holders}


def _parent(pid: int) -> int:
    """0: it has ended."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(status.rpartition(")")[2].split()[1])


class StepError(Exception):
    """A step isn't as it should be."""


def expect(true: object, what: str) -> None:
    if not true:
        raise StepError(what)


async def lived(me: Person, channel: ChannelId, said: str, kind: str = "allow_once") -> Message:
    """Send, answer every permission request with an option of ``kind``, wait for the end."""
    seen = len(me.asked)
    message = await me.send(channel, said)
    answering = asyncio.create_task(_answer_all(me, channel, seen, kind))
    try:
        return await me.answer(channel, message)
    finally:
        answering.cancel()


async def _answer_all(me: Person, channel: ChannelId, seen: int, kind: str) -> None:
    for at in itertools.count(seen):
        request = (await me.until(partial(_after, me.asked, at), timeout=_FOR_EVER))[0]
        if request.channel == channel:
            option = next(one for one in request.options if one.kind == kind)
            await me.permit(request, option.optionId)


def _after(asked: list[PermissionRequested], at: int) -> list[PermissionRequested]:
    return asked[at:]


def tools(message: Message) -> list[ToolCall]:
    return [part.tool for part in message.parts if isinstance(part, ToolPart)]


class Trial:
    """The steps with an agent that has a model."""

    def __init__(self, one: Installed, room: Room) -> None:
        self.agent = one.agent
        self.name = AgentName(one.agent.name)
        self.room = room
        self.model = room.model
        self.channel = ChannelId("")

    @property
    def steps(self) -> dict[Step, Callable[[Person], Awaitable[None]]]:
        return {
            Step.START: self.start,
            Step.ANSWER: self.answer,
            Step.ALLOWED: self.allowed,
            Step.REFUSED: self.refused,
            Step.CANCEL: self.cancel,
            Step.COMMANDS: self.commands,
            Step.RESTART: self.restart,
            Step.REOPENED: self.reopened,
            Step.KILLS: self.kills,
            Step.STOP: self.stop,
        }

    # --- the steps ----------------------------------------------------------------------------

    async def start(self, me: Person) -> None:
        started = await me.start(self.name)
        expect(started.ok, f"it does not start: {started.problem}")
        expect(me.states[self.name].state == "ready", f"it is {me.states[self.name]}")
        self.channel = await me.direct(self.name)

    async def answer(self, me: Person) -> None:
        got = await lived(me, self.channel, "## Answer, please. !words{60}")
        self._as_the_model_said(got, "!words{60}")

    async def allowed(self, me: Person) -> None:
        if Step.ALLOWED in self.agent.lacks:
            await self._unasked(me, "allowed.txt")
            return
        got = await self._tool(me, "allow_once", "allowed.txt")
        file = self.room.cwd / "allowed.txt"
        expect(file.exists() and file.read_text() == "done\n", "the tool left no trace on disk")
        statuses = [call.status for call in tools(got)]
        expect("completed" in statuses, f"no call is completed: {statuses}")

    async def refused(self, me: Person) -> None:
        if Step.REFUSED in self.agent.lacks:
            await self._unasked(me, "refused.txt")
            return
        got = await self._tool(me, "reject_once", "refused.txt")
        expect(not (self.room.cwd / "refused.txt").exists(), "the tool ran all the same")
        statuses = [call.status for call in tools(got)]
        expect("completed" not in statuses, f"a refused call is shown as completed: {statuses}")
        self._all_closed(got)

    async def cancel(self, me: Person) -> None:
        message = await me.send(self.channel, "## Go on and on. !until{never}")
        await me.until(lambda: me.grown(message))
        cancelled = await me.cancel(self.channel)
        expect(cancelled.ok, f"the cancel failed: {cancelled.problem}")
        got = await me.answer(self.channel, message)
        expect(got.stopReason == "cancelled", f"it ended {why(got)!r}")
        (entry,) = self.model.about("!until{never}")
        expect(text(got) and entry.text.startswith(text(got)), f"other words: {text(got)[:200]!r}")
        await asyncio.to_thread(eventually, lambda: entry.hung_up)
        after = await lived(me, self.channel, "## And now? !say{after the cancel}")
        self._as_the_model_said(after, "!say{after the cancel}")

    async def commands(self, me: Person) -> None:
        channel = await self._named_channel(me)
        prepared = await me.give(Prepare, channel=channel)
        expect(prepared.ok, f"Prepare failed: {prepared.problem}")
        names = await self._announced(me)
        expect(self.agent.slash.strip("/") in names, f"no {self.agent.slash}, but {names}")
        asked = len(self.model.log)
        got = await lived(me, self.channel, self.agent.slash)
        expect(text(got) and got.error is None, f"{self.agent.slash} is answered {got}")
        prompts = [entry.prompt for entry in self.model.log[asked:] if entry.asked.tools]
        expect(self.agent.slash not in prompts, f"the model got the command: {prompts}")

    async def restart(self, me: Person) -> None:
        made = await lived(me, self.channel, "## Make up a code. !code{restart}")
        self._as_the_model_said(made, "!code{restart}")
        restarted = await me.restart(self.name)
        expect(restarted.ok, f"the restart failed: {restarted.problem}")
        await self._remembers(me, "restart")

    async def reopened(self, me: Person) -> None:
        made = await lived(me, self.channel, "## Make up a code. !code{reopened}")
        self._as_the_model_said(made, "!code{reopened}")
        before = await self._messages(me)
        await asyncio.to_thread(self.room.instance.down)
        left = self.room.instance.processes()
        expect(not left, f"make down left {left}")
        await asyncio.to_thread(self.room.instance.up)
        async with self.room.person() as anew:
            expect(await self._messages(anew) == before, "the channel isn't as it was")
            await self._remembers(anew, "reopened")

    async def kills(self, me: Person) -> None:
        message = await me.send(self.channel, "## Go on. !until{killed}")
        await me.until(lambda: me.grown(message))
        pids = self.room.held()
        expect(len(pids) == 1, f"not one agent runs: {self.room.offspring()}")
        for name in SERVICES:
            await self._kill(name)
            seen = len(me.grown(message))
            await me.until(partial(self._grew, me, message, seen))
        self.model.release("killed")
        got = await me.answer(self.channel, message)
        self._as_the_model_said(got, "!until{killed}")
        await self._untouched(me, message, got, pids)

    async def stop(self, me: Person) -> None:
        stopped = await me.stop(self.name)
        expect(stopped.ok, f"the stop failed: {stopped.problem}")
        await me.becomes(self.name, "stopped")
        left = self.room.agents()
        expect(not left, f"the agent left {left}")
        await asyncio.to_thread(eventually, lambda: not self.room.offspring())

    # --- what they are made of ------------------------------------------------------------------

    async def _tool(self, me: Person, kind: str, file: str) -> Message:
        asked = len(me.asked)
        got = await lived(me, self.channel, f"## Do it. !shell{{echo done > {file}}}", kind)
        expect(len(me.asked) > asked, "nobody was asked for permission")
        expect(tools(got), "no tool call is shown")
        expect(got.error is None, f"it ended {why(got)!r}")
        expect(got.stopReason in {"end_turn", "cancelled"}, f"it ended {why(got)!r}")
        return got

    async def _unasked(self, me: Person, file: str) -> None:
        """An agent that never asks still runs its tool, and shows it."""
        asked = len(me.asked)
        got = await lived(me, self.channel, f"## Do it. !shell{{echo done > {file}}}")
        expect(len(me.asked) == asked, "it asks now: mend the table of what it lacks")
        expect((self.room.cwd / file).exists(), "the tool left no trace on disk")
        expect(tools(got), "no tool call is shown")
        self._all_closed(got)

    def _all_closed(self, got: Message) -> None:
        open_ = [call for call in tools(got) if call.status in {"pending", "in_progress"}]
        expect(all(call.ended for call in open_), f"a call stays open: {open_}")

    async def _remembers(self, me: Person, name: str) -> None:
        before = [one.id for one in await self._messages(me)]
        got = await lived(me, self.channel, f"## Which code was it? !recall{{{name}}}")
        known = code(name).rpartition(" ")[2]
        expect(text(got).endswith(f"It was {known}"), f"it has forgotten: {text(got)!r}")
        sent = [json.loads(one.line) for one in me.events if isinstance(one, DoSend)]
        ways = [one["method"] for one in sent if str(one.get("method")).startswith("session/")]
        expect(self.agent.way in ways, f"it was sent {ways}, not {self.agent.way}")
        lost = [
            one.message
            for one in me.events
            if isinstance(one, MessageUpdated) and one.message.code == "memory-lost"
        ]
        expect(not lost or self.agent.forgets, f"its memory was lost: {lost}")
        shown = [one.id for one in await self._messages(me)]
        expect(shown[:-2] == before, "the past is shown twice")

    def _grew(self, me: Person, message: str, seen: int) -> bool:
        return len(me.grown(message)) > seen

    async def _kill(self, name: str) -> None:
        await asyncio.to_thread(kill, self.room.instance, name)

    async def _untouched(self, me: Person, message: str, got: Message, pids: set[int]) -> None:
        """Deaths have left no trace: not in the answer, its growth, the history, the agent."""
        expect(len(me.answers(message)) == 1, f"answers: {me.answers(message)}")
        expect(me.grown(message) == text(got), "what was seen to grow isn't what it ended as")
        kept = [one for one in await self._messages(me) if one.answers == message]
        expect([text(one) for one in kept] == [text(got)], f"the history has {kept}")
        expect(self.room.held() == pids, f"{pids} was its process, now {self.room.held()} is")

    async def _named_channel(self, me: Person) -> ChannelId:
        made = await me.give(Create, name=f"with {self.name}")
        expect(made.ok, f"no channel: {made.problem}")
        joined = await me.give(AddMember, channel=ChannelId(made.value), agent=self.name)
        expect(joined.ok, f"it doesn't join: {joined.problem}")
        return ChannelId(made.value)

    async def _messages(self, me: Person) -> list[Message]:
        head = (await me.bus.hello()).head
        asked = await me.bus.query(Conversation(channel=self.channel), after=head)
        view: ConversationView = asked.value
        return [one for one in view.messages if one.role is not Role.SYSTEM]

    async def _announced(self, me: Person) -> set[str]:
        known = (await me.bus.query(Commands(agent=self.name))).value
        return {one.name for one in known}

    def _as_the_model_said(self, got: Message, words: str) -> Entry:
        expect(got.stopReason == "end_turn", f"it ended {why(got)!r}")
        entry = self.model.about(words)[-1]
        expect(entry.ended, "the model server hasn't finished")
        expect(text(got) == entry.text, f"{text(got)[-300:]!r}\nis not\n{entry.text[-300:]!r}")
        return entry


def kill(instance: TestInstance, name: str) -> None:
    """``kill -9`` a component; returns when its successor runs."""
    old = instance.kill(name)
    eventually(lambda: instance.pids().get(name) not in {0, None, old})


class ExampleTrial(Trial):
    """The same with the SDK's example, which has no model and asks leave in each turn."""

    _BEGINS = "I'll help you with that."
    _ALLOWED = "Perfect! I've successfully updated the configuration."
    _REFUSED = "I understand you prefer not to make that change."

    async def answer(self, me: Person) -> None:
        got = await lived(me, self.channel, "Hello!")
        self._ended(got, self._ALLOWED)

    async def allowed(self, me: Person) -> None:
        got = await self._example(me, "allow_once")
        self._ended(got, self._ALLOWED)
        expect([call.status for call in tools(got)] == ["completed"] * 2, f"{tools(got)}")

    async def refused(self, me: Person) -> None:
        got = await self._example(me, "reject_once")
        self._ended(got, self._REFUSED)
        expect(tools(got)[1].ended == "unreported", f"{tools(got)}")

    async def cancel(self, me: Person) -> None:
        message = await me.send(self.channel, "Go on.")
        await me.until(lambda: me.grown(message))
        cancelled = await me.cancel(self.channel)
        expect(cancelled.ok, f"the cancel failed: {cancelled.problem}")
        got = await me.answer(self.channel, message)
        expect(got.stopReason == "cancelled", f"it ended {why(got)!r}")
        self._ended(await lived(me, self.channel, "And now?"), self._ALLOWED)

    async def commands(self, me: Person) -> None:
        prepared = await me.give(Prepare, channel=await self._named_channel(me))
        expect(prepared.ok, f"Prepare failed: {prepared.problem}")
        await lived(me, self.channel, "/help")
        if await self._announced(me):
            raise StepError("it announces commands now: mend the table of what it lacks")

    async def _remembers(self, me: Person, name: str) -> None:
        seen = len(me.events)
        self._ended(await lived(me, self.channel, f"Do you remember {name}?"), self._ALLOWED)
        told = [one.message for one in me.events[seen:] if isinstance(one, MessageUpdated)]
        lost = {one.id for one in told if one.code == "memory-lost"}
        expect(len(lost) == 1, f"the channel says {len(lost)} times that its memory was lost")
        sent = [json.loads(one.line) for one in me.events[seen:] if isinstance(one, DoSend)]
        prompts = [one["params"]["prompt"] for one in sent if one.get("method") == "session/prompt"]
        expect(len(prompts) == 1, f"{len(prompts)} prompts")
        expect(name in prompts[0][0]["text"], f"it isn't told the past: {prompts[0]}")

    async def restart(self, me: Person) -> None:
        await lived(me, self.channel, "The word is restart.")
        restarted = await me.restart(self.name)
        expect(restarted.ok, f"the restart failed: {restarted.problem}")
        await self._remembers(me, "restart")

    async def reopened(self, me: Person) -> None:
        await lived(me, self.channel, "The word is reopened.")
        before = await self._messages(me)
        await asyncio.to_thread(self.room.instance.down)
        expect(not (left := self.room.instance.processes()), f"make down left {left}")
        await asyncio.to_thread(self.room.instance.up)
        async with self.room.person() as anew:
            expect(await self._messages(anew) == before, "the channel isn't as it was")
            await self._remembers(anew, "reopened")

    async def kills(self, me: Person) -> None:
        seen = len(me.asked)
        message = await me.send(self.channel, "Go on.")
        (request,) = await me.until(lambda: me.asked[seen:])
        pids = self.room.held()
        expect(len(pids) == 1, f"not one agent runs: {self.room.offspring()}")
        for name in SERVICES:
            await self._kill(name)
        option = next(one for one in request.options if one.kind == "allow_once")
        permitted = await me.permit(request, option.optionId)
        expect(permitted.ok, f"the request was lost: {permitted.problem}")
        got = await me.answer(self.channel, message)
        self._ended(got, self._ALLOWED)
        await self._untouched(me, message, got, pids)

    async def _example(self, me: Person, kind: str) -> Message:
        asked = len(me.asked)
        got = await lived(me, self.channel, "Do it.", kind)
        expect(len(me.asked) == asked + 1, "not asked once")
        return got

    def _ended(self, got: Message, words: str) -> None:
        expect(got.stopReason == "end_turn", f"it ended {why(got)!r}")
        said = text(got)
        expect(said.startswith(self._BEGINS) and said.count(words) == 1, f"it said {said!r}")
