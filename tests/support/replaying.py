"""Recordings of agents, played against a whole Sidekicks; what is wrong afterwards, in words.

The other client's part is played by a person at our bus: what it asked is asked by sending messages
to a channel of the session's own, its cancels and permissions are given at the same places. Each
step begins when all that the agent had said before it has come.
"""

import asyncio
import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sk_bus.commands import AddMember, Cancel, Create
from sk_bus.events import CommandResult, MessageUpdated
from sk_bus.model import AgentName, ChannelId, CommandId, Message
from tests.support import replay_script
from tests.support.conversing import Person
from tests.support.patience import PATIENCE
from tests.support.replay_coming import Coming, lines
from tests.support.replay_kept import differing
from tests.support.replay_script import TAKING_UP, UNRECORDED, Await, Say, Scene, Script

AGENT = Path(replay_script.__file__).with_name("replay_agent.py")


@dataclass(frozen=True)
class Recording:
    """A recording, and the agent of the configuration that plays it."""

    path: Path
    agent: AgentName
    folder: Path
    take_up: str = "session/load"

    def definition(self, python: str) -> dict[str, Any]:
        self.folder.mkdir(parents=True, exist_ok=True)
        arguments = [str(AGENT), str(self.path), str(self.folder), self.take_up]
        return {
            "name": self.agent,
            "title": f"{self.path.stem} {self.take_up}",
            "command": python,
            "startTimeout": f"{PATIENCE:.0f}s",
            "args": arguments,
        }


@dataclass
class Played:
    """What came of a recording."""

    wrong: list[str] = field(default_factory=list)
    scenes: int = 0
    frames: int = 0
    not_asked: int = 0
    """Frames of the agent that answer what is never asked of it here."""


async def play(me: Person, recording: Recording) -> Played:
    """Play a recording from its start to its end, and see what stands there afterwards."""
    stage = _Stage(me, recording)
    try:
        await stage.play()
    except TimeoutError:
        stage.wrong(f"it never went on: {stage.coming.where()}")
    return stage.played


class _Stage:
    def __init__(self, me: Person, recording: Recording) -> None:
        self._me = me
        self._agent = recording.agent
        self._script: Script = replay_script.read(recording.path, take_up=recording.take_up)
        self._channels: dict[str, ChannelId] = {}  # by the session
        self._all: list[ChannelId] = []
        self._asked: dict[ChannelId, int] = {}  # permission requests so far
        self._prompts: dict[str, int] = {}  # prompts so far, by the session
        self._looks = 0
        self.coming = Coming(me, self._agent, self._script, recording.folder / "record")
        self.played = Played()

    def wrong(self, what: str) -> None:
        self.played.wrong.append(what)

    async def play(self) -> None:
        if len(self._script.of("initialize")) > 1:
            for scene in self._script.of("initialize"):
                await self._handshake(scene)
        else:
            await self._earlier_life()
            await self._scenes()
            await self._me.until(self._settled)
            await self._all_decided()
            await self._me.until(self._settled)  # what nobody asked for ends a while later
            await self._compare()
            state = self._me.states[self._agent].state.value
            if state != ("stopped" if self._ends_early() else "ready"):
                self.wrong(f"the agent is {state}: {self._me.states[self._agent].error}")
        stopped = await self._me.stop(self._agent)
        if not stopped.ok:
            self.wrong(f"stop: {stopped.problem}")
        self._check_record()

    # --- lives ------------------------------------------------------------------------------

    async def _handshake(self, scene: Scene) -> None:
        """One life that only shakes hands: right where the agent answers with our version."""
        result = (scene.response or {}).get("result") or {}
        started = await self._me.start(self._agent)
        if started.ok is not (result.get("protocolVersion") == 1):
            self.wrong(f"version {result.get('protocolVersion')}: {started}")
        self.played.scenes += 1
        await self._me.stop(self._agent)

    async def _earlier_life(self) -> None:
        """Open the sessions that the recorded life takes up."""
        for session in self._script.earlier():
            channel = self._channels[session] = await self._channel()
            self._prompts[session] = 1
            await self._me.say(channel, "before the recording")
        if self._channels:
            await self._me.stop(self._agent)

    async def _channel(self) -> ChannelId:
        made = await self._me.give(Create, name=f"{self._agent} {len(self._all) + 1}")
        assert made.ok, made.problem
        joined = await self._me.give(AddMember, channel=made.value, agent=self._agent)
        assert joined.ok, joined.problem
        self._all.append(ChannelId(made.value))
        return self._all[-1]

    def _can_load(self) -> bool:
        (scene,) = self._script.of("initialize")
        result = (scene.response or {}).get("result") or {}
        return bool((result.get("agentCapabilities") or {}).get("loadSession"))

    def _asked_for(self, scene: Scene) -> bool:
        """Whether the scene can be played: nobody asks for what an agent doesn't offer."""
        return scene.session not in self._script.earlier() or self._can_load()

    def _ends_early(self) -> bool:
        return any(step == Await("eof") for one in self._script.scenes for step in one.steps)

    # --- scenes -----------------------------------------------------------------------------

    async def _scenes(self) -> None:
        scenes = [one for one in self._script.scenes if one.method != "initialize"]
        playing: list[asyncio.Task[None]] = []
        for scene, following in zip(scenes, [*scenes[1:], None], strict=True):
            self.played.scenes += 1
            if scene.method == "session/prompt" and self._asked_for(scene):
                channel = self._channels[str(scene.session)]
                sent, count = await self._say(scene, channel, scene.text)
                playing.append(asyncio.create_task(self._prompt(scene, channel, sent, count)))
            elif scene.method != "session/prompt":
                await self._opened(scene, following)
            if following is None or not following.meanwhile:
                for task in playing:
                    await task
                playing.clear()

    async def _say(self, scene: Scene, channel: ChannelId, text: str) -> tuple[str, int]:
        """Send a message; its id, and how many prompts its session has had with it."""
        session = str(scene.session)
        count = self._prompts[session] = self._prompts.get(session, 0) + 1
        return await self._me.send(channel, text), count

    async def _opened(self, scene: Scene, following: Scene | None) -> None:
        """A session is opened by the first message to its channel: by ours, if none follows."""
        if scene.method == "session/new":
            channel = await self._channel()
            if scene.session is not None:
                self._channels[scene.session] = channel
            follows = following is not None and following.session == scene.session is not None
        else:
            channel = self._channels[str(scene.session)]
            prompts = self._script.of("session/prompt")
            follows = any(one.session == scene.session for one in prompts) and self._can_load()
        if not follows:
            sent, _ = await self._say(scene, channel, UNRECORDED)
            self._ended(scene, await self._me.answer(channel, sent))

    async def _prompt(self, scene: Scene, channel: ChannelId, sent: str, count: int) -> None:
        for at, step in enumerate(scene.steps):
            if isinstance(step, Await):
                before = {one.line for one in scene.steps[:at] if isinstance(one, Say)}
                await self._me.until(partial(self.coming.arrived, scene, count, before))
                await self._do(channel, scene, step)
        self._ended(scene, await self._me.answer(channel, sent))

    async def _do(self, channel: ChannelId, scene: Scene, step: Await) -> None:
        match step.what:
            case "cancel":
                done = await self._me.cancel(channel)
                if not done.ok:
                    self.wrong(f"cancel: {done.problem}")
            case "eof":
                await self._me.stop(self._agent)
            case "reply" if (asking := _asking(scene, step)) is not None:
                await self._permission(channel, asking, step)

    async def _permission(self, channel: ChannelId, asking: Any, step: Await) -> None:
        at = self._asked[channel] = self._asked.get(channel, 0) + 1
        asked = (await self._me.asks(channel, at))[at - 1]
        sent = [(one["optionId"], one["name"], one["kind"]) for one in asking["options"]]
        told = [(one.optionId, one.name, one.kind) for one in asked.options]
        if sent != told:
            self.wrong(f"options {sent}, shown {told}")
        if asked.toolCall.id != asking["toolCall"]["toolCallId"]:
            self.wrong(f"asked for {asking['toolCall']}, shown {asked.toolCall}")
        if step.chosen is not None:
            given = await self._me.permit(asked, step.chosen)
            if not given.ok:
                self.wrong(f"permission {step.id}: {given.problem}")

    # --- what has come ----------------------------------------------------------------------

    def _settled(self) -> bool:
        """Whether nothing more is to come of what was begun, and every message has ended."""
        said = set(self.coming.said())
        whole = all(line in said for one in self.coming.begun() for line in lines(one))
        return whole and all(one.done for channel in self._all for one in self._messages(channel))

    def _messages(self, channel: ChannelId) -> list[Message]:
        """The channel's messages, as they stand."""
        found: dict[str, Message] = {}
        for event in self._me.events:
            if isinstance(event, MessageUpdated) and event.channel == channel:
                found[event.message.id] = event.message
        return list(found.values())

    # --- what it came to --------------------------------------------------------------------

    def _ended(self, scene: Scene, answer: Message) -> None:
        """Hold how an answer ended against how the agent ended it."""
        said = scene.response
        if said is None:
            return  # the other client had gone
        error = said.get("error")
        shown_ = f"{answer.stopReason or answer.code} {answer.error and answer.error.message}"
        if scene.method in TAKING_UP:
            self._taken_up(scene, failed=error is not None)
        elif any(isinstance(one, Await) and one.what != "reply" for one in scene.steps):
            if answer.stopReason != "cancelled":
                self.wrong(f"cancelled, shown {shown_}")
        elif error is not None:
            if answer.error is None or error["message"] not in answer.error.message:
                self.wrong(f"{scene.method} failed: {error}, shown {shown_}")
        else:
            reason = said["result"].get("stopReason", "end_turn")
            if answer.stopReason != reason or answer.error is not None:
                self.wrong(f"{scene.method} ended {reason}, shown {shown_}")

    def _taken_up(self, scene: Scene, *, failed: bool) -> None:
        """Memory is said to be lost where it is, and only there.

        One who says yes, and then tells nothing of the past, knows nothing of it.
        """
        replayed = any(
            one.frame.get("method") == "session/update"
            for one in scene.steps
            if isinstance(one, Say)
        )
        failed = failed or not self._can_load() or (scene.method == "session/load" and not replayed)
        told = [
            one.error
            for one in self._messages(self._channels[str(scene.session)])
            if one.code == "memory-lost"
        ]
        if bool(told) is not failed:
            self.wrong(f"{scene.method} of {scene.session} failed: {failed}, told {told}")

    async def _compare(self) -> None:
        """Hold what is shown and kept against what the agent said."""
        seq = await self._all_decided()
        steps = {
            step.line: (scene, step.frame)
            for scene in self._script.scenes
            for step in scene.steps
            if isinstance(step, Say)
        }
        said = [steps[line] for line in self.coming.said()]
        found = await differing(self._me, self._agent, self._channels, said, after=seq)
        self.played.wrong += found

    async def _all_decided(self) -> int:
        """Wait until the router has decided on all that came; the seq up to which that is told."""
        self._looks += 1
        id_ = CommandId(f"{self._agent} has come so far {self._looks}")
        outcome = await self._me.bus.command(Cancel(id=id_, channel=self._all[0]))

        def told() -> bool:
            return any(isinstance(e, CommandResult) and e.id == id_ for e in self._me.events)

        await self._me.until(told)
        return outcome.seq

    def _check_record(self) -> None:
        """Every frame was said, but those that answer what isn't asked; nothing was done wrong."""
        record = self.coming.noted()
        said = {one["said"] for one in record if one.get("said") is not None}
        begun = self.coming.begun()
        if missing := {line for one in begun for line in lines(one)} - said:
            self.wrong(f"never said: lines {sorted(missing)}")
        idle = [one for one in self._script.scenes if one not in begun and self._asked_for(one)]
        if idle:
            self.wrong(f"never asked: {[(one.method, one.id) for one in idle]}")
        for one in record:
            if "wrong" in one:
                self.wrong(one["wrong"])
        self.played.frames = len(said)
        self.played.not_asked = len(self._script.left_out) + len(self._script.lines()) - len(said)


def _asking(scene: Scene, step: Await) -> Any:
    """The params of the permission request that a reply goes to, if it is one."""
    asking = {
        json.dumps(one.frame["id"]): one.frame["params"]
        for one in scene.steps
        if isinstance(one, Say) and one.frame.get("method") == "session/request_permission"
    }
    return asking.get(json.dumps(step.id))
