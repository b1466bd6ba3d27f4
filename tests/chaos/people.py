"""The workload: people who talk with an agent each, one who talks with all of them in a channel,
and every button is pressed meanwhile.

Everything they do goes by commands with ids of their own; now and then the same one is sent again,
by two clients at once. What came back is noted. The moments depend on the machine, the choices on
the seed.
"""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sk_bus.client import BusClient
from sk_bus.commands import (
    AnswerPermission,
    AnyCommand,
    Cancel,
    Create,
    Delete,
    Direct,
    EditQueued,
    RemoveMember,
    RemoveQueued,
    Restart,
    Send,
    Start,
    Stop,
)
from sk_bus.errors import SidekicksError
from sk_bus.model import AgentName, ChannelId, CommandId, MessageId, PermissionId
from tests.chaos.evidence import Asked, Event, Evidence, Seen


@dataclass(slots=True)
class Room:
    """What is to be seen of one channel right now."""

    busy: bool = False
    queued: int = 0
    asked: dict[str, Event] = field(default_factory=dict)


class World:
    """The log's present, for people to look at; a witness tells it."""

    def __init__(self, patience: float) -> None:
        self.patience = patience  # seconds
        self.rooms: dict[str, Room] = {}
        self.agents: set[str] = set()
        self._news = asyncio.Event()

    def told(self, seen: Seen) -> None:
        event = seen.event
        match event["type"]:
            case "agent:state":
                self.agents.add(event["agent"])
            case "turn:changed":
                room = self.room(event["channel"])
                room.busy, room.queued = event["busy"], event.get("queued", 0)
            case "permission:requested":
                self.room(event["channel"]).asked[event["id"]] = event
            case "permission:resolved":
                self.room(event["channel"]).asked.pop(event["id"], None)
            case _:
                return
        self._news.set()

    def room(self, channel: str) -> Room:
        return self.rooms.setdefault(channel, Room())

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait for something to be so.

        Raises:
            TimeoutError: it didn't become so.
        """
        async with asyncio.timeout(self.patience):
            while not true():
                await self.news()

    async def news(self) -> None:
        """Wait for something to happen."""
        self._news.clear()
        await self._news.wait()


@dataclass(frozen=True, slots=True)
class Program:
    """An agent, and what its n-th message says: ``talk``, or ``ask`` that makes it ask us."""

    command: tuple[str, ...]
    talk: Callable[[int], str]
    ask: Callable[[int], str]


class Person:
    """One who talks with one agent, or in a channel of that name with several."""

    def __init__(
        self,
        name: str,
        program: Program,
        buses: tuple[BusClient, BusClient],
        world: World,
        evidence: Evidence,
        *,
        agents: tuple[str, ...],
        seed: int,
        first: int,
    ) -> None:
        self.name = name
        self.channel = ChannelId("")
        self._buses = buses
        self._world = world
        self._evidence = evidence
        self._agents = tuple(AgentName(one) for one in agents)
        self._choose = random.Random(f"{name} {seed}")
        self._program = program
        self._commands = 0
        self._messages = first  # no two texts are the same, whoever says them

    async def live(self, until: float) -> None:
        """Talk until that moment of the monotonic clock, then wait for the last answer."""
        try:
            await self._world.until(lambda: set(self._agents) <= self._world.agents)
            await self._talk(until)
        except TimeoutError:
            self._evidence.troubles.append(
                f"{self.name}: something waited for {self._world.patience} s: "
                f"{self._world.room(self.channel)}"
            )

    async def _talk(self, until: float) -> None:
        if len(self._agents) == 1:
            opened = await self._do(Direct(id=self._id(), agent=self._agents[0]))
            self.channel = ChannelId(opened.value)
        else:
            await self._make_channel()
        answering = asyncio.create_task(self._answer_permissions())
        try:
            while time.monotonic() < until:
                await self._act()
            await self._quiet()
        finally:
            answering.cancel()

    # --- what they do -----------------------------------------------------------------------

    async def _act(self) -> None:
        die = self._choose.random()
        if len(self._agents) > 1 and self._choose.random() < 0.25:
            if self._choose.random() < 0.3:
                await self._begin_anew()
            else:
                await self._change_their_mind()
            await self._quiet()
        elif die < 0.45:
            await self._send()
            await self._quiet()
        elif die < 0.60:
            await asyncio.gather(*(self._send() for _ in range(self._choose.randint(2, 4))))
            await self._quiet()
        elif die < 0.75:
            await self._send(asks=True)
            await self._quiet()
        elif die < 0.85:
            await self._send()
            await asyncio.sleep(self._choose.uniform(0, 0.6))
            await self._do(Cancel(id=self._id(), channel=self.channel))
            await self._quiet()
        elif die < 0.93:
            if self._choose.random() < 0.6:
                await self._send()
                await asyncio.sleep(self._choose.uniform(0, 0.5))
            agent = self._choose.choice(self._agents)
            await self._do(Stop(id=self._id(), agent=agent))
            await self._quiet()
            if self._choose.random() < 0.5:
                await self._do(Start(id=self._id(), agent=agent))
        else:
            await self._do(Restart(id=self._id(), agent=self._choose.choice(self._agents)))

    async def _make_channel(self) -> None:
        made = await self._do(Create(id=self._id(), name=f"{self.name} {self._commands}"))
        self.channel = ChannelId(made.value)

    async def _begin_anew(self) -> None:
        """Delete the channel while it answers, and make another."""
        await self._send()
        await asyncio.sleep(self._choose.uniform(0, 0.5))
        await self._do(Delete(id=self._id(), channel=self.channel), times=2)
        await self._make_channel()

    async def _change_their_mind(self) -> None:
        """Edit one of what waits, take another back, send an agent out while it may answer."""
        await self._send()
        edited, removed = await self._send(), await self._send()
        text = self._text(asks=False)
        await asyncio.gather(
            self._do(
                EditQueued(id=self._id(), channel=self.channel, messageId=edited, text=text),
                times=2,
            ),
            self._do(RemoveQueued(id=self._id(), channel=self.channel, messageId=removed)),
        )
        if self._choose.random() < 0.3:
            agent = self._choose.choice(self._agents)
            await self._do(RemoveMember(id=self._id(), channel=self.channel, agent=agent))

    async def _send(self, *, asks: bool = False) -> MessageId:
        sent = await self._do(
            Send(id=self._id(), channel=self.channel, text=self._text(asks=asks)),
            times=self._choose.choice((1, 1, 2, 3)),
        )
        return MessageId(sent.value)

    def _text(self, *, asks: bool) -> str:
        self._messages += 1
        text = (self._program.ask if asks else self._program.talk)(self._messages)
        if len(self._agents) == 1:
            return text
        meant = self._choose.sample(self._agents, self._choose.randint(1, len(self._agents)))
        return " ".join([*(f"@{agent}" for agent in meant), text])

    async def _quiet(self) -> None:
        room = self._world.room(self.channel)
        await self._world.until(lambda: not room.busy and not room.queued)

    async def _answer_permissions(self) -> None:
        """Answer what is asked; now and then two at once, of whom one must be too late."""
        done: set[str] = set()
        while True:
            room = self._world.room(self.channel)
            if not set(room.asked) - done:
                await self._world.news()
            for id_, event in list(room.asked.items()):
                if id_ not in done:
                    done.add(id_)
                    await asyncio.sleep(self._choose.uniform(0, 0.8))
                    await asyncio.gather(
                        *(
                            self._do(
                                AnswerPermission(
                                    id=self._id(),
                                    permission=PermissionId(id_),
                                    optionId=self._choose.choice(event["options"])["optionId"],
                                )
                            )
                            for _ in range(self._choose.choice((1, 1, 2)))
                        )
                    )

    # --- how they do it ---------------------------------------------------------------------

    def _id(self) -> CommandId:
        self._commands += 1
        return CommandId(f"{self.name}-{self._commands}")

    async def _do(self, command: AnyCommand, *, times: int = 1) -> Any:
        """Send a command, ``times`` at once; its result."""
        asked = self._evidence.asked.setdefault(command.id, Asked(command))
        results = await asyncio.gather(
            *(self._once(command, asked, self._buses[n % 2]) for n in range(times))
        )
        return results[0]

    async def _once(self, command: AnyCommand, asked: Asked, bus: BusClient) -> Any:
        try:
            outcome = await bus.command(command, timeout=self._world.patience)
        except SidekicksError as error:
            asked.failures.append(str(error))
            raise TimeoutError(str(error)) from error
        asked.outcomes.append(outcome)
        return outcome.result
